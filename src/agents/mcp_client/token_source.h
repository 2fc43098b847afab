#pragma once
// The access token for one server: fetched when it is needed, kept in memory. On the loop.

#include "mcp_client/fetch.h"
#include "mcp_client/oauth.h"
#include "port/http.h"
#include "port/world.h"

#include <functional>
#include <string>
#include <vector>

namespace dormouse::mcp_client {

// Where a link gets its tokens.
class Tokens {
public:
    // `why`: why there is no token; empty: there is one.
    using Done = std::function<void(std::string const& why)>;

    virtual ~Tokens() = default;
    // Empty: none is known, or it has ended.
    [[nodiscard]] virtual std::string token() const = 0;
    // From now on there is always a token before a request.
    [[nodiscard]] virtual bool wanted() const = 0;
    // Gets a token, unless there is another than `refused`, the one that the server has refused.
    // `challenge`: of the server's 401, or empty. Calls `done` once, perhaps before this returns;
    // those who ask meanwhile get the same token.
    virtual void renew(std::string const& challenge, std::string const& refused, Done done) = 0;
    // The server has refused the token's rights (403). Returns what a person can do about it;
    // empty: nothing.
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
