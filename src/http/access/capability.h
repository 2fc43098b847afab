#pragma once
// Capabilities: the right to answer one pause, in a URL or as a bearer token. A capability is the
// pendingID with a signature under a key of the server; the server stores nothing for it.

#include <dormouse/id.h>

#include <optional>
#include <string>
#include <string_view>

namespace dormouse::http {

class Capabilities {
public:
    static constexpr std::string_view prefix = "cap_";

    // With an empty key no capability exists and none is accepted.
    explicit Capabilities(std::string key) : key_(std::move(key)) {}

    // REQUIRES: the key is not empty.
    [[nodiscard]] std::string token(PendingId const& pending) const;
    // Returns the pause of a token; nullopt unless the token was made with this key. Runs in
    // constant time.
    [[nodiscard]] std::optional<PendingId> check(std::string_view token) const;

private:
    std::string key_;
};

}  // namespace dormouse::http
