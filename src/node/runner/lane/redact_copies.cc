#include "runner/lane/redact_copies.h"

#include "wire/journal/record.h"
#include "wire/redact.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t sessions_at_once = 200;

// The beginning of a fork or an import, which is in the first append; nullopt: it is neither.
Result<std::optional<Forked>> beginning(port::JournalStore& store, SessionId session) {
    auto const frames = store.page(session, 1, 1);
    if (!frames) return std::unexpected(frames.error());
    if (frames->empty() || !frames->front().bytes.contains("forked")) return std::nullopt;
    port::Frame const& first = frames->front();
    auto const records = wire::unpack(session, first.first, first.bytes);
    if (!records) return std::nullopt;  // verify reports it
    for (wire::RecordPtr const& record : *records)
        if (auto const* e = std::get_if<Forked>(&record->event.body)) return *e;
    return std::nullopt;
}

bool may_name(CopySearch const& search, std::string const& project) {
    auto const& own = search.projects;
    return own.empty() || std::ranges::find(own, project) != own.end();
}

// The session whose own message it is.
void take_own(CopySearch& search, SessionId session) {
    if (session == search.root || search.known.contains(session)) return;
    for (std::string const& id : search.ids) {
        auto const origin = parse_numbered("msg_", id);
        if (origin && origin->session == session)
            search.found.push_back({session, CopyKind::fork, id});
    }
}

// The sessions from which the root was forked, directly or not.
Result<void> add_ancestors(port::JournalStore& store, CopySearch& search) {
    for (SessionId at = search.root; search.tree.insert(at).second;) {
        auto const begin = beginning(store, at);
        if (!begin) return std::unexpected(begin.error());
        if (!*begin || (*begin)->from == SessionId()) break;
        at = (*begin)->from;
    }
    return {};
}

void take(CopySearch& search, SessionId session, Forked const& begin) {
    bool const in_tree = search.tree.contains(begin.from) || search.tree.contains(session);
    if (in_tree) search.tree.insert(session);
    if (session == search.root) return;
    for (std::string const& id : search.ids) {
        bool const unique = parse_numbered("msg_", id).has_value();
        if (!unique && !in_tree) continue;
        if (wire::copied_message(begin.messages, id).exists())
            search.found.push_back({session, CopyKind::fork, id});
    }
}

}  // namespace

Result<CopySearch> search_copies(port::Store& store, CopySearch search) {
    if (search.after == 0) {
        if (auto added = add_ancestors(store, search); !added)
            return std::unexpected(std::move(added.error()));
    }
    auto const rows = store.all_sessions(search.after, sessions_at_once);
    if (!rows) return std::unexpected(rows.error());
    for (port::SessionRow const& row : *rows) {
        search.after = row.id.number();
        if (row.status == "deleted" || !may_name(search, row.project)) continue;
        take_own(search, row.id);
        auto const begin = beginning(store, row.id);
        if (!begin) return std::unexpected(begin.error());
        if (*begin) take(search, row.id, **begin);
    }
    search.done = rows->size() < sessions_at_once;
    return search;
}

}  // namespace dormouse::runner
