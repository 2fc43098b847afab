#pragma once
// The way to a foreign server: lines of JSON-RPC there and back. On the loop.

#include "mcp_client/settings.h"
#include "mcp_client/sign_in/token_source.h"
#include "port/http.h"
#include "port/process.h"
#include "port/world.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace dormouse::mcp_client {

// Called on the loop; may be called while send() runs, but not the destructor's callers.
struct LinkEvents {
    // Whole lines or parts of them. `id`: of the request of ours to which they belong; empty:
    // unknown.
    std::function<void(std::string_view bytes, std::string_view id)> received;
    // No answer to this request of ours will come; the server may have acted on it.
    std::function<void(std::string_view id, std::string const& why)> lost;
    // The server refused this request and has not acted on it.
    std::function<void(std::string_view id, std::string const& why)> refused;
    // The stream of the server's own messages has ended; initialized() opens it again.
    std::function<void()> unheard;
    // The link has ended; nothing comes afterwards.
    std::function<void(std::string const& why)> closed;
};

class Link {
public:
    virtual ~Link() = default;  // ends it without callbacks
    // `line` ends with a line break. `id`: the text of the request's id; empty: it is no request.
    virtual void send(std::string const& line, std::string_view id) = 0;
    // The answer to this request is no longer needed.
    virtual void forget(std::string_view id) = 0;
    // `version`: of the protocol, after initialize.
    virtual void initialized(std::string_view version) = 0;
    // From now on messages are of 2026-07-28: each is complete in itself, and the server sends none
    // of its own.
    virtual void stateless() = 0;
};

// `processes` outlives the link.
[[nodiscard]] std::unique_ptr<Link> make_stdio_link(ServerSettings const& server,
                                                    port::Processes& processes, LinkEvents events);
// `client` and `tokens` outlive the link. `tokens`: null: the server gets none of this kind.
[[nodiscard]] std::unique_ptr<Link> make_http_link(ServerSettings const& server,
                                                   port::HttpClient& client, Tokens* tokens,
                                                   LinkEvents events);

}  // namespace dormouse::mcp_client
