#pragma once
// Loads the first token: $DORMOUSE_TOKEN when set, and the one in DIR/token (mode 0600), which is
// created when absent; and the server's keys. Secrets that several processes on one store share
// come from the store, which then determines the files.

#include <dormouse/error.h>

#include "base/crypto/p256.h"
#include "http/access/gate.h"
#include "port/world.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace dormouse::http {

// Returns what all processes use under this name: `proposed`, if none has proposed anything before.
// Empty: this process uses the store alone.
using Agree =
    std::function<Result<std::string>(std::string const& name, std::string const& proposed)>;

[[nodiscard]] Result<std::vector<Token>> load_tokens(std::filesystem::path const& directory,
                                                     port::Entropy& entropy,
                                                     Agree const& agree = {});

// Returns the key that signs callback URLs, from DIR/callback.key (mode 0600), created when absent.
// Errors: internal when the file is damaged.
[[nodiscard]] Result<std::string> load_capability_key(std::filesystem::path const& directory,
                                                      port::Entropy& entropy,
                                                      Agree const& agree = {});

// Returns the private key that names the server to push services, from DIR/push.key (mode 0600),
// created when absent. Errors: internal when the file is damaged.
[[nodiscard]] Result<P256Secret> load_push_key(std::filesystem::path const& directory,
                                               port::Entropy& entropy, Agree const& agree = {});
[[nodiscard]] P256Secret new_push_key(port::Entropy& entropy);

}  // namespace dormouse::http
