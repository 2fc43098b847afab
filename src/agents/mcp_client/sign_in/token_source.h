#pragma once
// The access token for one server: fetched when it is needed, kept in memory. On the loop.

#include "mcp_client/fetch.h"
#include "mcp_client/sign_in/oauth.h"
#include "port/http.h"
#include "port/world.h"

#include <functional>
#include <string>
#include <vector>

namespace dormouse::mcp_client {

// The source of the tokens of a link.
class Tokens {
public:
    // `why`: the reason why there is no token; empty: there is one.
    using Done = std::function<void(std::string const& why)>;

    virtual ~Tokens() = default;
    // Returns the current token; empty: there is none, or it has expired.
    [[nodiscard]] virtual std::string token() const = 0;
    // Returns true if each request needs a token first.
    [[nodiscard]] virtual bool wanted() const = 0;
    // Gets a token, unless the current one differs from `refused`, which the server has refused.
    // `challenge`: that of the server's 401, or empty. Calls `done` once, perhaps before this
    // returns; callers that ask meanwhile get the same token.
    virtual void renew(std::string const& challenge, std::string const& refused, Done done) = 0;
    // The server has refused the token's rights (403). Returns an instruction for a person; empty:
    // a person can do nothing.
    [[nodiscard]] virtual std::string lacks(std::string const& challenge) = 0;
};

// Tokens with the client's own credentials.
class TokenSource final : public Tokens {
public:
    static constexpr Duration early{30'000};  // before its end a token is not used any more

    // `client` and `clock` outlive this. REQUIRES: `server.oauth` is set.
    TokenSource(ServerSettings const& server, port::HttpClient& client, port::Clock const& clock)
        : server_(server), clock_(clock), fetches_(client) {}

    [[nodiscard]] std::string token() const override;
    [[nodiscard]] bool wanted() const override { return wanted_; }
    void renew(std::string const& challenge, std::string const& refused, Done done) override;
    [[nodiscard]] std::string lacks(std::string const&) override { return {}; }

private:
    using Answer = std::expected<Fetches::Answer, std::string>;

    void got_resource(Answer const& answer);
    void got_issuer(Answer const& answer);
    void got_token(Answer const& answer);
    void end(std::string const& why);

    ServerSettings const& server_;
    port::Clock const& clock_;
    bool busy_ = false;
    Token token_;
    Duration ends_{};  // on the monotonic clock
    bool wanted_ = false;
    std::string challenge_;  // the newest
    std::vector<Done> waiting_;
    Fetches fetches_;
};

}  // namespace dormouse::mcp_client
