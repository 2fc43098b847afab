#pragma once
// The requests of the MCP server's tools to the HTTP API. A server on standard input and output
// sends these requests over HTTP; the one at /mcp gives them to the routes of its own process. So
// both have the same tools, rights and limits.

#include <dormouse/json.h>
#include <dormouse/time.h>

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

namespace dormouse::mcp {

struct ApiRequest {
    std::string method = "GET";
    std::string target = {};  // path and query
    Json body = {};           // null: none
    std::string key = {};     // the request with this key is made once; empty: none
    bool patient = false;     // repeated, with a key, while the server is away
    bool waits = false;       // answered after a while; requests that do not wait are sent first
};

// Why a request was refused, as text for a model, and as the code of a JSON-RPC error.
struct Refusal {
    std::string what;
    int rpc_code = 0;
    std::string code = {};  // of the problem: "not_found"; may be empty
    bool away = false;      // the server cannot be reached at present
};

using ApiAnswer = std::expected<Json, Refusal>;
using ApiDone = std::move_only_function<void(ApiAnswer)>;

struct ApiAccess {
    // Calls `done` once, perhaps before it returns.
    std::function<void(ApiRequest, ApiDone)> ask;
    std::function<Time()> now;
    std::int64_t wait_seconds = 1;  // at most, of one request that waits
};
using ApiPtr = std::shared_ptr<ApiAccess const>;

// A request of the client that is being answered. The client may withdraw it.
struct Ticket {
    bool cancelled = false;
    std::function<bool()> gone = {};  // the client has left; empty: it has not
    [[nodiscard]] bool over() const { return cancelled || (gone && gone()); }
    // Reports progress to the client; empty: it did not ask for any.
    std::function<void(std::string const& message)> progress = {};
    // Sends the client a line before the answer; empty: the answer is all that it gets.
    std::function<void(std::string const& line)> send = {};
};
using TicketPtr = std::shared_ptr<Ticket>;

// The answer of a tool: text for the model, or why there is none.
using ToolText = std::expected<std::string, Refusal>;
using ToolDone = std::move_only_function<void(ToolText)>;

[[nodiscard]] inline std::unexpected<Refusal> refused(std::string what) {
    return std::unexpected(Refusal{.what = std::move(what)});
}

}  // namespace dormouse::mcp
