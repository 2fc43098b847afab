// GET and DELETE of /mcp: the stream of the server's own messages, and the end of a session.

#include "http/resources/mcp/handlers.h"
#include "http/resources/mcp/mcp_sessions.h"
#include "http/resources/mcp/mcp_shared.h"
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

Error not_kept() {
    return {Code::history_gone,
            "The events after this Last-Event-ID are no longer kept. Send the request again."};
}

// Continues the stream of an earlier request behind the event that the client saw last.
void resume(Api& api, ExchangePtr const& x, std::string const& session, std::string_view event) {
    auto const place = api.mcp_sessions().streams().find(session, event);
    if (!place) return x->fail(bad_value("Last-Event-ID", "must be the id of an event"));
    if (!place->stream || !place->stream->keeps(place->seen)) return x->fail(not_kept());
    if (auto const stream = x->responder->stream({})) place->stream->attach(stream, place->seen);
}

// The server has no messages of its own so far: clients get heartbeats until the session ends.
void open_stream(Api& api, ExchangePtr const& x, std::string const& session) {
    if (x->request.head_only) return x->empty(200);
    auto const seen = x->request.header("last-event-id");
    if (!seen.empty()) return resume(api, x, session, seen);
    auto const stream = x->responder->stream({});
    if (!stream) return;
    // Holds the stream until the client is gone.
    stream->on_closed([stream] {});
    api.mcp_sessions().listen(session, stream);
    api.mcp_shared().follow();
}

}  // namespace

void get_mcp(Api& api, ExchangePtr const& x) {
    if (x->request.header("mcp-protocol-version") == mcp::stateless_version)
        return x->responder->reply(no_stream(*x));
    if (!x->request.header("accept").contains("text/event-stream"))
        return x->fail(bad_value("Accept", "must be text/event-stream"));
    auto const id = session_header(*x);
    if (id.empty()) return open_stream(api, x, id);
    api.mcp_shared().use(x->by.name, id, [&api, x, id](Result<std::uint64_t> const& used) {
        used ? open_stream(api, x, id) : x->fail(used.error());
    });
}

void delete_mcp(Api& api, ExchangePtr const& x) {
    auto const id = session_header(*x);
    if (id.empty()) return x->fail(bad_value("Mcp-Session-Id", "is missing"));
    api.mcp_shared().end(x->by.name, id, [x](Result<void> const& ended) {
        ended ? x->empty(204) : x->fail(ended.error());
    });
}

}  // namespace dormouse::http
