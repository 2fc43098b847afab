#include "cli/cli.h"

#include "cli/commands.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <iostream>

namespace dormouse::cli {
namespace {

std::size_t terminal_columns() {
    winsize size{};
    if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

bool wants_color(Environment const& env) {
    return isatty(STDOUT_FILENO) != 0 && env.no_color.empty() && env.term != "dumb";
}

}  // namespace

int run(int argc, char** argv, Programs const& programs) {
    auto const parsed = parse(std::vector<std::string>(argv + 1, argv + argc), programs.version);
    if (!parsed) {
        auto const& notice = parsed.error();
        (notice.exit == status::done ? std::cout : std::cerr) << notice.text << std::flush;
        return notice.exit;
    }
    auto const env = environment();
    Context const context{.global = parsed->global,
                          .env = env,
                          .programs = programs,
                          .in = std::cin,
                          .out = std::cout,
                          .err = std::cerr,
                          .style = {wants_color(env)},
                          .columns = terminal_columns()};
    int const exit = execute(context, parsed->command);
    std::cout.flush();
    return exit;
}

}  // namespace dormouse::cli
