#pragma once
// --jq: what a command prints goes through the program jq.

#include "cli/client/failure.h"
#include "io/fd.h"

#include <sys/types.h>
#include <memory>
#include <string>
#include <thread>

namespace dormouse::cli {

// While it exists, standard output of this process is the input of jq. jq ends with this process.
class Jq {
public:
    // Starts jq. Fails with usage, and redirects nothing, if there is no jq or it does not accept
    // the filter. REQUIRES: the process has one thread.
    [[nodiscard]] static Outcome<std::unique_ptr<Jq>> start(std::string const& filter);
    ~Jq();
    Jq(Jq const&) = delete;
    Jq& operator=(Jq const&) = delete;

    // Ends jq's input and waits for its end. Returns the status to exit with after a command whose
    // status is `exit`: its own if it failed, else that of jq.
    [[nodiscard]] int end(int exit);

private:
    Jq() = default;
    void show_on_terminal(io::Fd from);
    void wait(bool interrupted);

    pid_t pid_ = -1;
    int status_ = status::done;  // of jq
    io::Fd output_;              // standard output as it was
    std::thread shown_;          // on a terminal: escapes what jq prints
};

}  // namespace dormouse::cli
