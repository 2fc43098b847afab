#pragma once
// Capabilities: the right to answer one pause, in a URL or as a bearer token. Nothing is stored for
// one: it is the pendingID with a signature under a key of the server.

#include <dormouse/id.h>

#include <optional>
#include <string>
#include <string_view>

namespace dormouse::server {

class Capabilities {
public:
    static constexpr std::string_view prefix = "cap_";

    // An empty key: there are none, and none is taken.
    explicit Capabilities(std::string key) : key_(std::move(key)) {}

    // REQUIRES: the key is not empty.
    [[nodiscard]] std::string token(PendingId const& pending) const;
    // The pause that a token is for; nullopt unless it was made under this key. In constant time.
    [[nodiscard]] std::optional<PendingId> check(std::string_view token) const;

private:
    std::string key_;
};

}  // namespace dormouse::server
