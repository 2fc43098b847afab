#pragma once
// The server's cookies. Over TLS their names have the prefix `__Host-`, which no other host and no
// plain HTTP can set.

#include "http/transport/http.h"

#include <string>
#include <string_view>

namespace dormouse::http {

inline constexpr std::string_view session_cookie = "dormouse";
inline constexpr std::string_view oidc_cookie = "dormouse-oidc";  // while a person is elsewhere

// Returns the value of a cookie; empty: absent, or two different ones.
[[nodiscard]] std::string_view read_cookie(HttpRequest const& head, std::string_view name);

// Returns the value of Set-Cookie; a life of zero removes the cookie. Lax: browsers send it with a
// click on a link elsewhere, but with no request that could change something, because a GET changes
// nothing.
[[nodiscard]] std::string set_cookie(HttpRequest const& request, std::string_view name,
                                     std::string_view value, Duration lives);

}  // namespace dormouse::http
