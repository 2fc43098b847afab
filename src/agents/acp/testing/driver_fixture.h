#pragma once
// A driver with a scripted agent, and its reports as short texts.

#include "acp/testing/fakes.h"

#include <gtest/gtest.h>

namespace dormouse::acp::testing {

using namespace session;

inline constexpr auto default_options =
    R"([{"optionId":"a","kind":"allow_always"},{"optionId":"b","kind":"allow_once"},)"
    R"({"optionId":"c","kind":"reject_once"}])";

inline Settings settings() {
    Settings out;
    out.agent = "fake";
    out.argv = {"/bin/agent"};
    out.environment = {"KEY=s3cr3t-value"};
    out.secrets = {"s3cr3t-value"};
    out.wants = {"OTHER_KEY"};
    out.password_variable = "PASSWORD";
    out.folder = [](std::string const& cwd) -> Result<std::string> {
        if (cwd == "/etc") return fail(Code::bad_value, "cwd is outside of the agent's roots");
        return cwd.empty() ? "/srv" : cwd;
    };
    out.random = [] { return std::string("random"); };
    out.mcp_servers = [](SessionId const&) {
        return std::vector<McpServer>{{"dormouse", "/bin/dm", {"mcp"}, {{"A", "b"}}}};
    };
    return out;
}

class DriverTest : public ::testing::Test {
protected:
    // Sends the prompt of step 1 of turn 1; `said` collects what it leads to.
    void prompt(std::string const& text = "hello", std::uint32_t attempt = 1) {
        port::ModelRequest request;
        request.session = session;
        request.agent = "fake";
        request.ask = {1, 1, attempt, 9, 0, true};
        request.id = {100 + attempt, 0};
        context.again = attempt > 1;
        context.began = began;
        request.external = context;
        for (ViewMessage const& message : past) request.view.messages.push_back(message);
        request.view.messages.push_back(message_of(ViewMessage::Role::user, text, 9));
        agent::ExternalAgent::Start start{
            agent::MayStart(
                [this] { return [this, own = permission] { return may_start && *own; }; }),
            [this] { add("not_begun"); }};
        agents->prompt(
            std::move(request), std::move(start),
            [this](port::Delta delta) { streamed += delta.text; },
            [this](Command::Body body) { take(std::move(body)); });
        loop.run();
    }
    static ViewMessage message_of(ViewMessage::Role role, std::string const& text, Seq seq) {
        return {role,
                InputSource::prompt,
                Json::trusted(R"([{"type":"text","text":")" + text + "\"}]"),
                {},
                seq};
    }
    void take(Command::Body body) {
        if (auto const* c = std::get_if<AgentAttach>(&body)) {
            context.acp_session = c->acp_session;
            attached_mode = c->mode;
            add("attach:" + c->how + ":" + c->acp_session +
                (c->history_repeated ? ":with_history" : ""));
        } else if (auto const* c = std::get_if<AgentReport>(&body)) {
            add("output" + std::to_string(c->number) + (c->by_itself ? ":by_itself" : ""));
        } else if (auto const* c = std::get_if<AgentAsk>(&body)) {
            last_ask = *c;
            add("ask" + std::to_string(c->spec.ask) + ":" + c->spec.tool + ":" +
                std::string(c->spec.input.text()));
        } else if (auto const* c = std::get_if<AgentReply>(&body)) {
            last_usage = c->usage;
            last_spent = c->spent;
            add("reply:" + std::string(session::text(c->finish)) + ":" +
                std::to_string(c->updates) +
                (c->last ? ":" + std::string(c->last->body.text()) : ""));
        } else if (auto const* c = std::get_if<AgentFailure>(&body)) {
            bool const died = c->how == AgentFailure::How::died;
            add((died ? "died:" : "refused:") + c->error.code);
            why = c->error.message;
        }
    }
    void add(std::string const& word) { events += (events.empty() ? "" : " ") + word; }
    std::string taken() { return std::exchange(events, {}); }
    // Answers `initialize`.
    void ready(std::string const& capabilities = R"({"loadSession":true})") {
        processes.answer("initialize", R"({"protocolVersion":1,"agentCapabilities":)" +
                                           capabilities +
                                           R"(,"agentInfo":{"name":"fake","version":"1"}})");
    }
    void attach() {
        ready();
        processes.answer("session/new", R"({"sessionId":"s1"})");
    }
    void update(std::string const& body, std::string const& of = "s1") {
        processes.say(R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":")" + of +
                      R"(","update":)" + body + "}}");
    }
    void chunk(std::string const& text, std::string const& kind = "agent_message_chunk") {
        update(R"({"sessionUpdate":")" + kind + R"(","content":{"type":"text","text":")" + text +
               "\"}}");
    }
    void asks(std::string const& options) {
        processes.say(R"({"jsonrpc":"2.0","id":77,"method":"session/request_permission","params":)"
                      R"({"sessionId":"s1","toolCall":{"toolCallId":"t1","kind":"execute",)"
                      R"("title":"rm","rawInput":{"a":1}},"options":)" +
                      options + "}}");
    }
    std::string last_line() { return processes.newest().lines.back(); }
    // Returns the text of the newest session/prompt.
    std::string prompted() {
        auto const& lines = processes.newest().lines;
        for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
            if (line->find("session/prompt") != std::string::npos) return *line;
        }
        return "";
    }

    SessionId session = SessionId::make(7, {1});
    Time began = from_ms(1'795'290'000'000);  // 2026-11-21T19:40:00Z
    FakeLoop loop;
    FakeProcesses processes;
    Settings own = settings();
    std::unique_ptr<ExternalAgents> agents = std::make_unique<ExternalAgents>(own, processes, loop);
    AgentContext context;
    std::vector<ViewMessage> past;
    bool may_start = true;                                            // a prompt that waits
    std::shared_ptr<bool> permission = std::make_shared<bool>(true);  // of the next prompt alone
    std::string events, streamed, why, attached_mode;
    AgentAsk last_ask;
    Usage last_usage;
    session::Cost last_spent;
};

}  // namespace dormouse::acp::testing
