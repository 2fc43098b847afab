#pragma once
// The sessions of MCP clients (header Mcp-Session-Id). They hold nothing but the requests that are
// being answered, so that a client can withdraw one, and their streams; an id from before a restart
// or of another server is taken up.
// On the loop.

#include "http/resources/mcp/mcp_marks.h"
#include "http/resources/mcp/mcp_streams.h"
#include "mcp/api.h"
#include "mcp/versions.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::http {

class McpSessions {
public:
    static constexpr std::size_t sessions_max = 10'000;  // the one unused for longest is forgotten
    static constexpr std::size_t open_requests_max = 100;  // of one session

    // Returns the id of a new session of this caller. `random`: 256 bits as text. The id says whose
    // it is and how the client asks its user, so that this survives restarts.
    std::string begin(std::string const& owner, std::string_view random,
                      mcp::Abilities const& client = {});
    [[nodiscard]] static mcp::Abilities client_of(std::string_view id);
    // Returns whether the caller may use this id.
    [[nodiscard]] bool use(std::string const& owner, std::string const& id);
    // Ends its requests and streams. Returns false if it is not the caller's or has ended.
    bool end(std::string const& owner, std::string const& id);

    // Returns why the request cannot be opened; empty: it is open until close(). `after`: the
    // number of the newest withdrawal before it (McpMarks).
    [[nodiscard]] std::string open(std::string const& id, std::string const& request,
                                   mcp::TicketPtr const& ticket, std::uint64_t after = 0);
    void close(std::string const& id, std::string const& request);
    // The client does not want the answer to this request any more.
    void cancel(std::string const& id, std::string const& request);
    // The session's end closes this stream, which answers no request.
    void listen(std::string const& id, std::shared_ptr<EventStream> const& stream);

    // Returns the buckets (McpMarks) of the sessions with an open request or stream.
    [[nodiscard]] std::set<std::string> buckets() const;
    // Ends the sessions and requests of this bucket that have ended or were withdrawn elsewhere.
    void apply(std::string const& bucket, McpMarks const& marks);

    [[nodiscard]] McpStreams& streams() { return streams_; }
    [[nodiscard]] std::size_t count() const { return sessions_.size(); }

private:
    struct Request {
        mcp::TicketPtr ticket;
        std::uint64_t after = 0;
    };
    struct Session {
        std::string key;
        std::uint64_t used = 0;
        std::map<std::string, Request> open = {};
        std::vector<std::weak_ptr<EventStream>> listeners = {};
        [[nodiscard]] bool waits() const;
    };

    void take_up(std::string const& id);
    void make_place();
    void finish(std::string const& id);

    std::map<std::string, Session> sessions_;
    std::set<std::string> ended_;
    std::deque<std::string> ended_in_order_;
    McpStreams streams_;
    std::uint64_t uses_ = 0;
};

}  // namespace dormouse::http
