#include "cli/commands/cli.h"

#include "cli/commands/commands.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <iostream>

namespace dormouse::cli {
namespace {

bool on_terminal() { return isatty(STDOUT_FILENO) != 0; }

// A terminal that does not report its size counts as a VT100.
Screen screen() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
    return {.columns = size.ws_col, .rows = std::max<std::size_t>(size.ws_row, 3)};
}

bool can_draw(Environment const& env) {
    return on_terminal() && !env.term.empty() && env.term != "dumb";
}

bool wants_color(Environment const& env) {
    return on_terminal() && env.no_color.empty() && env.term != "dumb";
}

// Fails if the output could not be written, for example on a full disk.
int flushed(int exit) {
    if (std::cout.flush()) return exit;
    std::cerr << "dormouse: cannot write to standard output\n";
    return exit == status::done ? status::failed : exit;
}

}  // namespace

int run(int argc, char** argv, Programs const& programs) {
    auto const parsed = parse(std::vector<std::string>(argv + 1, argv + argc), programs.version);
    if (!parsed) {
        auto const& notice = parsed.error();
        (notice.exit == status::done ? std::cout : std::cerr) << notice.text;
        return flushed(notice.exit);
    }
    auto const env = environment();
    Context const context{.global = parsed->global,
                          .env = env,
                          .programs = programs,
                          .in = std::cin,
                          .out = std::cout,
                          .err = std::cerr,
                          .style = {wants_color(env)},
                          .columns = on_terminal() ? screen().columns : 0,
                          .screen = can_draw(env) ? screen : std::function<Screen()>(),
                          .may_ask = isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0,
                          .output_fd = STDOUT_FILENO};
    int const exit = execute(context, parsed->command);
    return flushed(exit);
}

}  // namespace dormouse::cli
