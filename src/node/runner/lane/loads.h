#pragma once
// Reads of sessions for lanes. If several processes append to a store, sessions leave memory all
// the time, because others continue them; those that are needed at the same time are one query. On
// the loop.

#include "base/scope.h"
#include "port/world.h"
#include "runner/read/reading.h"

#include <array>
#include <cstddef>
#include <vector>

namespace dormouse::runner {

class Loads {
public:
    using Done = port::Fn<void(Result<LoadedSession>)>;

    // `loop` and `journal` outlive this. `shared`: other processes append to the same store.
    Loads(port::Loop& loop, port::Journal& journal, bool shared)
        : loop_(loop), journal_(journal), shared_(shared) {}

    // Calls `done` with the session as it was stored at a moment after this call, see
    // read_sessions(). `places` queries are under way at a time, so that a large session does not
    // hold up all others.
    void read(KnownSession session, Done done);

    static constexpr std::size_t places = 2;
    static constexpr std::size_t at_once = 16;  // sessions in a query

private:
    struct Question {
        KnownSession session;
        Done done;
    };

    void ask();
    void ask(std::size_t place);
    void answer(std::size_t place, std::vector<Question>& asked,
                std::vector<Result<LoadedSession>> read);

    port::Loop& loop_;
    port::Journal& journal_;
    bool const shared_;
    std::vector<Question> waiting_;
    std::array<bool, places> busy_{};
    Scope scope_;
};

}  // namespace dormouse::runner
