#pragma once
// Who may call: checked before a body is read and before routing (docs/reference/http.md, "Rules
// for all routes").
// Host names against rebinding, Origin against other pages, JSON bodies against forms, a token
// against everybody else.

#include "base/sha256.h"
#include "http/access/capability.h"
#include "http/access/rate.h"
#include "http/access/tokens.h"
#include "http/transport/http.h"
#include "session/vocabulary.h"

#include <set>
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
    std::uint32_t submissions_per_token_per_s = 1'000;
    std::uint32_t submissions_per_call_per_s = 200;
    std::set<std::string, std::less<>> programs = {};  // agents that run programs of this machine
    std::string public_url = {};                       // empty: not known
};

// Bears a signature in place of a token; its own handler checks that.
[[nodiscard]] bool is_webhook(HttpRequest const& head);
[[nodiscard]] bool has_body(HttpRequest const& head);
// What the form of a page sends.
[[nodiscard]] bool is_page_form(HttpRequest const& head);

class Gate {
public:
    Gate(GateOptions options, port::Clock const& clock);
    void set_port(std::uint16_t port) { options_.port = port; }

    // Why the request may not go on; nullopt: it may.
    [[nodiscard]] std::optional<Error> refuse(HttpRequest const& head);
    // Who asks; nullptr: whoever has a capability, or nobody. REQUIRES: refuse() let it through.
    [[nodiscard]] PrincipalPtr principal(HttpRequest const& head) const;
    [[nodiscard]] session::Actor actor(HttpRequest const& head) const;
    [[nodiscard]] session::Actor actor(HttpRequest const& head, Principal const* principal) const;
    // One more outcome is offered for a call. nullopt: it may be.
    [[nodiscard]] std::optional<Error> refuse_submission(HttpRequest const& head,
                                                         Principal const* principal,
                                                         PendingId const& pending);
    // What a form of our own pages must bear, and nobody else can know: it is made of the secret of
    // the cookie. Empty: no cookie came.
    [[nodiscard]] std::string form_token(HttpRequest const& head, PendingId const& pending) const;
    // What is guessed wrong is counted by address.
    [[nodiscard]] Error failed_auth(HttpRequest const& head);
    // Before a signature is looked at. Whoever sent too many bad ones in this second waits; so
    // does, while many come for one source, whoever sent one. nullopt: it may be looked at.
    [[nodiscard]] std::optional<Error> refuse_signature(HttpRequest const& head,
                                                        std::string const& source) const;
    void count_bad_signature(HttpRequest const& head, std::string const& source);
    [[nodiscard]] Tokens& tokens() { return tokens_; }
    [[nodiscard]] bool runs_programs(std::string const& agent) const {
        return options_.programs.contains(agent);
    }
    // "https://dm.example.org": what links begin with.
    [[nodiscard]] std::string base_url() const;
    // The pause whose capability the request bears, in its path or as its token. It is let in for
    // the outcome and the progress of that one call and for nothing else.
    [[nodiscard]] std::optional<PendingId> capability(HttpRequest const& head) const;
    [[nodiscard]] Capabilities const& capabilities() const { return capabilities_; }

private:
    [[nodiscard]] bool host_allowed(std::string_view host) const;
    // `secure`: the request came over TLS, as the own pages do then.
    [[nodiscard]] bool origin_allowed(std::string_view origin, bool secure) const;
    [[nodiscard]] bool own_origin(HttpRequest const& head) const;
    [[nodiscard]] std::optional<Error> refuse_asker(HttpRequest const& head);

    GateOptions options_;
    Capabilities capabilities_;
    Tokens tokens_;
    Rate failures_;        // by address
    Rate by_token_;        // submissions, by the token's id
    Rate by_call_;         // submissions, by pause
    Rate bad_by_address_;  // signatures
    Rate bad_by_source_;
};

}  // namespace dormouse::server
