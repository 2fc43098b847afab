#include "http/streams/family.h"

#include "runner/read/reading.h"
#include "runner/repair/unreadable.h"
#include "session/limits.h"
#include "wire/journal/record.h"

namespace dormouse::http {

Result<void> Family::keep(port::JournalStore& store, std::vector<port::FeedRow>& rows) {
    if (known_.size() > known_max) known_.clear();
    std::vector<port::FeedRow> kept;
    for (port::FeedRow& row : rows) {
        learn(row);
        auto const member = has(store, row.session, 0);
        if (!member) return std::unexpected(member.error());
        if (*member) kept.push_back(std::move(row));
    }
    rows = std::move(kept);
    return {};
}

Result<bool> Family::has(port::JournalStore& store, SessionId session, int depth) {
    if (session == root_) return true;
    if (auto const found = known_.find(session); found != known_.end()) return found->second;
    if (depth > static_cast<int>(session::limits::task_depth_max)) return false;
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
    if (!born || !born->parent) return;
    SessionId const parent = born->parent->session;
    auto const of_parent = known_.find(parent);
    bool const member = parent == root_ || (of_parent != known_.end() && of_parent->second);
    if (member) known_[row.session] = true;
}

}  // namespace dormouse::http
