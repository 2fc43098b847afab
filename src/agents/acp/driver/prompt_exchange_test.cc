#include "acp/driver/prompt_exchange.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <string>

namespace dormouse::acp {
namespace {

using State = PromptExchange::State;
using Kind = ExchangeEvent::Kind;
using Do = ExchangeAction::Kind;

// Returns the actions of a step as words.
std::string word(ExchangeAction const& action) {
    std::string const of = std::to_string(action.question);
    switch (action.kind) {
        case Do::send_prompt: return "send";
        case Do::cancel_prompt: return "cancel";
        case Do::retire_prompt: return "retire";
        case Do::settle: return "settle";
        case Do::settle_long: return "settle_long";
        case Do::finish_message: return "finish";
        case Do::forget_updates: return "forget";
        case Do::report_reply: return "reply";
        case Do::report_failure: return "failure";
        case Do::report_free: return "free";
        case Do::end_process: return "end";
        case Do::ask_person: return "ask" + std::to_string(action.number) + ":" + of;
        case Do::answer:
            if (action.decision == Decision::cancelled) return "cancelled:" + of;
            return (action.decision == Decision::allowed ? "allowed:" : "denied:") + of;
    }
    return "?";
}

class PromptExchangeTest : public ::testing::Test {
protected:
    std::string on(ExchangeEvent const& event) {
        ExchangeStep const out = step(exchange, event);
        exchange = out.next;
        std::string words;
        for (ExchangeAction const& action : out.actions)
            words += (words.empty() ? "" : " ") + word(action);
        return words;
    }
    std::string on(Kind kind, std::uint64_t question = 0) {
        return on(ExchangeEvent{.kind = kind, .question = question});
    }
    std::string decide(std::uint32_t number, Decision decision) {
        return on(ExchangeEvent{.kind = Kind::decide, .number = number, .decision = decision});
    }
    void sent() {
        on(Kind::begin);
        on(Kind::send);
    }

