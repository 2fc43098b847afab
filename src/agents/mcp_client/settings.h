#pragma once
// The settings of an MCP server: how to reach it, and how to use it.

#include "port/http.h"
#include "session/vocabulary.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace dormouse::mcp_client {

// The tools of a server for which a person is asked: those that may destroy something, all, none.
enum class Asks : std::uint8_t { destructive, all, none };

// The client's settings for a server's authorization server.
struct OAuthClient {
    std::string issuer;  // that gave id and secret; no other gets them
    std::string id;
    std::string secret;
    std::string scope = {};  // scopes with spaces between; empty: the issuer's default
    friend bool operator==(OAuthClient const&, OAuthClient const&) = default;
};

struct ServerSettings {
    std::string name;                           // tools are "mcp:NAME:TOOL"
    std::vector<std::string> argv = {};         // a program on standard input and output; or:
    std::string cwd = {};                       // empty: the server's
    std::vector<std::string> environment = {};  // NAME=value
    std::string url = {};                       // streamable HTTP
    std::vector<port::HttpHeader> headers = {};
    std::optional<OAuthClient> oauth = {};  // of a server over HTTP
    // A person signs in to it: then all members may be empty (the server names its issuer, which
    // registers this client).
    std::optional<OAuthClient> sign_in = {};
    Duration time_limit{600'000};       // of one call
    Duration task_limit{86'400'000};    // of a call that has become a task
    Duration answer_limit{86'400'000};  // for a person to answer a question of the server
    Duration start_limit{30'000};  // until it has listed its tools, or a call finds it connected
    std::size_t message_max = std::size_t{1} << 20;  // bytes of one message
    Asks asks = Asks::destructive;
    bool sampling = false;  // the server may ask for answers of the agent's model
};

// Returns true if a connection with these settings also serves the other.
[[nodiscard]] inline bool same(ServerSettings const& one, ServerSettings const& other) {
    auto const all = [](ServerSettings const& of) {
        return std::tie(of.name, of.argv, of.cwd, of.environment, of.url, of.oauth, of.sign_in,
                        of.time_limit, of.task_limit, of.answer_limit, of.start_limit,
                        of.message_max, of.asks, of.sampling);
    };
    auto const header = [](port::HttpHeader const& a, port::HttpHeader const& b) {
        return a.name == b.name && a.value == b.value;
    };
    return all(one) == all(other) && std::ranges::equal(one.headers, other.headers, header);
}

// The beginning of the names of its tools.
[[nodiscard]] inline std::string prefix_of(std::string const& server) {
    return "mcp:" + server + ":";
}

// The gate that asks a person about calls of these tools.
inline constexpr char const* gate_name = "mcp";

}  // namespace dormouse::mcp_client
