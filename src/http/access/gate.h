#pragma once
// Checks who may call, before a body is read and before routing (docs/reference/http.md, "Rules for
// all routes"). Host names protect against DNS rebinding, Origin against pages of other sites, JSON
// bodies against forms, and a token against everyone without one.

#include "base/crypto/sha256.h"
#include "http/access/capability.h"
#include "http/access/devices.h"
#include "http/access/rate.h"
#include "http/access/tokens.h"
#include "http/transport/http.h"
#include "session/vocabulary.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::http {

struct Token {
    std::string name;  // the receipt's by.name
    std::string secret;
};

struct GateOptions {
    std::vector<Token> tokens;               // all of role admin, for every project
    std::vector<std::string> allowed_hosts;  // in addition to loopback names with the server's port
    std::vector<std::string> allowed_origins;  // exact
    std::uint16_t port = 0;
    std::uint32_t failed_auth_per_address_per_s = 10;
    std::string capability_key = {};  // empty: capabilities are refused
    std::uint32_t submissions_per_token_per_s = 1'000;
    std::uint32_t submissions_per_call_per_s = 200;
    std::set<std::string, std::less<>> programs =
        {};                       // external agents: they run programs on this machine
    std::string public_url = {};  // empty: unknown
};

// Returns true for webhooks, which have a signature in place of a token; their handler checks it.
[[nodiscard]] bool is_webhook(HttpRequest const& head);
// Returns true for presses of buttons in Slack, which are one kind of them.
[[nodiscard]] bool is_press(HttpRequest const& head);
[[nodiscard]] bool has_body(HttpRequest const& head);
// Returns true if the body of the request is a form of the server's own pages.
[[nodiscard]] bool is_page_form(HttpRequest const& head);

class Gate {
public:
    Gate(GateOptions options, port::Clock const& clock);
    void set_port(std::uint16_t port) { options_.port = port; }
    // From now on the hosts, origins, limits and programs of `next`; its other members are ignored.
    void apply(GateOptions next);

    // Returns why the request is refused; nullopt: it may continue. `open`: needs no token.
    [[nodiscard]] std::optional<Error> refuse(HttpRequest const& head, bool open = false);
    // Returns the token of the request; nullptr: it has a capability or no token. REQUIRES:
    // refuse() returned nullopt.
    [[nodiscard]] PrincipalPtr principal(HttpRequest const& head) const;
    [[nodiscard]] session::Actor actor(HttpRequest const& head) const;
    [[nodiscard]] session::Actor actor(HttpRequest const& head, Principal const* principal) const;
    // Counts one submission for a call. Returns the error when there are too many in this second.
    [[nodiscard]] std::optional<Error> refuse_submission(HttpRequest const& head,
                                                         Principal const* principal,
                                                         PendingId const& pending);
    // Returns the secret that a form of the server's own pages must contain. It is made from the
    // secret of the cookie, so other sites cannot know it. Empty: the request has no cookie.
    [[nodiscard]] std::string form_token(HttpRequest const& head, PendingId const& pending) const;
    // The token or cookie of the request, if it has one that is not valid here.
    struct Unknown {
        std::string kind;
        std::string secret;
    };
    [[nodiscard]] std::optional<Unknown> unknown(HttpRequest const& head) const;
    // Whether too many requests without a valid token came from its address in this second.
    [[nodiscard]] bool failed_too_often(HttpRequest const& head) const;
    // Counts a request without a valid token, by address, and returns its error.
    [[nodiscard]] Error failed_auth(HttpRequest const& head);
    // Called before a signature is checked. Refuses an address that sent too many bad signatures in
    // this second; while a source receives too many, also each address that sent one. nullopt: the
    // signature may be checked.
    [[nodiscard]] std::optional<Error> refuse_signature(HttpRequest const& head,
                                                        std::string const& source) const;
    // Counts an e-mail that a person without a token asks for. False: too many for this key.
    [[nodiscard]] bool may_ask_mail(std::string const& key) { return mails_.take(key); }
    // Counts a step of a sign-in with OIDC, by address: each may lead to a request to the provider.
    // False: too many in this second.
    [[nodiscard]] bool may_sign_in(HttpRequest const& head);
    void count_bad_signature(HttpRequest const& head, std::string const& source);
    // Counts a test notification. False: too many for this person.
    [[nodiscard]] bool may_test_device(std::string const& person) { return tests_.take(person); }
    [[nodiscard]] Tokens& tokens() { return tokens_; }
    [[nodiscard]] Devices& devices() { return devices_; }
    [[nodiscard]] bool runs_programs(std::string const& agent) const {
        return options_.programs.contains(agent);
    }
    // Returns the beginning of links: "https://dm.example.org".
    [[nodiscard]] std::string base_url() const;
    // Returns the pause whose capability the request has in its path or as its token. A capability
    // allows the outcome and the progress of that one call only.
    [[nodiscard]] std::optional<PendingId> capability(HttpRequest const& head) const;
    [[nodiscard]] Capabilities const& capabilities() const { return capabilities_; }

private:
    [[nodiscard]] bool host_allowed(std::string_view host) const;
    // `secure`: the request came over TLS, so the server's own pages have https origins.
    [[nodiscard]] bool origin_allowed(std::string_view origin, bool secure) const;
    [[nodiscard]] bool own_origin(HttpRequest const& head) const;
    [[nodiscard]] std::optional<Error> refuse_asker(HttpRequest const& head);

    GateOptions options_;
    Capabilities capabilities_;
    Tokens tokens_;
    Devices devices_;
    Rate failures_;        // by address
    Rate by_token_;        // submissions, by the token's id
    Rate by_call_;         // submissions, by pause
    Rate bad_by_address_;  // bad signatures, by address
    Rate bad_by_source_;
    Rate mails_;     // by client, and by address
    Rate sign_ins_;  // with OIDC, by address
    Rate tests_;     // of devices, by person
};

}  // namespace dormouse::http
