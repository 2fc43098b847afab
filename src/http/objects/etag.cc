#include "http/objects/etag.h"

#include "base/text/cut.h"
#include "base/text/split.h"
#include "base/text/text.h"
#include "http/objects/body.h"

#include <algorithm>

namespace dormouse::http {

std::string etag(session::State const& state) { return "\"" + std::to_string(state.head) + "\""; }

bool none_match_names(HttpRequest const& request, std::string_view tag) {
    std::string_view const names = trimmed(request.header("if-none-match"));
    if (names == "*") return true;
    return std::ranges::any_of(split_list(names, ','), [&](std::string_view one) {
        if (one.starts_with("W/")) one.remove_prefix(2);
        return one == tag;
    });
}

Result<std::optional<Seq>> if_match(HttpRequest const& request) {
    std::string_view const match = trimmed(request.header("if-match"));
    if (match.empty() || match == "*") return std::optional<Seq>();
    bool const quoted = match.size() > 2 && match.front() == '"' && match.back() == '"';
    auto const seq = quoted ? parse_number(match.substr(1, match.size() - 2)) : std::nullopt;
    if (!seq)
        return std::unexpected(bad_value("If-Match", "must be an ETag of this session, \"<seq>\""));
    return seq;
}

}  // namespace dormouse::http
