#pragma once
// Searches the agent's list of sessions for one that the agent did not know, or for one whose id
// was not stored before a crash. Runs one search at a time.
// Example: the agent lists s1 and s2, and only the replay of s2 holds the marker: find() calls
// `then` with "s2".

#include "acp/dialect.h"
#include "acp/driver/replay.h"
#include "acp/timer.h"

#include <deque>
#include <string>
#include <vector>

namespace dormouse::acp {

class SessionFinder {
public:
    struct Wanted {
        std::string folder;
        std::string marker;  // of the prompt
        std::uint32_t attempt = 0;
        Time since{};         // sessions unchanged since then are skipped
        bool closes = false;  // the agent can close the sessions that were searched
    };

    // Waits at most `limit` for the list, and again for the replays. All arguments outlive this.
    SessionFinder(Dialect& dialect, port::Loop& loop, Duration limit, Replay& replay)
        : dialect_(dialect), limit_(limit), replay_(replay), timer_(loop) {}

    // Calls `then` with whether the agent lists `session`.
    void check(std::string folder, std::string session, port::Fn<void(bool)> then);
    // Calls `then` with the id of the only session whose replay holds the marker of an earlier
    // attempt; with "" if there is none or more than one.
    void find(Wanted wanted, port::Fn<void(std::string)> then);
    // Makes no further callbacks.
    void stop();

private:
    using Entries = std::vector<Listed::Entry>;

    void read_list(std::string folder, port::Fn<void(Entries)> then);
    void read_page(std::string const& cursor);
    void end_list();
    void choose(Entries const& entries);
    void probe_next();
    void probed(std::string const& session, bool replayed);
    void end_search();

    Dialect& dialect_;
    Duration const limit_;
    Replay& replay_;
    Timer timer_;
    std::uint64_t run_ = 0;  // answers to an earlier run are ignored

    std::string folder_;
    Entries entries_;
    std::size_t pages_ = 0;
    port::Fn<void(Entries)> listed_;

    Wanted wanted_;
    std::deque<std::string> candidates_;
    std::vector<std::string> matches_;
    port::Fn<void(std::string)> found_;
};

}  // namespace dormouse::acp
