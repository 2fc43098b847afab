#pragma once
// The first token: $DORMOUSE_TOKEN when set, and the one in DIR/token (mode 0600), made when there
// is none.

#include <dormouse/error.h>

#include "http/access/gate.h"
#include "port/world.h"

#include <filesystem>
#include <vector>

namespace dormouse::server {

[[nodiscard]] Result<std::vector<Token>> load_tokens(std::filesystem::path const& directory,
                                                     port::Entropy& entropy);

// What callback URLs are signed with: DIR/callback.key (mode 0600), made when there is none.
// Errors: internal when it is damaged.
[[nodiscard]] Result<std::string> load_capability_key(std::filesystem::path const& directory,
                                                      port::Entropy& entropy);

}  // namespace dormouse::server
