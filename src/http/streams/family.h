#pragma once
// A session and the tasks below it, for readers that follow all of them through the project's feed.

#include "port/store.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace dormouse::http {

class Family {
public:
    explicit Family(SessionId root) : root_(root) {}

    // Removes the rows of other sessions from `rows`. Blocks on reads; one call at a time. A
    // session that was deleted before any of its rows was seen belongs to no family.
    // Reads a limited number of sessions: then returns the place of the last row that it decided
    // on, and removes those after it, which are to be read again; nullopt: it decided on all.
    [[nodiscard]] Result<std::optional<std::uint64_t>> keep(port::JournalStore& store,
                                                            std::vector<port::FeedRow>& rows);

private:
    [[nodiscard]] Result<bool> has(port::JournalStore& store, SessionId session, int depth);
    void learn(port::FeedRow const& row);

    static constexpr std::size_t known_max = 10'000;
    static constexpr std::size_t loads_max = 64;

    SessionId root_;
    std::map<SessionId, bool> known_;
    std::size_t loads_ = 0;  // of this page
};

}  // namespace dormouse::http
