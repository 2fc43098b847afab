#pragma once
// The records of sign-ins of people to MCP servers: DIR/mcp-sign-ins.json, mode 0600. Blocks.

#include <dormouse/json.h>

#include "mcp_client/sign_in/records.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace dormouse::app {

class GrantFile final : public mcp_client::Records {
public:
    // Reports that a record is lost at the next start, and why.
    using Report = std::function<void(std::string const& name, std::string const& why)>;
    // `directory`: empty: nothing is stored, and sign-ins end with the process.
    GrantFile(std::string const& directory, Report lost);

    [[nodiscard]] std::optional<Json> load(std::string const& name) const override;
    void store(std::string const& name, Json const& record, port::Fn<void(bool)> done) override;
    void refresh(port::Fn<void()> done) override { done(); }
    void follow(std::function<void()> /*changed*/) override {}  // there is no other process
    [[nodiscard]] bool shared() const override { return false; }

private:
    std::string file_;
    Report lost_;
    std::map<std::string, Json> records_;
};

}  // namespace dormouse::app
