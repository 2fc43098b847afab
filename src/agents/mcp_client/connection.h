#pragma once
// A foreign MCP server: connects, lists its tools, follows their changes, and calls them. On the
// loop.

#include "agent/tool.h"
#include "base/scope.h"
#include "mcp_client/connection_state.h"
#include "mcp_client/link.h"
#include "mcp_client/tool_list.h"
#include "rpc/peer.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace dormouse::mcp_client {

// All outlive the connection.
struct World {
    port::Processes& processes;
    port::HttpClient& http;
    port::Loop& loop;
    port::Clock const& clock;
};

struct ConnectionEvents {
    std::function<void(std::vector<ForeignTool> const&)>
        listed;  // the whole list, after each change
    // One line for operators.
    std::function<void(std::string const& what)> warn;
    std::function<void()> settled;  // after the first success or failure; once
};

class Connection {
public:
    static constexpr std::size_t messages_per_second_max = 1'000;
    static constexpr std::size_t skipped_max = 100;  // lines that are no JSON-RPC, of one link

    Connection(ServerSettings settings, World world, ConnectionEvents events);
    ~Connection();
    Connection(Connection const&) = delete;
    Connection& operator=(Connection const&) = delete;

    void start();
    // Calls a tool by the server's name of it, when the connection is ready. `done` is called once,
    // perhaps before this returns, and never after the stop.
    agent::StopTool call(std::string tool, Json arguments, port::Fn<void(agent::ToolResult)> done);

    [[nodiscard]] Phase phase() const { return state_.phase(); }
    [[nodiscard]] ServerSettings const& settings() const { return settings_; }

private:
    struct Call {
        std::string tool;
        Json arguments;
        port::Fn<void(agent::ToolResult)> done;
        std::string id = {};  // of the request; empty: not sent yet
    };
    using Number = std::uint64_t;

    void connect();
    [[nodiscard]] LinkEvents link_events();
    [[nodiscard]] rpc::Peer::Listener listener();
    void send(std::string const& line);
    std::string ask(std::string_view method, Json const& params, rpc::Peer::Done done);
    void received(std::string_view bytes);
    [[nodiscard]] bool floods();
    void answer_for(std::string_view id, int code, std::string const& why);
    void fail_soon(std::string why);
    void fail(std::string const& why);
    void initialize();
    void initialized(rpc::Peer::Answer const& answer);
    void list(std::string const& cursor, std::vector<ForeignTool> found, std::size_t pages);
    void list_page(rpc::Peer::Answer const& answer, std::vector<ForeignTool> found,
                   std::size_t pages);
    void listed(std::vector<ForeignTool> const& found);
    void changed();
    void send_call(Number number);
    void answered(Number number, rpc::Peer::Answer const& answer);
    void finish(Number number, agent::ToolResult result);
    void time_over(Number number);
    void stop(Number number);
    void cancel(Call const& call, std::string_view why);
    void warn(std::string const& what) const;
    [[nodiscard]] std::string named(std::string const& what) const;

    ServerSettings const settings_;
    World world_;
    ConnectionEvents events_;
    ConnectionState state_;
    std::unique_ptr<rpc::Peer> peer_;
    std::unique_ptr<Link> link_;
    std::set<std::string> awaited_;  // ids of requests without an answer
    std::string version_;            // of the protocol
    std::map<Number, Call> calls_;
    Number last_ = 0;
    std::uint64_t attempt_ = 0;
    bool failing_ = false;     // fail() is posted
    bool lists_ = false;       // a list is being read
    bool list_again_ = false;  // it has changed meanwhile, or soon after
    std::size_t skipped_ = 0;  // lines that were reported
    Duration second_{};        // the second whose messages are counted
    std::size_t messages_ = 0;
    Duration ready_since_{};
    std::string last_failure_;
    Scope scope_;
};

}  // namespace dormouse::mcp_client
