#include "http/streams/family.h"

#include "runner/read/reading.h"
#include "runner/repair/unreadable.h"
#include "session/limits.h"
#include "wire/journal/record.h"

namespace dormouse::http {

Result<std::optional<std::uint64_t>> Family::keep(port::JournalStore& store,
                                                  std::vector<port::FeedRow>& rows) {
    if (known_.size() > known_max) known_.clear();
    loads_ = 0;
    std::optional<std::uint64_t> decided;
    std::vector<port::FeedRow> kept;
    for (port::FeedRow& row : rows) {
        if (loads_ >= loads_max) {
            rows = std::move(kept);
            return decided;
        }
        learn(row);
        auto const member = has(store, row.session, 0);
        if (!member) return std::unexpected(member.error());
        decided = row.n;
        if (*member) kept.push_back(std::move(row));
    }
    rows = std::move(kept);
    return std::nullopt;
}

Result<bool> Family::has(port::JournalStore& store, SessionId session, int depth) {
    if (session == root_) return true;
    if (auto const found = known_.find(session); found != known_.end()) return found->second;
    if (depth > static_cast<int>(session::limits::task_depth_max)) return false;
    ++loads_;
    auto const loaded = runner::read_session(store, session);
    if (!loaded && runner::is_unreadable(loaded.error())) return false;
    if (!loaded) return std::unexpected(loaded.error());
    Result<bool> member = false;
    if (loaded->state.parent) member = has(store, loaded->state.parent->session, depth + 1);
    if (member) known_[session] = *member;
    return member;
}

// The first append of a session names its parent, also when the session is deleted by now.
void Family::learn(port::FeedRow const& row) {
    if (row.deleted || row.frame.first != 1 || known_.contains(row.session)) return;
    auto const records = wire::unpack(row.session, row.frame.first, row.frame.bytes);
    if (!records || records->empty()) return;
    auto const* const born = std::get_if<session::SessionCreated>(&records->front()->event.body);
    if (!born) return;
    if (!born->parent) {
        known_[row.session] = false;
        return;
    }
    SessionId const parent = born->parent->session;
    auto const of_parent = known_.find(parent);
    if (parent == root_)
        known_[row.session] = true;
    else if (of_parent != known_.end())
        known_[row.session] = of_parent->second;
}

}  // namespace dormouse::http
