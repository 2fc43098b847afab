#include "app/commands/programs.h"
#include "app/release.h"
#include "app/single_file.h"
#include "app/web_files.h"
#include "io/process/guard.h"

#include <fcntl.h>
#include <unistd.h>

// jemalloc's settings. Freed address space is returned to the system, so that every thread can use
// it: under a limit (RLIMIT_AS) it would otherwise stay with the thread that had it.
extern "C" {
[[gnu::used, gnu::visibility("default")]] char const* malloc_conf = "retain:false";
}

namespace {

// A file opened later must not become a standard descriptor, because it would get what is printed.
// Writing to a closed output remains an error.
void fill_standard_descriptors() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) continue;
        // open() returns the lowest free descriptor, which is `fd`.
        if (::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) != fd) _exit(1);
    }
}

}  // namespace

int main(int argc, char** argv) {
#ifdef DORMOUSE_SINGLE_FILE
    dormouse::app::prepare_single_file();
#endif
    if (auto const status = dormouse::io::guard_main(argc, argv)) return *status;
    fill_standard_descriptors();
    auto const serve = [](dormouse::cli::ServeOptions const& options) {
        return dormouse::app::serve(options, dormouse::app::web_files());
    };
    return dormouse::cli::run(
        argc, argv,
        {serve, dormouse::app::verify, dormouse::app::config, dormouse::app::backup,
         dormouse::app::restore, dormouse::app::export_sessions, dormouse::app::import_sessions,
         dormouse::app::compact, dormouse::app::upgrade, dormouse::app::rekey,
         dormouse::app::archive_programs(), dormouse::app::sign_sample, dormouse::app::listen,
         dormouse::app::release()});
}
