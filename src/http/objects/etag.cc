#include "http/objects/etag.h"

#include "base/text/text.h"
#include "http/objects/body.h"

namespace dormouse::http {

namespace {

std::string_view trimmed_tag(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

}  // namespace

std::string etag(session::State const& state) { return "\"" + std::to_string(state.head) + "\""; }

bool none_match_names(HttpRequest const& request, std::string_view tag) {
    std::string_view rest = trimmed_tag(request.header("if-none-match"));
    if (rest == "*") return true;
    while (!rest.empty()) {
        std::size_t const end = std::min(rest.find(','), rest.size());
        std::string_view one = trimmed_tag(rest.substr(0, end));
        if (one.starts_with("W/")) one.remove_prefix(2);
        if (one == tag) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

Result<std::optional<Seq>> if_match(HttpRequest const& request) {
    std::string_view const match = trimmed_tag(request.header("if-match"));
    if (match.empty() || match == "*") return std::optional<Seq>();
    bool const quoted = match.size() > 2 && match.front() == '"' && match.back() == '"';
    auto const seq = quoted ? parse_number(match.substr(1, match.size() - 2)) : std::nullopt;
    if (!seq)
        return std::unexpected(bad_value("If-Match", "must be an ETag of this session, \"<seq>\""));
    return seq;
}

}  // namespace dormouse::http
