// The driver does not depend on the version of the protocol: it runs here with a dialect that
// differs where the draft of version 2 does. There, a prompt is answered at once and its end is a
// change of state; a tool call starts with its first update; session/resume replays the past.
#include "acp/testing/driver_fixture.h"

#include "rpc/peer.h"

#include <gtest/gtest.h>

namespace dormouse::acp {
namespace {

using namespace session;
using testing::DriverTest;

class Drafted final : public Dialect {
public:
    explicit Drafted(Listener listener) : listener_(std::move(listener)) {}

    [[nodiscard]] bool receive(std::string_view bytes) override { return rpc_.receive(bytes); }
    void close() override {
        rpc_.close();
        end(std::unexpected(Refusal{Refusal::Why::gone, "", ""}));
    }
    [[nodiscard]] std::string last_invalid_line() const override { return rpc_.skipped_line(); }
    [[nodiscard]] std::string version() const override { return "2"; }

    void greet(Then<Hello> then) override {
        call("initialize", "{}", std::move(then), [](json::View result) {
            Hello out{.name = result["info"]["name"].string_or("")};
            out.can.load = out.can.resume = true;
            return out;
        });
    }
    void open(Place const&, Then<Opened> then) override {
        call("session/new", "{}", std::move(then),
             [](json::View result) { return Opened{result["sessionId"].string_or("")}; });
    }
    void take_up(std::string const& session, Place const&, bool with_past,
                 Then<Opened> then) override {
        call("session/resume", with_past ? R"({"replayFrom":{"type":"start"}})" : "{}",
             std::move(then), [session](json::View) { return Opened{session}; });
    }
    void prompt(std::string const&, std::vector<Block> const& blocks, session::TraceHeaders const&,
                Then<TurnEnd> then) override {
        end_ = std::move(then);
        json::Writer out;
        out.begin_array();
        for (Block const& block : blocks) out.value(block.text);
        rpc_.call("session/prompt", out.end_array().json(), [this](rpc::Peer::Answer answer) {
            if (!answer) end(std::unexpected(refusal_of(answer.error())));
        });
    }
    void cancel(std::string const&) override { rpc_.notify("session/cancel", Json()); }
    void answer(std::uint64_t, Decision decision) override {
        rpc_.respond(question_, Json::trusted(decision == Decision::allowed ? "true" : "false"));
    }
    void sign_in(std::string const&, Then<void> then) override { then({}); }
    void list(std::string const&, std::string const&, Then<Listed> then) override { then({}); }
    void set_mode(std::string const&, std::string const&, Then<void> then) override { then({}); }
    void set_option(std::string const&, std::string const&, Json const&, Then<void> then) override {
        then({});
    }
    void close_session(std::string const&, Then<void> then) override { then({}); }
    void remove_session(std::string const&, Then<void> then) override { then({}); }

private:
    static Refusal refusal_of(rpc::Fault const& error) {
        bool const gone = error.code == rpc::code::closed;
        return {gone ? Refusal::Why::gone : Refusal::Why::other, error.message, ""};
    }
    template <class T>
    void call(std::string_view method, std::string params, Then<T> then, auto const& read) {
        rpc_.call(method, Json::trusted(std::move(params)),
                  [then = std::move(then), read](rpc::Peer::Answer answer) mutable {
                      if (!answer) return then(std::unexpected(refusal_of(answer.error())));
                      then(read(json::View(*answer)));
                  });
    }
    void end(Answer<TurnEnd> how) {
        if (end_) std::exchange(end_, {})(std::move(how));
    }
    void hear(json::View update) {
        std::string const kind = update["sessionUpdate"].string_or("");
        if (kind == "agent_message") listener_.on_update(AgentText{update["text"].string_or("")});
        if (kind == "user_message") listener_.on_update(UserText{update["text"].string_or("")});
        if (kind == "tool_call_update")
            listener_.on_update(ToolChange{.id = update["toolCallId"].string_or(""),
                                           .status = session::parse<session::AgentToolStatus>(
                                               update["status"].string_or(""))});
        if (kind != "state_update" || update["state"].string_or("") != "idle") return;
        bool const cancelled = update["stopReason"].string_or("") == "cancelled";
        end(TurnEnd{cancelled ? session::FinishReason::cancelled : session::FinishReason::stop,
                    {}});
    }

