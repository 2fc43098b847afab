// GET and DELETE of /mcp: the stream of the server's own messages, and the end of a session.

#include "http/resources/mcp/handlers.h"
#include "http/resources/mcp/mcp_sessions.h"
#include "mcp/versions.h"

namespace dormouse::http {
namespace {

std::string session_header(Exchange const& x) {
    return std::string(x.request.header("mcp-session-id"));
}

HttpReply no_stream(Exchange const& x) {
    HttpReply reply =
        problem_reply({Code::method_not_allowed, "This version of MCP has no GET."}, x.request);
    reply.headers.emplace_back("Allow", "POST");
    return reply;
}

}  // namespace

// The server has no messages of its own so far: clients get heartbeats.
void get_mcp(Api& api, ExchangePtr const& x) {
    if (x->request.header("mcp-protocol-version") == mcp::stateless_version)
        return x->responder->reply(no_stream(*x));
    if (!x->request.header("accept").contains("text/event-stream"))
        return x->fail(bad_value("Accept", "must be text/event-stream"));
    auto const id = session_header(*x);
    if (!id.empty() && !api.mcp_sessions().use(x->by.name, id)) return x->fail(not_found());
    if (x->request.head_only) return x->empty(200);
    auto const stream = x->responder->stream({});
    // Holds the stream until the client is gone.
    if (stream) stream->on_closed([stream] {});
}

void delete_mcp(Api& api, ExchangePtr const& x) {
    auto const id = session_header(*x);
    if (id.empty()) return x->fail(bad_value("Mcp-Session-Id", "is missing"));
    if (!api.mcp_sessions().end(x->by.name, id)) return x->fail(not_found());
    x->empty(204);
}

}  // namespace dormouse::http
