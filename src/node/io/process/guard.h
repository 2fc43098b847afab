#pragma once
// The process between the server and a program that it runs. The guard starts the program, adopts
// orphans of the program's children (PR_SET_CHILD_SUBREAPER), and kills all of them, layer by
// layer, on request or when the server is gone: then its socket closes, whatever the cause. The
// guard is this executable, started with `guard_word`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::io {

constexpr char const* guard_word = "--guard-a-program";
constexpr int guard_control = 4;  // the guard's end of the socket
constexpr int guard_order = 5;    // a file with the order
constexpr int program_descriptors = 4;

// The program to run, as in port::ProcessSpec.
struct GuardOrder {
    std::vector<std::string> argv, sandbox, environment;
    std::string cwd;

    [[nodiscard]] std::string text() const;
    [[nodiscard]] static std::optional<GuardOrder> parse(std::string const& text);
};

// Requests of the server to the guard, one byte each. REQUIRES: `leave` only after Report::ended.
enum class Request : char {
    end = 'e',    // SIGTERM to the program's process group
    kill = 'k',   // SIGKILL to everything that the program started
    leave = 'l',  // what the program left behind continues
};

struct Report {
    enum class Kind : std::uint8_t { not_started, ended };
    Kind kind = Kind::ended;
    int code = 0;    // errno, or si_code of the end
    int status = 0;  // si_status of the end
};

// Runs as guard and returns its exit status; nullopt: this process is not a guard. REQUIRES: called
// before any thread is started.
[[nodiscard]] std::optional<int> guard_main(int argc, char const* const* argv);

}  // namespace dormouse::io
