#pragma once
// Sign-ins of people to foreign servers, whose tokens this process then uses (OAuth 2.1,
// authorization code with PKCE). On the loop.

#include "port/world.h"

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace dormouse::port {

// The values that the answer to a sign-in must have.
struct ForeignChallenge {
    std::string state;
    std::string challenge;  // PKCE, S256
};
// A sign-in that begins.
struct ForeignSignIn {
    std::string redirect_uri;
    // Makes the challenge of a sign-in at this issuer; called once at most, before the reply.
    Fn<ForeignChallenge(std::string const& issuer)> challenge;
};
// The answer that the browser brought back, perhaps to another process than the one that began.
struct ForeignCode {
    std::string redirect_uri;
    std::string code;
    std::string issuer;    // RFC 9207; empty: not named
    std::string begun_at;  // digest of the issuer that the challenge was made for, in hex
    std::string verifier;  // of the challenge
};

enum class ForeignServerState : std::uint8_t { starting, ready, failing };
// `unasked`: the server has not asked for a token yet. `expired`: the sign-in has ended or was
// revoked, and a person must sign in again.
enum class ForeignSignInState : std::uint8_t { none, unasked, needed, expired, good };
struct ForeignServer {
    std::string name;
    ForeignServerState state = ForeignServerState::starting;
    ForeignSignInState sign_in = ForeignSignInState::none;
    std::string why;  // the newest failure; empty: none since it was ready
};

class ForeignSignIns {
public:
    virtual ~ForeignSignIns() = default;
    [[nodiscard]] virtual std::vector<ForeignServer> servers() const = 0;
    [[nodiscard]] virtual bool knows(std::string const& server) const = 0;
    // The servers that do nothing until a person signs in.
    [[nodiscard]] virtual std::vector<std::string> needed() const = 0;
    // Both call `done` once, perhaps before they return, with why it failed or: the address to
    // which the person is sent; nothing, and the server is used from now on. REQUIRES:
    // knows(server).
    virtual void begin(std::string const& server, ForeignSignIn request,
                       Fn<void(std::expected<std::string, std::string>)> done) = 0;
    virtual void finish(std::string const& server, ForeignCode code,
                        Fn<void(std::expected<void, std::string>)> done) = 0;
};

// The external reference of all calls that wait for a sign-in to this server.
[[nodiscard]] inline std::string sign_in_reference(std::string const& server) {
    return "mcp-sign-in:" + server;
}

}  // namespace dormouse::port
