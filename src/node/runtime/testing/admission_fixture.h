#pragma once
// An agent whose model and raw tool give the answers set by a test; checks that a new process can
// read the store.

#include "json/json.h"
#include "runtime/testing/runtime_fixture.h"

#include <memory>
#include <string>
#include <vector>

namespace dormouse::runtime {

// Returns the outcome set by the test.
class RawTool final : public Tool {
public:
    RawTool() {
        declaration_.name = "raw";
        for (PauseReason const reason : {PauseReason::tool_result, PauseReason::approval})
            declaration_.may_pause.insert(reason);
    }
    [[nodiscard]] Declaration const& declaration() const override { return declaration_; }
    [[nodiscard]] RawOutcome execute(Call const&) const override { return gives; }

    mutable RawOutcome gives = Failed{"nothing yet"};

private:
    Declaration declaration_;
};

class Admission : public RuntimeTest {
protected:
    Admission() {
        on_disk();
        settings.tools.push_back(raw);
        settings.agents.push_back(
            {.name = "caller",
             .model = model_from(
                 [this](ModelQuestion const& question, std::stop_token) { return say(question); }),
             .tools = {"now", "raw"}});
    }

    Result<ModelAnswer> say(ModelQuestion const& question) {
        bool const answered =
            question.answer_of("now") || question.answer_of("raw") || ++questions > questions_max;
        return answered ? ModelAnswer{.text = "Done.", .calls = {}} : answer;
    }
    SessionId call() {
        auto const session = runtime->create({.agent = "caller", .prompt = "go"});
        EXPECT_TRUE(session);
        (void)at_rest(*session);
        return *session;
    }
    std::string events_of(SessionId session) {
        std::string out;
        for (Event const& event : runtime->events(session).value_or(std::vector<Event>()))
            out += event.type + std::string(event.data.text());
        return out;
    }
    // Reopens the store as a new process does, and reads every session in full.
    void expect_all_is_readable(std::vector<SessionId> const& sessions) {
        open();
        EXPECT_TRUE(runtime->waiting());
        for (SessionId const& session : sessions) {
            SCOPED_TRACE(session.text());
            EXPECT_TRUE(runtime->session(session));
            EXPECT_TRUE(runtime->messages(session));
            auto const events = runtime->events(session);
            ASSERT_TRUE(events) << events.error().detail;
            EXPECT_FALSE(events->empty());
            for (Event const& event : *events)
                EXPECT_TRUE(json::check(event.data.text())) << event.type;
        }
    }

    std::shared_ptr<RawTool> raw = std::make_shared<RawTool>();
    ModelAnswer answer;
    // Ends the turn of a model that calls an unknown tool in each step.
    std::atomic<int> questions = 0;
    int questions_max = 1'000;
};

}  // namespace dormouse::runtime
