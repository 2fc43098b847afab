#include "http/resources/operations/metrics/model_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace dormouse::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace session;

class ModelWorkTest : public ::testing::Test {
protected:
    ModelWorkTest() {
        work.name_of = [](std::string const&) { return ModelWork::Name{"openai", "gpt"}; };
        state = in(1);
    }
    static State in(std::uint64_t session) {
        State out;
        out.id = SessionId::make(session, {});
        out.agent = "ops";
        return out;
    }
    void note(std::int64_t ms, Event::Body body) { note(state, ms, std::move(body)); }
    void note(State const& of, std::int64_t ms, Event::Body body) {
        work.note(of, Event{.at = from_ms(ms), .body = std::move(body)});
    }
    [[nodiscard]] std::string text() const {
        Exposition out;
        work.write(out);
        return prometheus_text(out.take());
    }
    static std::string seconds(std::string const& operation, std::string const& error) {
        bool const known = operation == "chat";
        return "dormouse_model_operation_seconds_sum{operation=\"" + operation +
               (known ? R"(",provider="openai",request_model="gpt")"
                      : R"(",provider="",request_model="")") +
               ",error_type=\"" + error + "\"} ";
    }

    ModelWork work;
    State state;
};

TEST_F(ModelWorkTest, Reply_HasItsTimeAndTokens) {
    note(1'000, ModelRequested{});
    note(1'250, ModelReplied{.usage = {.input_tokens = 20, .output_tokens = 3}});
    EXPECT_THAT(text(), HasSubstr(seconds("chat", "") + "0.25\n"));
    std::string const tokens =
        R"(dormouse_model_operation_tokens_sum{operation="chat",provider="openai",)"
        R"(request_model="gpt",token_type=)";
    EXPECT_THAT(text(), HasSubstr(tokens + "\"input\"} 20\n"));
    EXPECT_THAT(text(), HasSubstr(tokens + "\"output\"} 3\n"));
}

TEST_F(ModelWorkTest, Failure_HasItsCode) {
    note(0, ModelRequested{});
    note(100, ModelFailed{.error = {"busy", "secret"}});
    note(1'000, ModelRequested{});
    note(3'000, TurnEnded{});
    EXPECT_THAT(text(), HasSubstr(seconds("chat", "busy") + "0.1\n"));
    EXPECT_THAT(text(), HasSubstr(seconds("chat", "cancelled") + "2\n"));
    EXPECT_THAT(text(), Not(HasSubstr("secret")));
}

TEST_F(ModelWorkTest, ExternalAgent_HasNoModel) {
    note(0, AgentPrompted{});
    note(500, AgentReplied{});
    note(600, TurnEnded{});
    EXPECT_THAT(text(), HasSubstr(seconds("invoke_agent", "") + "0.5\n"));
    EXPECT_THAT(text(), Not(HasSubstr("cancelled")));
    EXPECT_THAT(text(), Not(HasSubstr("tokens_sum")));
}

TEST_F(ModelWorkTest, RequestOfAnotherProcess_HasNoTime) {
    note(500, ModelReplied{.usage = {.input_tokens = 1}});
    EXPECT_THAT(text(), Not(HasSubstr("seconds_sum")));
    EXPECT_THAT(text(), HasSubstr("tokens_sum"));
}

TEST_F(ModelWorkTest, ClockThatWentBack_CountsZero) {
    note(1'000, ModelRequested{});
    note(400, ModelReplied{});
    EXPECT_THAT(text(), HasSubstr(seconds("chat", "") + "0\n"));
}

TEST_F(ModelWorkTest, TooManyOpenRequests_ForgetTheOldest) {
    for (std::uint64_t i = 0; i <= ModelWork::open_max; ++i) note(in(i + 1), 0, ModelRequested{});
    note(in(1), 1'000, ModelReplied{});
    EXPECT_THAT(text(), Not(HasSubstr("seconds_sum")));
    note(in(2), 1'000, ModelReplied{});
    EXPECT_THAT(text(), HasSubstr(seconds("chat", "") + "1\n"));
}

}  // namespace
}  // namespace dormouse::http
