#pragma once
// A tool that is a program: it reads the arguments as JSON on its standard input and writes the
// result to its standard output. Exit status 75, or a line {"pending": {…}} on descriptor 3, means
// that the result comes later, by the callback URL in its environment. See
// docs/how-to/tool-shell-script.md.

#include "external/declared.h"
#include "port/process.h"

namespace dormouse::external {

inline constexpr int exit_later = 75;  // EX_TEMPFAIL

struct CommandTool {
    Declared declared;
    std::vector<std::string> argv;              // REQUIRES: not empty; no shell
    std::string cwd = {};                       // empty: the server's
    std::vector<std::string> environment = {};  // NAME=value; variables about the call are added
};

// `processes` outlives the tool.
[[nodiscard]] agent::Tool make_command_tool(CommandTool options, port::Processes& processes);

}  // namespace dormouse::external
