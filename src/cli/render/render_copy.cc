#include "cli/render/render_copy.h"

#include "base/text/text.h"
#include "cli/render/render.h"

namespace dormouse::cli {

std::string copy_text(json::View copy, Time now) {
    if (copy.kind() != json::Kind::object) return {};
    std::string out = "copy      " + escape_for_terminal(plain(copy["target"])) + ": ";
    out += copy["ok"].boolean_or(false) ? "ok" : escape_for_terminal(plain(copy["why"]));
    if (auto const since = copy["failingSince"].integer())
        out += "; failing since " + ago(*since, now);
    auto const at = copy["copiedAt"].integer();
    return out + "; its newest state is " + (at ? "of " + ago(*at, now) : "not complete yet") +
           "\n";
}

}  // namespace dormouse::cli
