#pragma once
// Finds the copies of messages with which forks begin.

#include "port/store.h"
#include "runner/lane/redact/redact.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dormouse::runner {

// A search through all sessions of the store, in pieces, because there may be many.
struct CopySearch {
    SessionId root;
    std::vector<ForkName> names = {};  // ids of the messages and calls
    // A call, a turn, or the part of a message ("prt_…") of the root, which is not in this store: a
    // fork's copies of its messages say which messages these are.
    CallNo call = 0;
    TurnNo turn = 0;
    std::string part = {};
    std::string set = {};                    // property: "title", "labels" or "label <key>"
    std::set<SessionId> known = {};          // other sessions whose own messages are known already
    std::vector<std::string> projects = {};  // empty: all; sessions of others are not named
    // Forks of each other: ids that imports give are unique among these only.
    std::set<SessionId> tree = {}, ancestors = {};
    std::uint64_t after = 0;                      // sessions up to this number have been read
    std::vector<std::uint64_t> read = {};         // numbers of sessions, ascending
    std::vector<std::uint64_t> read_before = {};  // by earlier searches; they are skipped
    std::vector<RedactionCopy> found = {};
    bool done = false;

    // Begins another search, which finds only what was made since.
    void begin_again();
};

// Searches the next piece of the store; blocks.
[[nodiscard]] Result<CopySearch> search_copies(port::Store& store, CopySearch search);

// Searches this session alone, which may be in another store than the next one. REQUIRES: `tree`
// has the root and its ancestors; a fork comes after what it was made from.
[[nodiscard]] Result<void> search_session(port::JournalStore& store, SessionId session,
                                          CopySearch& search);
// Returns the session that it was forked from; nullopt: it is no fork.
[[nodiscard]] Result<std::optional<SessionId>> forked_from(port::JournalStore& store,
                                                           SessionId session);
// Returns the request that removes a copy that was found. `root`: the request of the search.
// `ancestor`: the copy's session is in `ancestors`.
[[nodiscard]] RedactionAsk ask_for(RedactionCopy const& copy, RedactionAsk const& root,
                                   bool ancestor);

}  // namespace dormouse::runner
