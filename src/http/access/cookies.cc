#include "http/access/cookies.h"

#include <algorithm>

namespace dormouse::http {

namespace {

std::string full_name(HttpRequest const& request, std::string_view name) {
    return (request.secure ? "__Host-" : "") + std::string(name) + "=";
}

}  // namespace

std::string_view read_cookie(HttpRequest const& head, std::string_view name) {
    std::string const begin = full_name(head, name);
    std::string_view rest = head.header("cookie");
    std::string_view found;
    while (!rest.empty()) {
        auto const end = std::min(rest.find(';'), rest.size());
        std::string_view one = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        while (one.starts_with(' ')) one.remove_prefix(1);
        if (!one.starts_with(begin)) continue;
        one.remove_prefix(begin.size());
        if (!found.empty() && found != one) return {};
        found = one;
    }
    return found;
}

std::string set_cookie(HttpRequest const& request, std::string_view name, std::string_view value,
                       Duration lives) {
    return full_name(request, name) + std::string(value) +
           "; Path=/; HttpOnly; SameSite=Lax; Max-Age=" + std::to_string(lives.count() / 1000) +
           (request.secure ? "; Secure" : "");
}

}  // namespace dormouse::http
