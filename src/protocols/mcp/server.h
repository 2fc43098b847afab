#pragma once
// A Model Context Protocol server on standard input and output: it offers the tools of one session
// to the external agent of that session. Slow tools are started and answered at once; their outcome
// is a later prompt of the session. Has no state that the server does not have.

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

    // Runs until the client closes its input.
    void run();

private:
    using Instant = std::chrono::steady_clock::time_point;
    using Result = std::expected<Json, rpc::Fault>;
    using ToolText = Outcome<std::string>;

    struct Tool {
        std::string name;    // the server's name of it
        bool keyed = false;  // `key` is our argument, not the tool's
    };
    // A call that waits for a task.
    struct Waiting {
        Json id;
        std::string task;
        Instant until;
    };

    void take(rpc::Line const& line);
    // Returns "" if there is no answer, or not yet.
    [[nodiscard]] std::string answer(rpc::Message const& message);
    [[nodiscard]] Result answer_request(rpc::Message const& message);
    [[nodiscard]] Result initialize(json::View params);
    [[nodiscard]] Result list_tools();
    [[nodiscard]] Outcome<void> read_tools(json::Writer& out);
    // nullopt: the answer is sent when the task has ended.
    [[nodiscard]] std::optional<Result> call_tool(Json const& id, json::View params);
    [[nodiscard]] ToolText call_durable(Tool const& tool, json::View arguments);
    [[nodiscard]] ToolText call_own(std::string_view name, json::View arguments);
    [[nodiscard]] ToolText start_task(json::View arguments);
    [[nodiscard]] ToolText resume_task(json::View arguments);
    [[nodiscard]] ToolText cancel_tasks(json::View arguments);
    [[nodiscard]] ToolText clear_tasks();
    [[nodiscard]] ToolText list_tasks(json::View arguments);
    [[nodiscard]] ToolText broadcast(json::View arguments);
    [[nodiscard]] ToolText inbox(json::View arguments);
    [[nodiscard]] ToolText mail_status(json::View arguments);
    [[nodiscard]] ToolText report_progress(json::View arguments);
    [[nodiscard]] ToolText history(json::View arguments);
    [[nodiscard]] ToolText task_output(std::string const& task);
    [[nodiscard]] Outcome<Json> tasks();
    void check_waiting();

    McpSettings settings_;
    Client& client_;
    Stdio& stdio_;
    std::map<std::string, Tool> tools_;  // durable tools, by the name they are offered under
    bool read_ = false;                  // tools_ is filled in
    std::vector<Waiting> waiting_;
};

}  // namespace dormouse::mcp
