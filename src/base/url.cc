#include "base/url.h"

#include <algorithm>

namespace dormouse {

std::string_view wrong_url(std::string_view url) {
    if (url.size() > url_bytes_max) return "has more than 2,048 bytes";
    std::size_t scheme = 0;
    for (std::string_view const known : {"http://", "https://"}) {
        if (url.starts_with(known)) scheme = known.size();
    }
    if (scheme == 0) return "must begin with https:// or http://";
    auto const visible = [](unsigned char c) { return c > 0x20 && c < 0x7F; };
    if (!std::ranges::all_of(url, visible)) return "must be visible ASCII; percent-encode the rest";
    if (url.contains('#')) return "must have no fragment (#)";
    if (url.contains('\\')) return "must have no backslash";
    url.remove_prefix(scheme);
    std::string_view const host = url.substr(0, url.find_first_of("/?"));
    if (host.empty() || host.starts_with(':')) return "must name a host";
    if (host.contains('@')) return "must have no user name and no password";
    return {};
}

}  // namespace dormouse
