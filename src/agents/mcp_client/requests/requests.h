#pragma once
// Sends the requests of calls and tasks to their server. On the loop.

#include "mcp_client/abilities.h"
#include "mcp_client/tool_list.h"
#include "rpc/peer.h"

#include <functional>
#include <string>
#include <string_view>

namespace dormouse::mcp_client {

struct Ask {
    std::string_view method;
    Json params;                       // an object without `_meta`
    std::string progress = {};         // token of its notifications of progress; empty: none
    session::TraceHeaders trace = {};  // `_meta.traceparent` and `_meta.tracestate`
    // After it there is the answer code_lost in place of the server's. max(): the owner has a limit
    // of its own.
    Duration limit{60'000};
};

class Requests {
public:
    virtual ~Requests() = default;
    // No answer comes before this returns; one always comes, if only when the connection ends.
    // Returns the request's id. REQUIRES: ready().
    virtual std::string ask(Ask const& what, rpc::Peer::Done done) = 0;
    // Withdraws a request of ours: nobody waits for its answer any more.
    virtual void cancel(std::string const& id, std::string_view why) = 0;
    // Answers a request of the server.
    virtual void respond(Json const& id, Json const& result) = 0;
    virtual void refuse(Json const& id, int code, std::string const& why) = 0;

    [[nodiscard]] virtual bool ready() const = 0;
    // The epoch of this process, which alone has the connection; 0: no other process uses the
    // store.
    [[nodiscard]] virtual Epoch holder() const = 0;
    // Returns true if the server may ask the agent's model.
    [[nodiscard]] virtual bool sampling() const = 0;
    [[nodiscard]] virtual Abilities const& abilities() const = 0;
    // The tool of the newest list; nullptr: it is not in it.
    [[nodiscard]] virtual ForeignTool const* tool(std::string const& name) const = 0;
    // The text with the server's name in front.
    [[nodiscard]] virtual std::string named(std::string const& what) const = 0;
    // Empty: none.
    [[nodiscard]] virtual std::string const& last_failure() const = 0;
    // Where a person signs in, without which the server does nothing; empty: nobody needs to.
    [[nodiscard]] virtual std::string sign_in_page() const = 0;
};

// Besides those of the peer: the link makes an answer in place of the server.
inline constexpr int code_refused = -2;  // the server has not acted on the request
inline constexpr int code_lost = -3;     // it may have

}  // namespace dormouse::mcp_client