    PromptExchange exchange;
};

TEST_F(PromptExchangeTest, AnsweredPrompt_HasOneReply) {
    EXPECT_EQ(on(Kind::begin), "");
    EXPECT_EQ(on(Kind::send), "send");
    EXPECT_EQ(on(Kind::send), "") << "it is sent once";
    EXPECT_EQ(on(Kind::answered), "settle reply");
    EXPECT_EQ(on(Kind::answered), "");
    EXPECT_EQ(on(Kind::failed), "");
    EXPECT_EQ(on(Kind::exited), "") << "it has its outcome";
    sent();
    EXPECT_EQ(on(Kind::answered), "settle reply");
    EXPECT_EQ(on(Kind::settled), "finish");
    EXPECT_EQ(exchange.state, State::idle);
}

TEST_F(PromptExchangeTest, Failure_InEachState_IsReportedOnceOrNotAtAll) {
    on(Kind::begin);
    EXPECT_EQ(on(Kind::failed), "failure");
    on(Kind::begin);
    EXPECT_EQ(on(Kind::exited), "failure");
    sent();
    EXPECT_EQ(on(Kind::failed), "settle failure");
    sent();
    EXPECT_EQ(on(Kind::exited), "failure");
    sent();
    on(Kind::cancel);
    EXPECT_EQ(on(Kind::exited), "") << "the prompt was cancelled";
    EXPECT_EQ(exchange.state, State::idle);
}

TEST_F(PromptExchangeTest, Cancel_BeforePromptIsSent_NeedsNoAnswer) {
    on(Kind::begin);
    EXPECT_EQ(on(Kind::cancel), "retire settle");
    EXPECT_EQ(on(Kind::send), "");
    EXPECT_TRUE(exchange.is_free());
}

TEST_F(PromptExchangeTest, Cancel_OfASentPrompt_WaitsForTheAnswer) {
    sent();
    on(Kind::question, 7);
    EXPECT_EQ(on(Kind::cancel), "retire cancelled:7 cancel");
    EXPECT_EQ(on(Kind::cancel), "");
    EXPECT_FALSE(exchange.is_free());
    EXPECT_EQ(on(Kind::question, 8), "cancelled:8");
    EXPECT_EQ(decide(1, Decision::allowed), "") << "the question was cancelled";
    EXPECT_EQ(on(Kind::answered), "settle_long forget free");
    EXPECT_TRUE(exchange.is_free());
}

TEST_F(PromptExchangeTest, Cancel_AgentIgnoresIt_ProcessEnds) {
    sent();
    EXPECT_EQ(on(Kind::cancel_limit), "");
    on(Kind::cancel);
    EXPECT_EQ(on(Kind::cancel_limit), "end");
}

TEST_F(PromptExchangeTest, Questions_AreAnsweredOnceWithTheDecision) {
    sent();
    EXPECT_EQ(on(Kind::question, 7), "ask1:7");
    EXPECT_EQ(on(Kind::screen_question, 8), "ask2:8") << "the prompt's gate decides";
    EXPECT_EQ(decide(2, Decision::denied), "denied:8");
    EXPECT_EQ(decide(2, Decision::allowed), "");
    EXPECT_EQ(decide(1, Decision::allowed), "allowed:7");
    on(Kind::question, 9);
    EXPECT_EQ(on(Kind::answered), "cancelled:9 settle reply");
    sent();
    EXPECT_EQ(on(Kind::question, 10), "ask1:10") << "each prompt counts its own";
}

TEST_F(PromptExchangeTest, Questions_WithoutPrompt_AreLeftToScreen) {
    EXPECT_EQ(on(Kind::question, 1), "cancelled:1");
    EXPECT_EQ(on(Kind::screen_question, 2), "");
    EXPECT_EQ(on(Kind::leave_screen), "cancelled:2");
    EXPECT_EQ(on(Kind::screen_question, 3), "");
    EXPECT_EQ(on(Kind::begin), "cancelled:3");
    EXPECT_EQ(on(Kind::screen_question, 4), "cancelled:4") << "the prompt waits for the session";
}

TEST_F(PromptExchangeTest, Questions_BeyondTheLimit_AreCancelledAtOnce) {
    sent();
    for (std::uint64_t i = 1; i <= PromptExchange::open_max; ++i) on(Kind::question, i);
    EXPECT_EQ(on(Kind::question, 65), "cancelled:65");
    decide(5, Decision::denied);
    EXPECT_EQ(on(Kind::question, 66), "ask65:66");
}

// Plays any events and counts the outcomes of prompts and the answers to questions.
class Account {
public:
    void play(std::uint32_t number) {
        Kind const kind = kind_of(number);
        ExchangeEvent event{.kind = kind, .number = (number >> 8) % 4 + 1};
        event.decision = static_cast<Decision>((number >> 16) % 3);
        if (kind == Kind::begin && !exchange_.is_free()) return;  // REQUIRES of begin
        if (kind == Kind::begin) ++begun_;
        if (kind == Kind::cancel && has_prompt()) ++outcomes_;  // the caller needs no other
        if (kind == Kind::question || kind == Kind::screen_question) {
            event.question = ++questions_;
            unanswered_.insert(event.question);
        }
        State const before = exchange_.state;
        ExchangeStep const out = step(exchange_, event);
        exchange_ = out.next;
        RC_ASSERT(may_follow(before, exchange_.state));
        for (ExchangeAction const& action : out.actions) act(action);
        if (kind == Kind::exited) unanswered_.clear();  // the agent is gone
        check();
    }

private:
    // Mostly chooses an event that counts in this state, so that sequences become long.
    [[nodiscard]] Kind kind_of(std::uint32_t number) const {
        static std::map<State, std::vector<Kind>> const likely{
            {State::idle, {Kind::begin, Kind::screen_question}},
            {State::waiting, {Kind::send}},
            {State::sent, {Kind::question, Kind::decide, Kind::screen_question, Kind::decide}},
            {State::cancelling, {Kind::answered, Kind::question}},
            {State::settling, {Kind::begin, Kind::settled, Kind::screen_question}}};
        auto const& here = likely.at(exchange_.state);
        std::uint32_t const any = static_cast<std::uint32_t>(Kind::leave_screen) + 1;
        if (number % 3 == 0) return static_cast<Kind>((number >> 2U) % any);
        return here[(number >> 2U) % here.size()];
    }
    [[nodiscard]] bool has_prompt() const {
        return exchange_.state == State::waiting || exchange_.state == State::sent;
    }
    static bool may_follow(State from, State to) {
        static std::map<State, std::set<State>> const after{
            {State::idle, {State::waiting}},
            {State::waiting, {State::sent, State::settling, State::idle}},
            {State::sent, {State::cancelling, State::settling, State::idle}},
            {State::cancelling, {State::settling, State::idle}},
            {State::settling, {State::waiting, State::idle}}};
        return from == to || after.at(from).contains(to);
    }
    void act(ExchangeAction const& action) {
        bool const reports = action.kind == Do::report_reply || action.kind == Do::report_failure;
        if (reports) ++outcomes_;
        if (action.kind == Do::send_prompt) RC_ASSERT(++sent_ <= begun_);
        if (action.kind == Do::cancel_prompt) RC_ASSERT(exchange_.state == State::cancelling);
        if (action.kind == Do::answer) RC_ASSERT(unanswered_.erase(action.question) == 1U);
        if (action.kind == Do::ask_person) RC_ASSERT(unanswered_.contains(action.question));
    }
    void check() const {
        RC_ASSERT(outcomes_ + (has_prompt() ? 1U : 0U) == begun_);
        std::set<std::uint64_t> kept(exchange_.screen.begin(), exchange_.screen.end());
        for (auto const& open : exchange_.open) kept.insert(open.question);
        RC_ASSERT(kept == unanswered_);
        RC_ASSERT(exchange_.open.empty() || exchange_.state == State::sent);
        RC_ASSERT(exchange_.screen.empty() || exchange_.is_free());
    }

    PromptExchange exchange_;
    std::size_t begun_ = 0, sent_ = 0, outcomes_ = 0;
    std::uint64_t questions_ = 0;
    std::set<std::uint64_t> unanswered_;
};

RC_GTEST_PROP(PromptExchangeProperty, AnyEvents_OneOutcomeAPromptAndOneAnswerAQuestion, ()) {
    Account account;
    auto const numbers = *rc::gen::container<std::vector<std::uint32_t>>(
        rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint32_t>(0, 1U << 24U)));
    for (std::uint32_t const number : numbers) account.play(number);
}

}  // namespace
}  // namespace dormouse::acp
