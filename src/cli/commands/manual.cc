#include "cli/commands/manual.h"

#include "base/utf8.h"

#include <array>
#include <cstdio>

namespace dormouse::cli {
namespace {

constexpr std::string_view description_text = R"roff(.SH DESCRIPTION
A session is one durable conversation with one agent.
While a tool works for it, for a minute or a week, the session sleeps: it is rows on a disk and no
process, thread or timer.
When the answer comes it goes on where it was, once.
.PP
.B dormouse serve
runs the server; the other commands speak to a running server over HTTP, except
.BR demo ,
.B verify
and
.BR bench .
Ids may be cut to a unique beginning.
Colours appear on a terminal only.
)roff";

constexpr std::string_view rest = R"roff(.SH ENVIRONMENT
.TP
.B DORMOUSE_URL
Address of the server, where
.B \-\-server
is not given.
.TP
.B DORMOUSE_TOKEN
Token to show the server, instead of the one in the data directory.
.TP
.B NO_COLOR
Any value: no colours.
.TP
.BR XDG_DATA_HOME ", " HOME
Where the data directory is: \fI$XDG_DATA_HOME/dormouse\fR, else
\fI$HOME/.local/share/dormouse\fR.
.SH FILES
.TP
.IR DIR /token
The token that the server made; readable by its owner only.
.TP
.IR DIR /last\-session
The session that
.B prompt \-c
goes on with, one for each server.
)roff";

constexpr std::array exits{
    std::pair{status::done, "Done."},
    std::pair{status::failed, "Failed: also the turn, or what doctor or verify looked at."},
    std::pair{status::usage, "Usage, or the request was wrong."},
    std::pair{status::not_found, "Not found."},
    std::pair{status::conflict, "Conflict, or the beginning of an id means several."},
    std::pair{status::gone, "Expired or cancelled."},
    std::pair{status::not_allowed, "Not allowed."},
    std::pair{status::unreachable, "The server cannot be reached."},
    std::pair{status::refused, "Refused for now; it may work later."},
    std::pair{status::sleeps, "The session sleeps."},
    std::pair{status::interrupted, "Interrupted; the turn goes on."},
};

std::string value_of(OptionInfo const& option) { return "\\fI" + roff(option.value) + "\\fR"; }

std::string option_text(OptionInfo const& option) {
    std::string out = ".TP\n";
    if (option.positional) {
        out += value_of(option);
    } else {
        std::string names;
        for (auto const& name : option.names)
            names += (names.empty() ? "" : ", ") + std::string("\\fB") + roff(name) + "\\fR";
        out += names + (option.value.empty() ? "" : " " + value_of(option));
    }
    out += "\n" + roff(option.about) + ".\n";
    if (option.choices.empty()) return out;
    std::string choices;
    for (auto const& choice : option.choices)
        choices += (choices.empty() ? "" : ", ") + std::string("\\fB") + roff(choice) + "\\fR";
    return out + "One of " + choices + ".\n";
}

std::string usage(std::string const& path, CommandInfo const& command) {
    std::string out = "\\fBdormouse " + roff(path) + "\\fR";
    bool options = false;
    std::string positionals;
    for (auto const& option : command.options) {
        options = options || !option.positional;
        if (!option.positional) continue;
        positionals += option.required ? " " + value_of(option) : " [" + value_of(option) + "]";
    }
    return out + (options ? " [\\fIOPTIONS\\fR]" : "") + positionals;
}

bool is_help(OptionInfo const& option) {
    return !option.names.empty() && option.names.back() == "--help";
}

std::string command_text(std::string const& path, CommandInfo const& command) {
    std::string out = ".SS " + usage(path, command) + "\n" + roff(command.about) + ".\n";
    for (auto const& option : command.options) {
        if (!is_help(option)) out += option_text(option);
    }
    if (!command.examples.empty()) {
        out += ".PP\nExample:\n.PP\n.nf\n.RS 4\n";
        for (auto const& example : command.examples) out += roff(example) + "\n";
        out += ".RE\n.fi\n";
    }
    for (auto const& each : command.commands) out += command_text(path + " " + each.name, each);
    return out;
}

}  // namespace

std::string roff(std::string_view text) {
    std::string out;
    if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
    while (!text.empty()) {
        auto const next = decode_utf8(text);
        text.remove_prefix(next.length);
        switch (next.code) {
            case U'\\': out += "\\e"; break;
            case U'-': out += "\\-"; break;
            case U'\'': out += "\\(aq"; break;
            case U'`': out += "\\(ga"; break;
            case U'~': out += "\\(ti"; break;
            case U'^': out += "\\(ha"; break;
            default:
                if (next.code < 0x80) {
                    out += static_cast<char>(next.code);
                } else {
                    std::array<char, 16> number{};
                    std::snprintf(number.data(), number.size(), "\\[u%04X]",
                                  static_cast<unsigned>(next.code));
                    out += number.data();
                }
        }
    }
    return out;
}

std::string manual(CommandInfo const& program, std::string const& version) {
    std::string out = ".\\\" Printed by: dormouse man\n.TH DORMOUSE 1 \"\" \"dormouse " +
                      roff(version) + "\" \"User Commands\"\n";
    out += ".SH NAME\ndormouse \\- " + roff(program.about) + "\n";
    out += ".SH SYNOPSIS\n.B dormouse\n.I COMMAND\n[\\fIOPTIONS\\fR]\n";
    out += description_text;
    out += ".SH OPTIONS\n";
    for (auto const& option : program.options) out += option_text(option);
    out += ".SH COMMANDS\n";
    for (auto const& command : program.commands) out += command_text(command.name, command);
    out += ".SH EXIT STATUS\n";
    for (auto const& [exit, meaning] : exits)
        out += ".TP\n.B " + std::to_string(exit) + "\n" + roff(meaning) + "\n";
    return out + std::string(rest) + "";
}

}  // namespace dormouse::cli
