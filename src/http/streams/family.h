#pragma once
// A session and the tasks below it, for who follows all of them through the project's feed.

#include "port/store.h"

#include <map>
#include <vector>

namespace dormouse::server {

class Family {
public:
    explicit Family(SessionId root) : root_(root) {}

    // The rows of its members stay. Where reading may block; one call at a time. A session that was
    // deleted before any row of it was looked at is nobody's.
    [[nodiscard]] Result<void> keep(port::JournalStore& store, std::vector<port::FeedRow>& rows);

private:
    [[nodiscard]] Result<bool> has(port::JournalStore& store, SessionId session, int depth);
    void learn(port::FeedRow const& row);

    static constexpr std::size_t known_max = 10'000;

    SessionId root_;
    std::map<SessionId, bool> known_;
};

}  // namespace dormouse::server
