#include "app/programs.h"
#include "io/guard.h"

#include <fcntl.h>
#include <unistd.h>

// jemalloc's settings. Address space of what is freed goes back to the system, where each thread
// can get it: under a limit (RLIMIT_AS) none is left otherwise once one thread has had it.
extern "C" {
[[gnu::used, gnu::visibility("default")]] char const* malloc_conf = "retain:false";
}

namespace {

// What is opened later must not become a standard descriptor: it would get what is printed. Output
// that was closed stays an error: it cannot be written.
void fill_standard_descriptors() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) continue;
        // The lowest that is free, which is `fd`.
        if (::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) != fd) _exit(1);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (auto const status = dormouse::io::guard_main(argc, argv)) return *status;
    fill_standard_descriptors();
    return dormouse::cli::run(
        argc, argv,
        {dormouse::app::serve, dormouse::app::verify, dormouse::app::config, DORMOUSE_VERSION});
}
