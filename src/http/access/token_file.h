#pragma once
// Loads the first token: $DORMOUSE_TOKEN when set, and the one in DIR/token (mode 0600), which is
// created when absent.

#include <dormouse/error.h>

#include "base/p256.h"
#include "http/access/gate.h"
#include "port/world.h"

#include <filesystem>
#include <vector>

namespace dormouse::http {

[[nodiscard]] Result<std::vector<Token>> load_tokens(std::filesystem::path const& directory,
                                                     port::Entropy& entropy);

// Returns the key that signs callback URLs, from DIR/callback.key (mode 0600), created when absent.
// Errors: internal when the file is damaged.
[[nodiscard]] Result<std::string> load_capability_key(std::filesystem::path const& directory,
                                                      port::Entropy& entropy);

// Returns the private key that names the server to push services, from DIR/push.key (mode 0600),
// created when absent. Errors: internal when the file is damaged.
[[nodiscard]] Result<P256Secret> load_push_key(std::filesystem::path const& directory,
                                               port::Entropy& entropy);
[[nodiscard]] P256Secret new_push_key(port::Entropy& entropy);

}  // namespace dormouse::http
