#pragma once
// The process between us and a program that we run. It starts the program, adopts whatever the
// program's children leave (PR_SET_CHILD_SUBREAPER), and kills all of it, layer by layer, when it
// is told to or when we are gone: its socket to us then closes, whatever we died of. It is this
// executable, started again with `guard_word`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::io {

constexpr char const* guard_word = "--guard-a-program";
constexpr int guard_control = 4;  // its end of the socket
constexpr int guard_order = 5;    // a file with the order
constexpr int program_descriptors = 4;

// What is to be run, as port::ProcessSpec.
struct GuardOrder {
    std::vector<std::string> argv, sandbox, environment;
    std::string cwd;

    [[nodiscard]] std::string text() const;
    [[nodiscard]] static std::optional<GuardOrder> parse(std::string const& text);
};

// From us to the guard, one byte each. REQUIRES: `leave` only after Report::ended.
enum class Request : char {
    end = 'e',    // SIGTERM to the program's group
    kill = 'k',   // SIGKILL to all that the program started
    leave = 'l',  // what it left behind goes on
};

struct Report {
    enum class Kind : std::uint8_t { not_started, ended };
    Kind kind = Kind::ended;
    int code = 0;    // errno, or si_code of the end
    int status = 0;  // si_status of the end
};

// The exit status of a guard; nullopt: this process is none.
// REQUIRES: called before any thread is started.
[[nodiscard]] std::optional<int> guard_main(int argc, char const* const* argv);

}  // namespace dormouse::io
