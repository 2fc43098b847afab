#pragma once
// Runs child processes. Implemented by io/process/process.h.

#include "port/world.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::port {

struct ProcessEnd {
    enum class How : std::uint8_t {
        exited,       // `status` is the exit status
        signalled,    // `status` is the signal
        timed_out,    // time_limit passed; it was killed
        flooded,      // it wrote too much; it was killed
        not_started,  // `error` says why; nothing ran
    };
    How how = How::exited;
    int status = 0;
    std::string output;      // standard output
    std::string error;       // the end of standard error
    std::string side;        // what it wrote to descriptor 3
    bool try_again = false;  // not_started, but a retry may succeed
};

struct ProcessSpec {
    std::vector<std::string> argv;  // no shell; argv[0] is looked up in PATH unless it has a slash
    // Command prefix that builds a sandbox and runs argv in it; empty: none. It gets no variable of
    // `environment`, which an untrusted program may have chosen, and `cwd` then holds no links.
    std::vector<std::string> sandbox = {};
    std::string cwd = {};                       // empty: that of this process
    std::vector<std::string> environment = {};  // NAME=value; the process gets no other variables
    // The quota that the process counts against, as "agent coder, project team"; empty: the
    // reserve, which others leave free.
    std::string share = {};
    std::string input = {};        // standard input
    Duration time_limit{600'000};  // Duration::max(): none
    std::size_t output_max = std::size_t{1} << 20;
    std::size_t error_kept = std::size_t{16} << 10;
    std::size_t side_max = std::size_t{64} << 10;
    // Asked when it has exited by itself: may processes that it left in its group continue? Empty:
    // no.
    std::function<bool(ProcessEnd const&)> may_leave_behind = {};
    // Set for interactive processes: output is passed on as it comes and not stored; input stays
    // open for write(). Called on the loop; must not stop the process.
    std::function<void(std::string_view)> on_output = {};
    // Asked on the loop when a process that waited for a place has one. False: it is not started,
    // and may be tried again. Empty: it is always started.
    std::function<bool()> may_start = {};
};

// Each child leads its own session and process group, gets only the descriptors 0 to 3, and leaves
// no zombie. When it ends, or this process dies in any way, everything that it started ends too, in
// whatever group or session. Called on the loop.
class Processes {
public:
    using Number = std::uint64_t;
    virtual ~Processes() = default;
    // `done` is called once, on the loop and not from inside start(); never after stop().
    virtual Number start(ProcessSpec spec, Fn<void(ProcessEnd)> done) = 0;
    // Asks the group to end and soon kills what is left. Does nothing if the process has ended.
    virtual void stop(Number process) = 0;
    // Writes to the input of an interactive process. One that does not read is ended once
    // `backlog_max` bytes wait for it.
    static constexpr std::size_t backlog_max = std::size_t{64} << 20;
    virtual void write(Number process, std::string_view bytes) = 0;
    // Like stop(), but `done` is called.
    virtual void end(Number process) = 0;
    // Like end(), but without time to end by itself: asks the group to end at once.
    virtual void kill(Number process) = 0;
    // Marks the process as idle. If another process needs its place, `give_way` of the one that has
    // been idle longest is called once, on the loop; it may end the process.
    virtual void rest(Number process, Fn<void()> give_way) = 0;
    virtual void work(Number process) = 0;  // takes rest() back
};

}  // namespace dormouse::port
