#pragma once
// The access token for one server: fetched when it is needed, kept in memory. On the loop.

#include "base/scope.h"
#include "mcp_client/oauth.h"
#include "port/http.h"
#include "port/world.h"

#include <functional>
#include <string>
#include <vector>

namespace dormouse::mcp_client {

class TokenSource {
public:
    static constexpr Duration early{30'000};  // before its end a token is not used any more
    static constexpr Duration fetch_limit{10'000};
    static constexpr std::size_t answer_max = 65'536;
    // `why`: why there is no token; empty: there is one.
    using Done = std::function<void(std::string const& why)>;

    // `client` and `clock` outlive this. REQUIRES: `server.oauth` is set.
    TokenSource(ServerSettings const& server, port::HttpClient& client, port::Clock const& clock)
        : server_(server), client_(client), clock_(clock) {}
    ~TokenSource();
    TokenSource(TokenSource const&) = delete;
    TokenSource& operator=(TokenSource const&) = delete;

    // Empty: none is known, or it has ended.
    [[nodiscard]] std::string token() const;
    // A token has been used: from now on there is always one before a request.
    [[nodiscard]] bool wanted() const { return wanted_; }
    // Fetches a token, unless there is another than `refused`, the one that the server has refused.
    // `challenge`: of the server's 401, or empty. Calls `done` once, perhaps before this returns;
    // those who ask meanwhile get the same token.
    void renew(std::string const& challenge, std::string const& refused, Done done);

private:
    enum class Step : std::uint8_t { idle, resource, issuer, token };

    void fetch(Step step, std::vector<std::string> urls);
    void start(port::HttpRequest request, std::vector<std::string> others);
    void got(std::string const& body, std::vector<std::string> others);
    void missing(std::string const& why, std::vector<std::string> others);
    void take(Json const& answer);
    void end(std::string const& why);

    ServerSettings const& server_;
    port::HttpClient& client_;
    port::Clock const& clock_;
    Step step_ = Step::idle;
    port::HttpId request_ = 0;
    Token token_;
    Duration ends_{};  // on the monotonic clock
    bool wanted_ = false;
    std::string challenge_;  // the newest
    std::vector<Done> waiting_;
    Scope scope_;
};

}  // namespace dormouse::mcp_client
