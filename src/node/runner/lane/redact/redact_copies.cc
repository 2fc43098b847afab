#include "runner/lane/redact/redact_copies.h"

#include "base/check.h"
#include "runner/read/reading.h"
#include "wire/journal/record.h"
#include "wire/names.h"
#include "wire/redact.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t sessions_at_once = 200;
constexpr std::size_t page_bytes = std::size_t{1} << 20;

// The beginning of a fork or an import, which is in the first append.
struct Beginning {
    SessionCreated created = {};
    std::optional<Forked> forked = {};  // nullopt: it is neither
};

Result<Beginning> beginning(port::JournalStore& store, SessionId session, bool always) {
    auto const frames = store.page(session, 1, 1);
    if (!frames) return std::unexpected(frames.error());
    Beginning out;
    if (frames->empty() || (!always && !frames->front().bytes.contains("forked"))) return out;
    port::Frame const& first = frames->front();
    auto const records = wire::unpack(session, first.first, first.bytes);
    if (!records) return out;  // verify reports it
    for (wire::RecordPtr const& record : *records) {
        if (auto const* e = std::get_if<Forked>(&record->event.body)) out.forked = *e;
        if (auto const* e = std::get_if<SessionCreated>(&record->event.body)) out.created = *e;
    }
    return out;
}

bool may_name(CopySearch const& search, std::string const& project) {
    auto const& own = search.projects;
    return own.empty() || std::ranges::find(own, project) != own.end();
}

// Adds the session to what was found if a named message was created in it.
void take_own(CopySearch& search, SessionId session) {
    if (session == search.root || search.known.contains(session)) return;
    for (ForkName const& name : search.names) {
        auto const origin = parse_numbered("msg_", name.message);
        if (!origin || origin->session != session) continue;
        bool const call = wire::parse_call(name.call).has_value();
        search.found.push_back({session, CopyKind::fork, call ? name.call : name.message});
    }
}

// Adds the sessions from which the root was forked, directly or not.
Result<void> add_ancestors(port::JournalStore& store, CopySearch& search) {
    for (SessionId at = search.root; search.tree.insert(at).second;) {
        auto const begin = beginning(store, at, false);
        if (!begin) return std::unexpected(begin.error());
        if (at != search.root) search.ancestors.insert(at);
        if (!begin->forked || begin->forked->from == SessionId()) break;
        at = begin->forked->from;
    }
    return {};
}

// Returns the id of the part of the copied message that is the call.
std::string part_of(json::View message, ForkName const& name) {
    std::string out;
    message["parts"].elements([&](json::View part) {
        bool const its = name.part.empty() ? part["callID"].string_or("") == name.call
                                           : part["id"].string_or("") == name.part;
        if (its && part["type"].string_or("") == "tool") out = part["id"].string_or("");
    });
    return out;
}

// What the root's messages were is in the copies, too: their ids, turns and calls. A turn does not
// include the mail that it read.
std::vector<ForkName> names_in(CopySearch const& search, json::View message) {
    std::string const id = message["id"].string_or("");
    auto const origin = parse_numbered("msg_", id);
    if (!origin || origin->session != search.root) return {};
    auto const turn = parse_numbered("trn_", message["turnID"].string_or(""));
    if (search.turn != 0) {
        bool const mail = message["source"]["type"].string_or("") == "mail";
        bool const its = turn && turn->session == search.root && turn->number == search.turn;
        return its && !mail ? std::vector{ForkName{id}} : std::vector<ForkName>();
    }
    std::vector<ForkName> out;
    message["parts"].elements([&](json::View part) {
        if (part["type"].string_or("") != "tool") return;
        std::string const call = part["callID"].string_or(""), own = part["id"].string_or("");
        bool const named = search.call != 0 && wire::parse_call(call) == search.call;
        if (named || own == search.part) out.push_back({id, call, own});
    });
    return out;
}

std::vector<ForkName> names_for(CopySearch const& search, Json const& messages) {
    auto out = search.names;
    if (search.call == 0 && search.turn == 0 && search.part.empty()) return out;
    json::View(messages).elements([&](json::View message) {
        for (ForkName& name : names_in(search, message)) out.push_back(std::move(name));
    });
    return out;
}

void take_copies(CopySearch& search, SessionId session, Forked const& begin, bool in_tree) {
    for (ForkName const& name : names_for(search, begin.messages)) {
        bool const unique = parse_numbered("msg_", name.message).has_value();
        if (!unique && !in_tree) continue;
        json::View const message = wire::copied_message(begin.messages, name.message);
        if (!message.exists()) continue;
        std::string const item = name.call.empty() ? name.message : part_of(message, name);
        if (!item.empty()) search.found.push_back({session, CopyKind::fork, item});
    }
}

bool has_set(std::string const& set, std::string const& title, Json const& labels) {
    if (set == "title") return !title.empty();
    json::View const all(labels);
    return set == "labels" ? all.size() > 0 : all[set.substr(6)].exists();
}

