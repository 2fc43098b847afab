#pragma once
// Programs that are run: what the world must offer for it. Implemented by io/process.h.

#include "port/world.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::port {

struct ProcessEnd {
    enum class How : std::uint8_t {
        exited,       // `status` is the exit status
        signalled,    // `status` is the signal
        timed_out,    // its time was up, and it was ended
        flooded,      // it wrote more than it may, and was ended
        not_started,  // `error` says why; nothing ran
    };
    How how = How::exited;
    int status = 0;
    std::string output;      // standard output
    std::string error;       // the end of standard error
    std::string side;        // what came on descriptor 3
    bool try_again = false;  // not_started, and another time it may work
};

struct ProcessSpec {
    std::vector<std::string> argv;  // no shell; argv[0] is looked up in PATH unless it has a slash
    // The words that build a sandbox and run argv in it; empty: none. They get none of
    // `environment`, which may be what the program asked for, and `cwd` holds no links then.
    std::vector<std::string> sandbox = {};
    std::string cwd = {};                       // empty: that of this process
    std::vector<std::string> environment = {};  // NAME=value: all that it gets
    // Whose share of the processes it takes, as "agent coder, project team"; empty: the reserve,
    // which others leave free.
    std::string share = {};
    std::string input = {};        // its standard input
    Duration time_limit{600'000};  // Duration::max(): none
    std::size_t output_max = std::size_t{1} << 20;
    std::size_t error_kept = std::size_t{16} << 10;
    std::size_t side_max = std::size_t{64} << 10;
    // Asked when it has exited by itself: may what it left behind in its group go on? Empty: no.
    std::function<bool(ProcessEnd const&)> may_leave_behind = {};
    // Set for one that is talked with: its output is handed over as it comes, and not kept; its
    // input stays open for write(). On the loop; it may not stop the process from inside.
    std::function<void(std::string_view)> on_output = {};
};

// Each program leads a session and a process group of its own, gets descriptors 0 to 3 and no
// others, and leaves no zombie. When it ends, or this process does, however that dies, all that it
// started ends with it, in whatever group or session. On the loop.
class Processes {
public:
    using Number = std::uint64_t;
    virtual ~Processes() = default;
    // `done` comes once, on the loop and not from inside start(); never after stop().
    virtual Number start(ProcessSpec spec, Fn<void(ProcessEnd)> done) = 0;
    // Asks the group to end and soon ends all by force. Of one that has ended: nothing.
    virtual void stop(Number process) = 0;
    // To the input of one that is talked with. One that does not read is ended once
    // `backlog_max` bytes wait for it.
    static constexpr std::size_t backlog_max = std::size_t{64} << 20;
    virtual void write(Number /*process*/, std::string_view /*bytes*/) {}
    // As stop(), but its end is told.
    virtual void end(Number process) { stop(process); }
    // As end(), without the time that it is given to end by itself first.
    virtual void kill(Number process) { end(process); }
    // It has nothing to do. When another finds no room, `give_way` of the one that has rested
    // longest is called, once and on the loop; it may end the process.
    virtual void rest(Number /*process*/, Fn<void()> /*give_way*/) {}
    virtual void work(Number /*process*/) {}  // takes rest() back
};

}  // namespace dormouse::port
