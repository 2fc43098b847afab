#pragma once
// A connection to a server that a test plays.

#include "acp/testing/fakes.h"
#include "mcp_client/connection.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dormouse::mcp_client::testing {

using acp::testing::FakeLoop;
using acp::testing::FakePort;
using acp::testing::FakeProcesses;

class FakeClock final : public port::Clock {
public:
    [[nodiscard]] Time now() const override { return {}; }
    [[nodiscard]] Duration monotonic() const override { return time; }
    Duration time{};
};

inline constexpr auto tools_a = R"({"tools":[{"name":"a","inputSchema":{"type":"object"}}]})";

class ConnectionTest : public ::testing::Test {
protected:
    explicit ConnectionTest(ServerSettings settings = {.name = "s",
                                                       .argv = {"server"},
                                                       .message_max = 2'000})
        : connection(std::move(settings),
                     {processes,
                      http,
                      loop,
                      clock,
                      {},
                      [this](std::string const&, agent::Question question, auto done) {
                          questions.push_back(std::move(question));
                          model_done = std::move(done);
                          return agent::StopTool([this] { ++models_stopped; });
                      },
                      [this] { return holder; }},
                     {.listed = [this](auto const& tools) { lists.push_back(tools.size()); },
                      .warn = [this](std::string const& line) { warnings.push_back(line); },
                      .settled = [this] { ++settled; },
                      .progress =
                          [this](PendingId const& call, Json const& payload) {
                              reports.push_back(std::to_string(call.call) + " " +
                                                std::string(payload.text()));
                          }}) {}
    void connect() { connect_as(R"({"protocolVersion":"2025-06-18"})", tools_a); }
    // As the server answers `initialize` and `tools/list`.
    void connect_as(std::string const& initialized, std::string const& tools) {
        connection.start();
        processes.answer("initialize", initialized);
        processes.answer("tools/list", tools);
        loop.run();
    }
    void pass(Duration time) {
        clock.time += time;
        loop.pass(time);
    }
    agent::StopTool call(std::string const& tool = "a") {
        agent::ToolCall what{.pending = {SessionId{}, 7, generation},
                             .input = Json::trusted(R"({"x":1})")};
        what.tool = tool;
        what.decision = decision;
        what.state = state;
        what.may_start = agent::MayStart([this] { return [this] { return may_start; }; });
        return connection.calls().start(std::move(what), [this](agent::ToolResult const& result) {
            results.push_back(words_of(result));
        });
    }
    agent::StopTool poll(std::string const& task) {
        agent::PollCall what{.pending = {SessionId{}, 7, generation}, .external_ref = task};
        what.state = state;
        what.may_start = agent::MayStart([this] { return [this] { return may_start; }; });
        return connection.tasks().poll(what, [this](agent::PollResult const& result) {
            if (auto const* done = std::get_if<agent::Done>(&result))
                return results.push_back(std::string(done->output.text()));
            if (auto const* pause = std::get_if<session::PauseTerms>(&result))
                return results.push_back(words_of(*pause));
            auto const* failed = std::get_if<session::Failed>(&result);
            results.push_back(failed ? "failed: " + failed->message
                                     : "not yet: " + std::get<session::NotYet>(result).error);
        });
    }
    // The pause of the call was settled.
    void close(session::SubmissionKind kind = session::SubmissionKind::cancel) {
        session::Receipt receipt;
        receipt.pending = {SessionId{}, 7, generation};
        receipt.kind = kind;
        connection.tasks().closed(receipt);
    }
    void delete_session() {
        connection.calls().deleted(SessionId{});
        connection.tasks().deleted(SessionId{});
    }
    // A person's decision of the pause; the call continues with it.
    agent::StopTool go_on(bool approved, std::string const& content = "") {
        session::Submission what;
        what.kind = session::SubmissionKind::decision;
        what.approved = approved;
        if (!content.empty()) what.content = Json::trusted(content);
        close(what.kind);
        decision = what;
        ++generation;
        auto stop = call();
        decision.reset();
        return stop;
    }
    [[nodiscard]] std::string last_line() { return processes.newest().lines.back(); }
    std::string words_of(agent::ToolResult const& result) {
        if (auto const* done = std::get_if<agent::Done>(&result))
            return std::string(done->output.text());
        if (auto const* failed = std::get_if<session::Failed>(&result))
            return "failed: " + failed->message;
        if (auto const* pause = std::get_if<session::PauseTerms>(&result)) {
            state = pause->state;
            return pause->external_ref.empty() ? "asks: " + pause->message
                                               : "waits for task " + pause->external_ref;
        }
        return "in doubt: " + std::get<session::InDoubt>(result).message;
    }

    FakeLoop loop;
    FakeProcesses processes;
    FakePort http;
    FakeClock clock;
    // The answer of a person to the pause of the next call, and the pause's state.
    std::optional<session::Submission> decision;
    Json state;
    Generation generation = 1;
    std::vector<agent::Question> questions;  // to the agent's model
    port::Fn<void(agent::ModelOutcome)> model_done;
    int models_stopped = 0;
    Epoch holder = 0;  // of this process
    bool may_start = true;
    std::vector<std::size_t> lists;
    std::vector<std::string> warnings, results, reports;
    int settled = 0;
    Connection connection;
};

}  // namespace dormouse::mcp_client::testing