// Returns true if it was set in the session at any time, so far as retention has kept that.
Result<bool> was_set(port::JournalStore& store, SessionId session, std::string const& set) {
    auto const read = read_session(store, session);
    if (!read) return std::unexpected(read.error());
    State const& state = read->state;
    bool found = has_set(set, state.title, state.labels);
    for (Seq next = 1; !found && next <= state.head;) {
        auto const frames = store.page(session, next, page_bytes);
        if (!frames) return std::unexpected(frames.error());
        if (frames->empty()) break;
        for (port::Frame const& frame : *frames) {
            auto const records = wire::unpack(session, frame.first, frame.bytes);
            if (!records) return std::unexpected(records.error());
            for (wire::RecordPtr const& record : *records) {
                auto const* const e = std::get_if<SessionChanged>(&record->event.body);
                found =
                    found || (e && has_set(set, e->title.value_or(""), e->labels.value_or(Json())));
            }
        }
        next = frames->back().first + frames->back().count;
    }
    return found;
}

// A fork begins with the title and the labels that the session has then. What was set in the
// original is the same content, whenever it was set.
Result<void> take_set(port::JournalStore& store, CopySearch& search, SessionId session,
                      SessionCreated const& created) {
    CHECK(!search.set.empty());
    bool there = has_set(search.set, created.title, created.labels);
    if (!there && search.ancestors.contains(session)) {
        auto const set = was_set(store, session, search.set);
        if (!set && set.error().code == Code::store_unavailable)
            return std::unexpected(set.error());
        there = set && *set;  // verify reports one that cannot be read
    }
    if (there) search.found.push_back({session, CopyKind::fork, search.set});
    return {};
}

Result<void> take(port::JournalStore& store, CopySearch& search, SessionId session,
                  Beginning const& begin) {
    bool in_tree = search.tree.contains(session);
    if (begin.forked) in_tree = in_tree || search.tree.contains(begin.forked->from);
    if (in_tree) search.tree.insert(session);
    if (session == search.root) return {};
    if (begin.forked) take_copies(search, session, *begin.forked, in_tree);
    if (search.set.empty() || !in_tree) return {};
    return take_set(store, search, session, begin.created);
}

// Sets the session property to remove. `item`: "title", "labels" or "label <key>".
void set_of(RedactionAsk& ask, std::string const& item) {
    ask.set = item == "title" ? wire::SessionProperty::title : wire::SessionProperty::labels;
    if (item.starts_with("label ")) ask.label = item.substr(6);
}

}  // namespace

RedactionAsk ask_for(RedactionCopy const& copy, RedactionAsk const& root, bool ancestor) {
    RedactionAsk out{.reason = root.reason};
    auto const message = parse_numbered("msg_", copy.item);
    auto const call = wire::parse_call(copy.item);
    if (copy.why == CopyKind::alias) {
        out.alias_of = SessionId::parse(copy.item);
    } else if (copy.why == CopyKind::fork && root.set != wire::SessionProperty::none) {
        set_of(out, copy.item);
        out.at_creation = !ancestor;
    } else if (message && message->session == copy.session) {
        out.message = message->number;
    } else if (call) {
        out.call = *call;
    } else {
        out.item = copy.item;
    }
    return out;
}

void CopySearch::begin_again() {
    std::vector<std::uint64_t> all;
    all.reserve(read_before.size() + read.size());
    std::ranges::merge(read_before, std::exchange(read, {}), std::back_inserter(all));
    read_before = std::move(all);
    after = 0;
    found.clear();
    done = false;
}

Result<void> search_session(port::JournalStore& store, SessionId session, CopySearch& search) {
    CHECK(search.tree.contains(search.root));
    take_own(search, session);
    auto const begin = beginning(store, session, !search.set.empty());
    if (!begin) return std::unexpected(begin.error());
    return take(store, search, session, *begin);
}

Result<std::optional<SessionId>> forked_from(port::JournalStore& store, SessionId session) {
    auto const begin = beginning(store, session, false);
    if (!begin) return std::unexpected(begin.error());
    if (!begin->forked || begin->forked->from == SessionId()) return std::nullopt;
    return begin->forked->from;
}

Result<CopySearch> search_copies(port::Store& store, CopySearch search) {
    CHECK(!search.done);
    if (search.tree.empty()) {
        if (auto added = add_ancestors(store, search); !added)
            return std::unexpected(std::move(added.error()));
    }
    auto const rows = store.all_sessions(search.after, sessions_at_once);
    if (!rows) return std::unexpected(rows.error());
    for (port::SessionRow const& row : *rows) {
        search.after = row.id.number();
        if (row.status == "deleted" || !may_name(search, row.project)) continue;
        if (std::ranges::binary_search(search.read_before, row.id.number())) continue;
        search.read.push_back(row.id.number());
        if (auto done = search_session(store, row.id, search); !done)
            return std::unexpected(std::move(done.error()));
    }
    search.done = rows->size() < sessions_at_once;
    return search;
}

}  // namespace dormouse::runner
