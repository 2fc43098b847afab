#pragma once
// A session and the tasks below it, for readers that follow all of them through the project's feed.

#include "port/store.h"

#include <map>
#include <vector>

namespace dormouse::http {

class Family {
public:
    explicit Family(SessionId root) : root_(root) {}

    // Removes the rows of other sessions from `rows`. Blocks on reads; one call at a time. A
    // session that was deleted before any of its rows was seen belongs to no family.
    [[nodiscard]] Result<void> keep(port::JournalStore& store, std::vector<port::FeedRow>& rows);

private:
    [[nodiscard]] Result<bool> has(port::JournalStore& store, SessionId session, int depth);
    void learn(port::FeedRow const& row);

    static constexpr std::size_t known_max = 10'000;

    SessionId root_;
    std::map<SessionId, bool> known_;
};

}  // namespace dormouse::http
