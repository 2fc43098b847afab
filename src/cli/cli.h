#pragma once
// The command line's one door. It speaks to a server over HTTP only; the two programs that work on
// a data directory themselves (serve, verify) are handed in by main.

#include <functional>
#include <string>
#include <vector>

namespace dormouse::cli {

struct ServeOptions {
    std::string listen = "127.0.0.1:3676";
    std::string data;              // data directory, never empty
    std::string store = "sqlite";  // sqlite | memory
    int ready_fd = -1;             // where "ready http://…\n" is written; -1: standard output
    bool insecure = false;         // listen beyond loopback without TLS
    std::vector<std::string> allowed_hosts;
    std::vector<std::string> allowed_origins;
    std::string public_url;  // allowed as Host and Origin; may be empty
};

struct VerifyOptions {
    std::string data;  // data directory, never empty
    bool json = false;
};

struct Programs {
    std::function<int(ServeOptions const&)> serve;
    std::function<int(VerifyOptions const&)> verify;
    std::string version;
};

// Parses, runs one command and returns the exit status of the process. Called once, from the main
// thread.
[[nodiscard]] int run(int argc, char** argv, Programs const& programs);

}  // namespace dormouse::cli
