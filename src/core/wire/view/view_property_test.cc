#include "wire/testing/story.h"
#include "wire/testing/view_text.h"
#include "wire/view/view.h"

#include <gtest/gtest.h>

#include <algorithm>

// Rule 5 over random scenarios: what each request of a session sees, one after the other.
namespace dormouse::wire {
namespace {

using namespace dormouse::session;

struct SeenRequest {
    Seq view_seq = 0;
    std::vector<std::string> view;
    bool committed = false;
};

// The views of all requests, each built when the request was made.
std::vector<SeenRequest> requests_of(session::testing::Given const& sample) {
    std::vector<SeenRequest> out;
    History history(sample.id);
    for (RecordPtr const& one : testing::records_of(sample)) {
        history.add(*one);
        if (auto const* seen = std::get_if<ModelRequested>(&one->event.body)) {
            out.push_back(
                {seen->view_seq, testing::view_text(model_view(history, seen->view_seq)), false});
        }
        if (std::holds_alternative<ModelReplied>(one->event.body)) out.back().committed = true;
    }
    return out;
}

constexpr std::uint32_t stories = 150;
constexpr int steps = 50;

// Every later view begins with the view of a committed step, followed by the step's reply.
TEST(ViewProperty, View_OnlyGrowsAtItsEnd) {
    std::size_t compared = 0;
    for (std::uint32_t seed = 0; seed < stories; ++seed) {
        std::vector<std::string> last;
        for (SeenRequest const& seen : requests_of(testing::story(seed, steps))) {
            bool const grows = seen.view.size() >= last.size() &&
                               std::equal(last.begin(), last.end(), seen.view.begin());
            ASSERT_TRUE(grows) << "story " << seed << ", request that sees up to " << seen.view_seq;
            if (!last.empty()) {
                ASSERT_GT(seen.view.size(), last.size());
                EXPECT_TRUE(seen.view[last.size()].starts_with("A"));
                ++compared;
            }
            if (seen.committed) last = seen.view;
        }
    }
    EXPECT_GT(compared, std::size_t{stories});
}

// A view is a function of its view_seq: later events do not change it.
TEST(ViewProperty, View_FromTheWholeJournal_EqualsTheEarlierView) {
    for (std::uint32_t seed = 0; seed < stories; ++seed) {
        auto const sample = testing::story(seed, steps);
        History const whole = testing::history_of(sample);
        for (SeenRequest const& seen : requests_of(sample)) {
            EXPECT_EQ(testing::view_text(model_view(whole, seen.view_seq)), seen.view)
                << "story " << seed;
        }
    }
}

// The numbers of answers to a call in the reply that made it, and after it.
struct Answers {
    int in_place = 0;
    bool open = false;
    int late = 0;
};

std::map<CallNo, Answers> answers_in(ModelView const& view) {
    std::map<CallNo, Answers> out;
    for (ViewMessage const& message : view.messages) {
        for (ViewCall const& call : message.calls) {
            Answers& answers = out[call.call];
            if (message.role == ViewMessage::Role::assistant) {
                ++answers.in_place;
                answers.open = call.open;
            } else {
                EXPECT_FALSE(call.open);
                ++answers.late;
            }
        }
    }
    return out;
}

TEST(ViewProperty, EveryCall_IsAnsweredOnceAndItsOutcomeIsReported) {
    for (std::uint32_t seed = 0; seed < stories; ++seed) {
        SCOPED_TRACE(seed);
        auto const sample = testing::story(seed, steps);
        History const history = testing::history_of(sample);
        Seq const head = sample.state.head;
        auto const answers = answers_in(model_view(history, head));
        for (auto const& [no, call] : history.calls()) {
            // The model did not make it, and does not see that a person was asked.
            ASSERT_EQ(answers.contains(no), !call.spec.budget);
            if (call.spec.budget) continue;
            Answers const& got = answers.at(no);
            EXPECT_EQ(got.in_place, 1);
            EXPECT_EQ(got.late, got.open && call.settled != 0 ? 1 : 0) << "call " << no;
            EXPECT_TRUE(call.settled != 0 || got.open);
        }
    }
}

TEST(ViewProperty, Calls_AreAnsweredInTheOrderOfTheReply) {
    for (std::uint32_t seed = 0; seed < stories; ++seed) {
        auto const sample = testing::story(seed, steps);
        for (ViewMessage const& message :
             model_view(testing::history_of(sample), sample.state.head).messages) {
            EXPECT_TRUE(std::ranges::is_sorted(message.calls, {}, &ViewCall::call))
                << "story " << seed;
        }
    }
}

// A session with one prompt and reply after another: twice as many messages as turns.
History long_talk(session::testing::Given& given, int turns) {
    (void)given.create();
    for (int i = 0; i < turns; ++i) {
        (void)given.prompt("text " + std::to_string(i));
        (void)given.reply();
    }
    return testing::history_of(given);
}

TEST(ViewLimit, ThousandMessages_OldestHundredLeaveAtOnce) {
    session::testing::Given given;
    History const history = long_talk(given, 720);
    std::map<std::size_t, std::size_t> first_kept;  // by number of messages before
    for (StepView const& step : history.steps()) {
        auto const view = model_view(history, step.view_seq);
        ASSERT_FALSE(view.messages.empty());
        EXPECT_LT(view.messages.size(), view_messages_max);
        std::size_t const before = 2 * std::size_t{step.turn} - 1;
        first_kept[before] = before - view.messages.size();
        EXPECT_EQ(view.messages.front().role, ViewMessage::Role::user);
        EXPECT_EQ(view.messages.back().role, ViewMessage::Role::user);
    }
    EXPECT_EQ(first_kept.at(999), 0U);
    EXPECT_EQ(first_kept.at(1'001), 100U);
    EXPECT_EQ(first_kept.at(1'099), 100U);  // caches hold until the next hundred
    EXPECT_EQ(first_kept.at(1'101), 200U);
    EXPECT_EQ(first_kept.at(1'439), 500U);
}

// One prompt and a thousand steps: no other user message can begin the view.
TEST(ViewLimit, TurnOfAThousandSteps_KeepsItsNewestMessages) {
    TurnTerms terms;
    terms.step_limit = 2'000;
    session::testing::Given given(terms);
    (void)given.create();
    (void)given.prompt("please");
    for (CallNo no = 1; no <= 1'050; ++no) {
        (void)given.reply({session::testing::plain()});
        (void)given.finish(no);
    }
    History const history = testing::history_of(given);
    auto const view = model_view(history, given.turn().request->view_seq);
    ASSERT_EQ(view.messages.size(), 951U);
    EXPECT_EQ(view.messages.front().calls.front().call, 100U);
    EXPECT_EQ(view.messages.back().calls.front().call, 1'050U);
}

}  // namespace
}  // namespace dormouse::wire
