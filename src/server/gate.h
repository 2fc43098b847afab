#pragma once
// Who may come in: checked before a body is read and before routing (design/04, "Who may call").
// Host names against rebinding, Origin against other pages, JSON bodies against forms, a token
// against everybody else.

#include "base/sha256.h"
#include "server/capability.h"
#include "server/http.h"
#include "session/vocabulary.h"

#include <map>
#include <string>
#include <vector>

namespace dormouse::server {

struct Token {
    std::string name;  // who: the receipt's by.name
    std::string secret;
};

struct GateOptions {
    std::vector<Token> tokens;                 // all of role admin, for every project
    std::vector<std::string> allowed_hosts;    // besides loopback names with our port
    std::vector<std::string> allowed_origins;  // exact
    std::uint16_t port = 0;
    std::uint32_t failed_auth_per_address_per_s = 10;
    std::string capability_key = {};  // empty: no capability is taken
};

// Bears a signature in place of a token; its own handler checks that.
[[nodiscard]] bool is_webhook(HttpRequest const& head);

class Gate {
public:
    Gate(GateOptions options, port::Clock const& clock);
    void set_port(std::uint16_t port) { options_.port = port; }

    // Why the request may not go on; nullopt: it may.
    [[nodiscard]] std::optional<Error> refuse(HttpRequest const& head);
    // Who asks. REQUIRES: refuse() let it through.
    [[nodiscard]] session::Actor actor(HttpRequest const& head) const;
    // The pause whose capability the request bears, in its path or as its token. It is let in for
    // the outcome and the progress of that one call and for nothing else.
    [[nodiscard]] std::optional<PendingId> capability(HttpRequest const& head) const;
    [[nodiscard]] Capabilities const& capabilities() const { return capabilities_; }

private:
    [[nodiscard]] bool host_allowed(std::string_view host) const;
    [[nodiscard]] bool origin_allowed(std::string_view origin) const;
    [[nodiscard]] Token const* token_of(HttpRequest const& head) const;
    [[nodiscard]] std::optional<Error> failed_auth(std::string const& address);
    [[nodiscard]] std::optional<Error> refuse_asker(HttpRequest const& head);

    GateOptions options_;
    Capabilities capabilities_;
    std::vector<Sha256> secrets_;  // digests of the tokens' secrets, in their order
    port::Clock const& clock_;
    std::int64_t failures_second_ = 0;
    std::map<std::string, std::uint32_t> failures_;  // by address, in that second
};

}  // namespace dormouse::server
