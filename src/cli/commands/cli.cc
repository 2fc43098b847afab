#include "cli/commands/cli.h"

#include "base/text/cut.h"
#include "cli/client/saved/contexts.h"
#include "cli/client/saved/last_list.h"
#include "cli/commands/commands.h"
#include "cli/commands/jq.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string_view>

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

// Errors are for a person. With --jq alone, what the command prints is for jq.
bool errors_on_terminal() { return isatty(STDERR_FILENO) != 0; }

// Returns true if a mistake in the words is reported as JSON.
bool wants_json(int argc, char** argv) {
    for (int at = 1; at < argc; ++at) {
        std::string_view const word(argv[at]);
        bool const named = word == "-o" || word == "--output";
        bool const filtered = word == "--jq" || word.starts_with("--jq=");
        if (word == "--json" || (filtered && !errors_on_terminal()) || word == "--output=json" ||
            word == "-ojson" ||
            (named && at + 1 < argc && std::string_view(argv[at + 1]) == "json"))
            return true;
    }
    return false;
}

// "dormouse: WHAT", a line break, and advice.
Failure failure_of(Notice const& notice) {
    constexpr std::string_view name = "dormouse: ";
    std::string_view text = notice.text;
    if (text.starts_with(name)) text.remove_prefix(name.size());
    auto const line = text.find('\n');
    auto const rest = line == std::string_view::npos ? std::string_view() : text.substr(line);
    return {notice.exit, std::string(text.substr(0, line)), std::string(trimmed(rest))};
}

// Fails if the output could not be written, for example on a full disk.
int flushed(int exit) {
    if (std::cout.flush()) return exit;
    std::cerr << "dormouse: cannot write to standard output\n";
    return exit == status::done ? status::failed : exit;
}

// Null: --jq is not given.
Outcome<std::unique_ptr<Jq>> jq_of(Global const& global) {
    if (!global.jq) return nullptr;
    return Jq::start(*global.jq);
}

}  // namespace

int run(int argc, char** argv, Programs const& programs) {
    auto const parsed = parse(std::vector<std::string>(argv + 1, argv + argc), programs.version);
    if (!parsed) {
        auto const& notice = parsed.error();
        if (notice.exit == status::usage && wants_json(argc, argv)) {
            std::cerr << json_for_terminal(failure_json(failure_of(notice)).text()) << '\n';
            return notice.exit;
        }
        (notice.exit == status::done ? std::cout : std::cerr) << notice.text;
        return flushed(notice.exit);
    }
    Global global = parsed->global;
    global.text_errors = global.jq && !wants_json(argc, argv);
    auto jq = jq_of(global);
    if (!jq) {
        std::cerr << (global.text_errors
                          ? text(jq.error())
                          : json_for_terminal(failure_json(jq.error()).text()) + "\n");
        return jq.error().exit;
    }
    auto const env = environment();
    auto const chosen = choose_login(global, env);
    bool const narrow = on_terminal() && global.format != Format::wide;
    Context context{.global = global,
                    .env = env,
                    .programs = programs,
                    .in = std::cin,
                    .out = std::cout,
                    .err = std::cerr,
                    .style = {wants_color(env)},
                    .columns = narrow ? screen().columns : 0,
                    .screen = can_draw(env) ? screen : std::function<Screen()>(),
                    .may_ask = isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0,
                    .output_fd = STDOUT_FILENO,
                    .terminal = on_terminal() ? terminal_name() : std::string()};
    if (!chosen) context.no_server = chosen.error();
    int const exit = execute(context, parsed->command);
    return *jq ? (*jq)->end(exit) : flushed(exit);
}

}  // namespace dormouse::cli
