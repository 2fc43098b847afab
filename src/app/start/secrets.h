#pragma once
// Secrets that identify people, programs and the server itself: tokens, and the keys that sign
// callback URLs and notifications.

#include "config/config.h"
#include "http/access/gate.h"
#include "port/shared_store.h"
#include "port/store_rows.h"
#include "runtime/stores.h"
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
    // The records of sign-ins to MCP servers in a database.
    std::vector<port::SharedValue> sign_ins = {};
};

// Reads and creates them in the data directory, which it creates, and in the store. Blocks. Before
// the store has another user. Processes that share the store get the same ones.
[[nodiscard]] Result<Secrets> load_secrets(std::string const& data, config::Config const& config,
                                           runtime::OpenedStore const& opened);

}  // namespace dormouse::app
