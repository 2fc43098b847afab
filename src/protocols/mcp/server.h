#pragma once
// The Model Context Protocol's server side on standard input and output: the tools that one session
// has, for the program that is its agent. Tools that take long are started and answered at once;
// what becomes of them is a later prompt of the session. It holds nothing that the server does not.

#include "cli/client/client.h"
#include "cli/client/stdio.h"
#include "json/json.h"

#include <chrono>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::mcp {

using cli::Client;
using cli::Outcome;
using cli::Stdio;

struct McpSettings {
    std::string session;
    std::string version;
};

class McpServer {
public:
    McpServer(McpSettings settings, Client& client, Stdio& stdio)
        : settings_(std::move(settings)), client_(client), stdio_(stdio) {}

    // Until the program closes its end.
    void run();

private:
    using Instant = std::chrono::steady_clock::time_point;
    using Result = std::expected<Json, rpc::Fault>;
    using Said = Outcome<std::string>;

    struct Tool {
        std::string name;    // as the server knows it
        bool keyed = false;  // `key` is ours, not the tool's
    };
    // A call that asked to wait for a task.
    struct Waiting {
        Json id;
        std::string task;
        Instant until;
    };

    void take(rpc::Line const& line);
    // Empty: there is nothing to answer yet, or ever.
    [[nodiscard]] std::string answer(rpc::Message const& message);
    [[nodiscard]] Result answer_request(rpc::Message const& message);
    [[nodiscard]] Result initialize(json::View params);
    [[nodiscard]] Result list_tools();
    [[nodiscard]] Outcome<void> read_tools(json::Writer& out);
    // nullopt: the answer comes when what it waits for has ended.
    [[nodiscard]] std::optional<Result> call_tool(Json const& id, json::View params);
    [[nodiscard]] Said call_durable(Tool const& tool, json::View arguments);
    [[nodiscard]] Said call_own(std::string_view name, json::View arguments);
    [[nodiscard]] Said start_task(json::View arguments);
    [[nodiscard]] Said resume_task(json::View arguments);
    [[nodiscard]] Said cancel_tasks(json::View arguments);
    [[nodiscard]] Said clear_tasks();
    [[nodiscard]] Said list_tasks(json::View arguments);
    [[nodiscard]] Said broadcast(json::View arguments);
    [[nodiscard]] Said inbox(json::View arguments);
    [[nodiscard]] Said mail_status(json::View arguments);
    [[nodiscard]] Said report_progress(json::View arguments);
    [[nodiscard]] Said history(json::View arguments);
    [[nodiscard]] Said task_output(std::string const& task);
    [[nodiscard]] Outcome<Json> tasks();
    void look_at_waiting();

    McpSettings settings_;
    Client& client_;
    Stdio& stdio_;
    std::map<std::string, Tool> tools_;  // durable ones, by the name that they are offered under
    bool read_ = false;                  // tools_ is filled in
    std::vector<Waiting> waiting_;
};

}  // namespace dormouse::mcp