    Listener const listener_;
    Then<TurnEnd> end_;
    Json question_;
    rpc::Peer rpc_{{[this](std::string const& line) { listener_.write(line); },
                    [this](std::string const&, Json id, Json const&) {
                        question_ = std::move(id);
                        listener_.on_question(
                            {.number = 1, .call = "t1", .kind = "execute", .title = ""});
                    },
                    [this](std::string const&, Json const& params) { hear(json::View(params)); }}};
};

class DialectTest : public DriverTest {
protected:
    DialectTest() {
        own.dialect = [](Dialect::Listener listener) {
            return std::make_unique<Drafted>(std::move(listener));
        };
        agents = std::make_unique<ExternalAgents>(own, processes, loop);
    }
    void start(std::uint32_t attempt = 1) {
        prompt("hello", attempt);
        processes.answer("initialize", R"({"info":{"name":"drafted"}})");
    }
    void says(std::string const& update) {
        processes.say(R"({"jsonrpc":"2.0","method":"session/update","params":)" + update + "}");
    }
};

TEST_F(DialectTest, Turn_AgentReportsIdle_Ends) {
    start();
    processes.answer("session/new", R"({"sessionId":"s1"})");
    EXPECT_EQ(taken(), "attach:new:s1");
    processes.answer("session/prompt", "{}");
    EXPECT_EQ(taken(), "") << "only accepted, not ended";
    says(R"({"sessionUpdate":"state_update","state":"running"})");
    says(R"({"sessionUpdate":"agent_message","text":"Hi"})");
    says(R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"in_progress"})");
    EXPECT_EQ(taken(), "output1 output2") << "the text, and a tool call without an announcement";
    says(R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"})");
    says(R"({"sessionUpdate":"agent_message","text":"done"})");
    EXPECT_EQ(streamed, "Hidone");
    says(R"({"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"})");
    EXPECT_EQ(taken(), R"(output3 reply:stop:3:[{"type":"text","text":"done"}])");
    prompt("more");
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt session/prompt");
}

TEST_F(DialectTest, Questions_CancelsAndDeaths_WorkAsInVersionOne) {
    start();
    processes.answer("session/new", R"({"sessionId":"s1"})");
    processes.answer("session/prompt", "{}");
    (void)taken();
    processes.say(R"({"jsonrpc":"2.0","id":9,"method":"permission","params":{}})");
    EXPECT_EQ(taken(), "ask1:acp:execute:null");
    agents->notify(session, {1, 1, true, false});
    EXPECT_EQ(last_line(), R"({"jsonrpc":"2.0","id":9,"result":true})");
    agents->stop(session, {101, 0});
    prompt("next", 2);
    EXPECT_EQ(prompted().find("next"), std::string::npos) << "it has not stopped yet";
    says(R"({"sessionUpdate":"state_update","state":"idle","stopReason":"cancelled"})");
    loop.run();
    EXPECT_NE(prompted().find("next"), std::string::npos);
    processes.answer("session/prompt", "{}");
    processes.die();
    EXPECT_EQ(taken(), "died:agent_crashed");
}

TEST_F(DialectTest, Resume_ReplaysThePast) {
    context.acp_session = "s1";
    start(2);
    EXPECT_NE(last_line().find(R"("session/resume","params":{"replayFrom":{"type":"start"}})"),
              std::string::npos);
    says(R"({"sessionUpdate":"user_message","text":"hello <!-- )" + marker_of(session, 1, 1) +
         R"(1 -->"})");
    processes.answer("session/resume", "{}");
    EXPECT_EQ(taken(), "attach:load:s1");
    EXPECT_NE(prompted().find("Continue where you stopped"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::acp
