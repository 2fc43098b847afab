#pragma once
// Entity tags of sessions (RFC 9110, 8.8.3): the sequence number of the newest event in quotes.

#include <dormouse/error.h>
#include <dormouse/id.h>

#include "http/transport/http.h"
#include "session/state.h"

#include <optional>
#include <string>

namespace dormouse::http {

[[nodiscard]] std::string etag(session::State const& state);
// Returns true if If-None-Match contains `tag`, alone or in a list, weak or strong, or is `*`.
[[nodiscard]] bool none_match_names(HttpRequest const& request, std::string_view tag);
// Returns the sequence number in If-Match; nullopt: no header, or `*`.
[[nodiscard]] Result<std::optional<Seq>> if_match(HttpRequest const& request);

}  // namespace dormouse::http
