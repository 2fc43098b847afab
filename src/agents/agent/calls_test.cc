#include "agent/calls.h"

#include "agent/catalogue.h"
#include "agent/demo.h"

#include <gtest/gtest.h>

namespace dormouse::agent {
namespace {

using namespace session;

ViewMessage assistant_text(std::string const& text) {
    ViewMessage message;
    message.parts = Json::trusted(R"([{"type":"text","text":)" + text + "}]");
    return message;
}

ViewMessage called(ViewCall call) {
    ViewMessage message;
    message.role = ViewMessage::Role::assistant;
    message.parts = Json::trusted("[]");
    message.calls.push_back(std::move(call));
    return message;
}

std::string const tool_request = R"("{\"tool\":\"deploy\",\"input\":{\"target\":\"A\"}}")";

ViewCall deploy() {
    ViewCall call;
    call.call = 1;
    call.tool = "deploy";
    call.input = Json::trusted(R"({"target":"A"})");
    return call;
}

TEST(CallModel, RequestedCall_IsMadeOnce) {
    CallModel const model;
    ModelView view;
    view.messages = {assistant_text(tool_request)};
    auto const first = model.reply(view);
    ASSERT_EQ(first.calls.size(), 1U);
    EXPECT_EQ(first.calls[0].tool, "deploy");
    EXPECT_EQ(first.calls[0].input.text(), R"({"target":"A"})");
    auto open = deploy();
    open.open = true;
    view.messages.push_back(called(open));
    auto const meanwhile = model.reply(view);
    EXPECT_TRUE(meanwhile.calls.empty());
    EXPECT_EQ(meanwhile.text, "");
}

TEST(CallModel, Outcome_IsReportedWithToolAndArguments) {
    CallModel const model;
    ModelView view;
    auto done = deploy();
    done.output = Json::trusted(R"({"url":"x"})");
    view.messages = {assistant_text(tool_request), called(done)};
    EXPECT_EQ(model.reply(view).text, R"(The result of deploy {"target":"A"} is: {"url":"x"})");
    done.output = Json::trusted(R"("a \"word\"")");
    view.messages.back() = called(done);
    EXPECT_EQ(model.reply(view).text, R"(The result of deploy {"target":"A"} is: a "word")");
    done.error = ErrorReason::denied;
    done.error_text = "denied: no";
    view.messages.back() = called(done);
    EXPECT_EQ(model.reply(view).text, R"(The call deploy {"target":"A"} failed: denied: no)");
}

TEST(CallModel, OtherPrompt_ExplainsItself) {
    ModelView view;
    view.messages = {assistant_text(R"("hello")")};
    auto const reply = CallModel().reply(view);
    EXPECT_TRUE(reply.calls.empty());
    EXPECT_NE(reply.text.find("one call"), std::string::npos);
}

TEST(CallAgents, CallAgents_HaveTheToolsOfTheirAgentAndAreHidden) {
    Registry registry;
    add_demo_agents(registry);
    Agent small;
    small.id = "small";
    small.tools = {"deploy"};
    registry.add(small);
    RegistryCatalogue const before(registry);
    auto const shown = before.agents().size();
    add_call_agents(registry);
    RegistryCatalogue const catalogue(registry);
    EXPECT_EQ(catalogue.agents().size(), shown);
    EXPECT_FALSE(catalogue.has_agent("calls:small"));
    auto const calls = catalogue.calls("small");
    ASSERT_TRUE(calls);
    EXPECT_EQ(calls->agent, "calls:small");
    EXPECT_EQ(calls->tools, (std::vector<std::string>{"deploy", "ask_human"}));
    EXPECT_FALSE(catalogue.calls("calls:small"));
    EXPECT_FALSE(catalogue.calls("none"));
}

}  // namespace
}  // namespace dormouse::agent
