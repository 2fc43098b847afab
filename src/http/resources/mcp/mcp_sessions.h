#pragma once
// The sessions of MCP clients (header Mcp-Session-Id). They hold nothing but the requests that are
// being answered, so that a client can withdraw one, and their streams; an id from before a restart
// is taken up again.
// On the loop.

#include "http/resources/mcp/mcp_streams.h"
#include "mcp/api.h"
#include "mcp/versions.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace dormouse::http {

class McpSessions {
public:
    static constexpr std::size_t sessions_max = 10'000;  // the one unused for longest is forgotten
    static constexpr std::size_t open_requests_max = 100;  // of one session

    // Returns the id of a new session of this caller. `random`: 256 bits as text. The id says how
    // the client asks its user, so that this survives restarts.
    std::string begin(std::string const& owner, std::string_view random,
                      mcp::Abilities const& client = {});
    [[nodiscard]] static mcp::Abilities client_of(std::string_view id);
    // Returns whether the caller may use this id.
    [[nodiscard]] bool use(std::string const& owner, std::string const& id);
    // Returns false if it is not the caller's or has ended.
    bool end(std::string const& owner, std::string const& id);

    // Returns why the request cannot be opened; empty: it is open until close().
    [[nodiscard]] std::string open(std::string const& id, std::string const& request,
                                   mcp::TicketPtr const& ticket);
    void close(std::string const& id, std::string const& request);
    // The client does not want the answer to this request any more.
    void cancel(std::string const& id, std::string const& request);

    [[nodiscard]] McpStreams& streams() { return streams_; }
    [[nodiscard]] std::size_t count() const { return sessions_.size(); }

private:
    struct Session {
        std::string owner;
        std::uint64_t used = 0;
        std::map<std::string, mcp::TicketPtr> open = {};
    };

    void make_place();

    std::map<std::string, Session> sessions_;
    std::set<std::string> ended_;
    McpStreams streams_;
    std::uint64_t uses_ = 0;
};

}  // namespace dormouse::http
