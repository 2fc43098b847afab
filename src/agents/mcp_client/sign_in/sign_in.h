#pragma once
// A person's sign-in to one server over HTTP: the token it gives, its renewal, and whether a person
// must sign in (again). The grant and the registered client are stored, so that they survive
// restarts and count in all processes that share the records. On the loop.

#include "base/scope.h"
#include "mcp_client/fetch.h"
#include "mcp_client/sign_in/authorization.h"
#include "mcp_client/sign_in/records.h"
#include "mcp_client/sign_in/token_source.h"
#include "port/foreign_sign_in.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::mcp_client {

// The stored records, and the page on which people sign in.
struct SignInServices {
    Records* records = nullptr;  // null: there is no server with a sign-in
    std::function<std::string(std::string const& server)> page = {};
};

class SignIn final : public Tokens {
public:
    // `client`, `loop`, `clock` and the records outlive this. `changed`: someone must sign in, or
    // has. REQUIRES: `server.sign_in` and `services.records` are set.
    SignIn(ServerSettings const& server, port::HttpClient& client, port::Loop& loop,
           port::Clock const& clock, SignInServices services, std::function<void()> changed);

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
    void finish(port::ForeignCode code, port::Fn<void(std::expected<void, std::string>)> done);
    // Another process has changed the records.
    void on_changed();

private:
    using Found = std::function<void(std::expected<Authorizer, std::string>)>;
    using Client = std::function<void(std::expected<Grant, std::string>)>;
    using Finished = std::function<void(std::expected<void, std::string>)>;

    void read_stored();
    void renew_stored();
    void renew_later();
    void claim(Authorizer const& at);
    void refresh(Authorizer const& at);
    void refreshed(Grant grant, std::expected<Fetches::Answer, std::string> const& answer);
    void keep(Grant grant, std::function<void()> then);
    void renewed(std::string const& why);
    [[nodiscard]] std::string need();

    void discover_for_person(Found found);
    void discover(Found found);
    void discover_issuer(Json const& resource, Found found);
    void with_client(Authorizer const& at, std::string const& redirect_uri, Client then);
    [[nodiscard]] bool find_client(Grant& grant) const;
    void register_client(Authorizer const& at, Grant grant, Client then);
    void registered(std::expected<Grant, std::string> const& grant);
    [[nodiscard]] std::string scope_to_ask() const;
    void exchange_code(Authorizer const& at, Grant grant, port::ForeignCode const& code,
                       Finished done);
    void signed_in(Grant const& grant, Finished const& done, unsigned tries);

    ServerSettings const& server_;
    port::Loop& loop_;
    port::Clock const& clock_;
    SignInServices services_;
    std::function<void()> changed_;
    std::optional<Grant> grant_;
    std::string refused_;        // the newest token that the server did not take
    std::string challenge_;      // the newest that named the metadata
    std::string scope_wanted_;   // by challenges
    std::string scope_offered_;  // by the metadata of the resource
    bool needed_ = false;
    bool renewing_ = false;
    unsigned tries_ = 0;               // the times that a renewal has waited for another process
    std::vector<Done> waiting_;        // for the renewal
    std::vector<Client> registering_;  // for one registration
    Fetches fetches_;
    Scope scope_;
};

}  // namespace dormouse::mcp_client
