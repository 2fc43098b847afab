#pragma once
// Entity tags of sessions (RFC 9110, 8.8.3): the sequence number of the newest event, in quotes.

#include <dormouse/error.h>
#include <dormouse/id.h>

#include "http/transport/http.h"
#include "session/state.h"

#include <optional>
#include <string>

namespace dormouse::server {

[[nodiscard]] std::string etag(session::State const& state);
// Whether If-None-Match names `tag`, alone or in a list, weak or not, or is `*`.
[[nodiscard]] bool none_match_names(HttpRequest const& request, std::string_view tag);
// The sequence number that If-Match asks for; nullopt: nothing is asked for, or `*`.
[[nodiscard]] Result<std::optional<Seq>> if_match(HttpRequest const& request);

}  // namespace dormouse::server
