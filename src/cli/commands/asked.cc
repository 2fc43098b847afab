#include "cli/commands/asked.h"

#include "base/url.h"

#include <algorithm>

namespace dormouse::cli {

bool is_settled(Json const& call) {
    std::string const state = json::View(call)["status"].string_or("");
    return state != "waiting" && state != "processing";
}

void write_answerers(json::Writer& out, std::vector<std::string> const& by, int votes) {
    out.key("answer").begin_object().member("need", votes);
    if (!by.empty()) {
        out.key("from").begin_array();
        for (std::string const& name : by) out.value(name);
        out.end_array();
    }
    out.end_object();
}

Duration away_delay(int tries) {
    constexpr Duration most{5'000};
    return std::min(most, Duration(250 << std::min(tries, 8)));
}

std::string cancel_target(std::string const& id, std::string const& reason) {
    return "/api/pending/" + id + "?reason=" + percent_encode(reason);
}

}  // namespace dormouse::cli
