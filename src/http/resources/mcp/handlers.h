#pragma once
// The Model Context Protocol over HTTP, at /mcp. Used by routes.cc.

#include "http/resources/shared.h"

namespace dormouse::http {

inline constexpr std::string_view mcp_path = "/mcp";

// post.cc
void post_mcp(Api& api, ExchangePtr const& x);
// streams.cc
void get_mcp(Api& api, ExchangePtr const& x);
void delete_mcp(Api& api, ExchangePtr const& x);
// metadata.cc
void get_mcp_metadata(Api& api, ExchangePtr const& x);
// sign_in.cc
void begin_mcp_sign_in(Api& api, ExchangePtr const& x);
void end_mcp_sign_in(Api& api, ExchangePtr const& x);

// Returns true for the description of how clients get a token, which needs none itself.
[[nodiscard]] bool is_mcp_metadata(std::string_view path);
// The header WWW-Authenticate of a 401 at /mcp. `authorization`: the request's header; the
// challenge names an error only if it has a token (RFC 6750, section 3.1).
[[nodiscard]] std::string mcp_challenge(std::string const& base_url,
                                        std::string_view authorization);

}  // namespace dormouse::http
