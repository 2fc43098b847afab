#include "app/start/complain.h"

#include "base/text/text.h"
#include "cli/client/failure.h"
#include "cli/render/render.h"
#include "json/json.h"

#include <cstdio>

namespace dormouse::app {

namespace {

Json problem_of(Error const& error, int exit, std::vector<std::string> const& mistakes) {
    json::Writer out;
    out.begin_object().member("type", "about:blank").member("title", error.detail);
    out.member("code", info(error.code).text).member("exit", exit);
    if (mistakes.empty()) return out.end_object().json();
    out.key("mistakes").begin_array();
    for (std::string const& mistake : mistakes) out.value(mistake);
    return out.end_array().end_object().json();
}

}  // namespace

int complain(Command const& command, Error const& error, std::vector<std::string> const& mistakes) {
    int const exit = info(error.code).exit == 0 ? cli::status::failed : info(error.code).exit;
    std::string out;
    if (command.json.errors) {
        out = cli::json_for_terminal(problem_of(error, exit, mistakes).text()) + "\n";
    } else {
        for (std::string const& mistake : mistakes)
            out += escape_for_terminal(mistake, true) + "\n";
        out += "dormouse " + std::string(command.name) + ": " +
               escape_for_terminal(error.detail, true) + "\n";
    }
    std::fputs(out.c_str(), stderr);
    return exit;
}

}  // namespace dormouse::app
