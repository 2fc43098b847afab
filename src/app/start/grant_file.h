#pragma once
// The grants from sign-ins of people to MCP servers: DIR/mcp-sign-ins.json, mode 0600. Blocks.

#include <dormouse/error.h>
#include <dormouse/json.h>

#include "mcp_client/sign_in/sign_in.h"
#include "serve/serving.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace dormouse::app {

class GrantFile {
public:
    // `directory`: empty: nothing is stored, and sign-ins end with the process.
    explicit GrantFile(std::string const& directory);

    [[nodiscard]] std::optional<Json> load(std::string const& server) const;
    // Returns when it is on the disk.
    [[nodiscard]] Result<void> save(std::string const& server, Json const& grant);

private:
    std::string file_;
    std::map<std::string, Json> grants_;  // by server
};

// Where sign-ins to MCP servers are kept, and where people make them. `serving`: null before it is
// made.
[[nodiscard]] mcp_client::SignInServices sign_in_services(
    std::string const& directory, std::function<serve::Serving*()> const& serving);

}  // namespace dormouse::app
