#pragma once
// What the server must keep secret: tokens, and the keys that sign.

#include "cli/commands/cli.h"
#include "config/config.h"
#include "http/access/gate.h"
#include "webhook/kinds/web_push.h"

#include <optional>
#include <string>
#include <vector>

namespace dormouse::app {

struct Secrets {
    std::vector<http::Token> tokens;
    std::vector<port::TokenRow> stored;
    std::string capability_key;
    std::vector<port::DeviceRow> devices = {};
    std::optional<webhook::PushSender> push = {};  // nullopt: nothing is sent to devices
};

// Reads them from the data directory, and makes those that are missing; blocks. What is stored in
// the store is left empty.
[[nodiscard]] Result<Secrets> load_secrets(cli::ServeOptions const& options,
                                           config::Config const& config);

}  // namespace dormouse::app
