#pragma once
// A person's sign-in to one server over HTTP: the token it gives, its renewal, and whether a person
// must sign in (again). The grant is stored, so that it survives restarts. On the loop.

#include "base/scope.h"
#include "mcp_client/fetch.h"
#include "mcp_client/sign_in/authorization.h"
#include "mcp_client/sign_in/token_source.h"
#include "port/foreign_sign_in.h"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::mcp_client {

// The store of grants, and the page on which people sign in.
struct SignInServices {
    std::function<std::optional<Json>(std::string const& server)> load = {};
    // Returns when it is durable. Errors are reported there.
    std::function<void(std::string const& server, Json const& grant)> save = {};
    std::function<std::string(std::string const& server)> page = {};
};

class SignIn final : public Tokens {
public:
    // `client` and `clock` outlive this. `changed`: someone must sign in, or has. REQUIRES:
    // `server.sign_in` is set.
    SignIn(ServerSettings const& server, port::HttpClient& client, port::Clock const& clock,
           SignInServices services, std::function<void()> changed);

    [[nodiscard]] std::string token() const override;
    [[nodiscard]] bool wanted() const override;
    void renew(std::string const& challenge, std::string const& refused, Done done) override;
    [[nodiscard]] std::string lacks(std::string const& challenge) override;

    // Returns true if nothing is sent until a person signs in.
    [[nodiscard]] bool needed() const { return needed_; }
    [[nodiscard]] port::ForeignSignInState state() const;
    // Returns the address of the page on which a person signs in.
    [[nodiscard]] std::string page() const;

    void begin(port::ForeignSignIn request,
               port::Fn<void(std::expected<std::string, std::string>)> done);
    void finish(port::ForeignCode const& code,
                port::Fn<void(std::expected<void, std::string>)> done);

private:
    using Found = std::function<void(std::expected<Authorizer, std::string>)>;
    struct Begun {
        std::string state;
        Authorizer at;
        Grant grant;  // with the client, without tokens
    };

    void discover(Found found);
    void discover_issuer(Json const& resource, Found found);
    void with_client(Authorizer const& at, std::string const& redirect_uri,
                     std::function<void(std::expected<Grant, std::string>)> then);
    void read_stored();
    [[nodiscard]] std::optional<Begun> taken(std::string const& state);
    void refresh(Authorizer const& at);
    void renewed(std::string const& why);
    [[nodiscard]] std::string need();
    void take(Grant grant);
    void keep(Grant const& grant) const;

    ServerSettings const& server_;
    port::Clock const& clock_;
    SignInServices services_;
    std::function<void()> changed_;
    std::optional<Grant> grant_;
    std::deque<Begun> begun_;    // oldest first, `begun_max` at most
    std::string challenge_;      // the newest that named the metadata
    std::string scope_wanted_;   // by challenges
    std::string scope_offered_;  // by the metadata of the resource
    bool needed_ = false;
    bool renewing_ = false;
    std::vector<Done> waiting_;  // for the renewal
    Fetches fetches_;
    Scope scope_;
};

}  // namespace dormouse::mcp_client
