#pragma once
// A foreign MCP server: connects, lists its tools, follows their changes, and calls them. On the
// loop.

#include "agent/tool.h"
#include "base/scope.h"
#include "mcp_client/connection_state.h"
#include "mcp_client/link.h"
#include "mcp_client/requests/calls.h"
#include "mcp_client/requests/progress.h"
#include "mcp_client/requests/requests.h"
#include "mcp_client/requests/tasks.h"
#include "mcp_client/sign_in/sign_in.h"
#include "mcp_client/tool_list.h"
#include "rpc/peer.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace dormouse::mcp_client {

// All outlive the connection.
struct ConnectionServices {
    port::Processes& processes;
    port::HttpClient& http;
    port::Loop& loop;
    port::Clock const& clock;
    SignInServices sign_ins = {};
    AskModel ask_model = {};                                  // empty: no model answers servers
    std::function<Epoch()> holder = [] { return Epoch(0); };  // as Requests::holder()
};

struct ConnectionEvents {
    std::function<void(std::vector<ForeignTool> const&)>
        listed;  // the whole list, after each change
    // One line for operators.
    std::function<void(std::string const& what)> warn;
    std::function<void()> settled;  // after the first success or failure; once
    Progress::Report progress;      // of a call
};

class Connection final : private Requests {
public:
    static constexpr std::size_t messages_per_second_max = 1'000;
    static constexpr std::size_t skipped_max = 100;  // lines that are no JSON-RPC, of one link

    Connection(ServerSettings settings, ConnectionServices services, ConnectionEvents events);
    ~Connection() override;
    Connection(Connection const&) = delete;
    Connection& operator=(Connection const&) = delete;

    void start();
    [[nodiscard]] Calls& calls() { return calls_; }
    [[nodiscard]] Tasks& tasks() { return tasks_; }

    [[nodiscard]] Phase phase() const { return state_.phase(); }
    // For operators.
    [[nodiscard]] port::ForeignServer shown() const;
    [[nodiscard]] ServerSettings const& settings() const { return settings_; }
    // Null: people do not sign in to this server.
    [[nodiscard]] SignIn* sign_in() { return sign_in_.get(); }
    // Returns true if it has connected or failed once.
    [[nodiscard]] bool settled() const { return state_.settled(); }
    // The newest list.
    [[nodiscard]] std::vector<ForeignTool> const& tools() const { return tools_; }
    // Returns the capabilities of the last connection that was ready.
    [[nodiscard]] Abilities const& abilities() const override { return abilities_; }

private:
    void connect();
    [[nodiscard]] LinkEvents link_events();
    [[nodiscard]] rpc::Peer::Listener listener();
    void send(std::string const& line);
    std::string ask(Ask const& what, rpc::Peer::Done done) override;
    void cancel(std::string const& id, std::string_view why) override;
    void respond(Json const& id, Json const& result) override;
    void refuse(Json const& id, int code, std::string const& why) override;
    [[nodiscard]] bool sampling() const override { return settings_.sampling; }
    [[nodiscard]] bool ready() const override { return state_.ready() && !failing_; }
    [[nodiscard]] Epoch holder() const override { return services_.holder(); }
    [[nodiscard]] ForeignTool const* tool(std::string const& name) const override;
    [[nodiscard]] std::string named(std::string const& what) const override;
    [[nodiscard]] std::string const& last_failure() const override { return last_failure_; }
    [[nodiscard]] std::string sign_in_page() const override;
    void sign_in_changed();
    void request(std::string const& method, Json const& id, Json const& params);
    void notification(std::string const& method, json::View params);
    void received(std::string_view bytes, std::string_view id);
    void limit(std::string const& id, Duration time);
    [[nodiscard]] bool floods();
    void answer_for(std::string_view id, int code, std::string const& why);
    void fail_soon(std::string why);
    void fail(std::string const& why);
    void initialize();
    void initialized(rpc::Peer::Answer const& answer);
    void discover(std::string const& why);
    void read_again();
    void list(std::string const& cursor, std::vector<ForeignTool> found, std::size_t pages);
    void list_page(rpc::Peer::Answer const& answer, std::vector<ForeignTool> found,
                   std::size_t pages);
    void listed(std::vector<ForeignTool> const& found);
    void changed();
    void listen(bool again);
    void warn(std::string const& what) const;

    ServerSettings const settings_;
    ConnectionServices services_;
    ConnectionEvents events_;
    ConnectionState state_;
    std::unique_ptr<TokenSource> own_tokens_;
    std::unique_ptr<SignIn> sign_in_;
    std::unique_ptr<rpc::Peer> peer_;
    std::unique_ptr<Link> link_;
    std::set<std::string> awaited_;  // ids of requests without an answer
    std::string inside_;             // the request whose answer is read; empty: unknown
    Abilities abilities_;
    std::vector<ForeignTool> tools_;  // the newest list
    Duration list_lifetime_{};
    Progress progress_;
    Tasks tasks_;
    Calls calls_;
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
