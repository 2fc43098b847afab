#pragma once
// Compares the state that a lane has in memory with the store. An answer without an append (a read,
// a refusal, a duplicate) would otherwise rest on memory alone, which another process may have
// outdated. On the loop.

#include "base/scope.h"
#include "port/world.h"

#include <cstddef>
#include <vector>

namespace dormouse::runner {

class Freshness {
public:
    using Done = port::Fn<void(Result<bool>)>;

    // `loop` and `journal` outlive this. `shared`: other processes append to the same store.
    Freshness(port::Loop& loop, port::Journal& journal, bool shared)
        : loop_(loop), journal_(journal), shared_(shared) {}

    // Calls `done` with whether `newest` is the session's newest frame: at once if nobody else
    // appends, else after a query that starts later than this call. One query is under way at a
    // time; it serves all calls that came before it.
    void compare(SessionId session, port::NewestFrame newest, Done done);

private:
    struct Question {
        SessionId session;
        port::NewestFrame newest;
        Done done;
    };

    void ask();
    void answer(std::size_t count, Result<std::vector<port::NewestFrame>> const& stored);

    port::Loop& loop_;
    port::Journal& journal_;
    bool const shared_;
    std::vector<Question> waiting_;  // those that are asked now come first
    Scope scope_;
};

}  // namespace dormouse::runner
