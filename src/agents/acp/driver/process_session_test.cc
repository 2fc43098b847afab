#include "acp/driver/process_session.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace dormouse::acp {
namespace {

using State = ProcessSession::State;
using AttachMethod = ProcessSession::AttachMethod;
using Event = SessionEvent;
using Do = SessionAction;
using Wanted = Situation::Wanted;

using Actions = std::vector<Do>;

class ProcessSessionTest : public ::testing::Test {
protected:
    Actions on(Event event) {
        SessionStep const out = step(session, event, now);
        session = out.next;
        return out.actions;
    }
    // The process has just been started.
    void start() {
        session = {};
        on(Event::want);
        on(Event::started);
    }
    void expect(State state, AttachMethod method = AttachMethod::none) {
        EXPECT_EQ(session.state, state) << static_cast<int>(session.state);
        EXPECT_EQ(session.method, method) << static_cast<int>(session.method);
    }

    ProcessSession session;
    Situation now{.wanted = Wanted::prompt};
};

TEST_F(ProcessSessionTest, FirstPrompt_GoesToANewSession) {
    EXPECT_EQ(on(Event::want), Actions{Do::start_process});
    EXPECT_EQ(on(Event::started), Actions{Do::greet});
    EXPECT_EQ(on(Event::want), Actions{}) << "the start continues";
    EXPECT_EQ(on(Event::greeted), Actions{Do::attach});
    expect(State::attaching, AttachMethod::open);
    EXPECT_EQ(on(Event::opened), Actions{Do::configure});
    EXPECT_EQ(on(Event::configured), Actions{Do::announce});
    expect(State::ready, AttachMethod::open);
    now.attached = true;
    EXPECT_EQ(on(Event::want), Actions{Do::use});
}

TEST_F(ProcessSessionTest, Login_ComesBeforeTheSession) {
    now.signs_in = true;
    start();
    EXPECT_EQ(on(Event::greeted), Actions{Do::sign_in});
    EXPECT_EQ(on(Event::signed_in), Actions{Do::attach});
}

TEST_F(ProcessSessionTest, KnownSession_IsContinuedByLoadOrResume) {
    struct Row {
        Wanted wanted;
        bool load, resume;
        AttachMethod method;
    };
    for (Row const& row : {Row{Wanted::prompt, true, true, AttachMethod::resume},
                           Row{Wanted::prompt, true, false, AttachMethod::load},
                           Row{Wanted::repeat, true, true, AttachMethod::load},
                           Row{Wanted::repeat, false, true, AttachMethod::resume},
                           Row{Wanted::prompt, false, false, AttachMethod::reopen},
                           Row{Wanted::screen_with_past, false, true, AttachMethod::resume}}) {
        now = {
            .wanted = row.wanted, .known = true, .can = {.load = row.load, .resume = row.resume}};
        start();
        EXPECT_EQ(on(Event::greeted), Actions{Do::attach});
        expect(State::attaching, row.method);
    }
}

TEST_F(ProcessSessionTest, UnknownSession_IsAskedForTwiceAndThenReplaced) {
    now = {.wanted = Wanted::repeat,
           .known = true,
           .can = {.load = true, .resume = true, .list = true}};
    start();
    on(Event::greeted);
    EXPECT_EQ(on(Event::unknown), Actions{Do::check_list});
    EXPECT_EQ(on(Event::listed), Actions{Do::attach});
    expect(State::attaching, AttachMethod::resume_again);
    EXPECT_EQ(on(Event::unknown), Actions{Do::attach});
    expect(State::attaching, AttachMethod::reopen);
    EXPECT_EQ(on(Event::unknown), (Actions{Do::end_process, Do::report_failure}))
        << "it is not retried for ever";
}

TEST_F(ProcessSessionTest, SessionWithoutAnId_IsSearchedForWhenThePromptIsRepeated) {
    now = {.wanted = Wanted::repeat, .can = {.load = true, .list = true}};
    start();
    EXPECT_EQ(on(Event::greeted), Actions{Do::search});
    EXPECT_EQ(on(Event::found), Actions{Do::attach});
    expect(State::attaching, AttachMethod::load);
    start();
    on(Event::greeted);
    on(Event::not_found);
    expect(State::attaching, AttachMethod::open);
}

TEST_F(ProcessSessionTest, Replay_MissesStartedPrompt_OpensNewSession) {
    now = {.wanted = Wanted::repeat, .known = true, .can = {.load = true}};
    start();
    on(Event::greeted);
    now.misses_past = true;
    EXPECT_EQ(on(Event::opened), Actions{Do::attach});
    expect(State::attaching, AttachMethod::reopen);
    EXPECT_EQ(on(Event::opened), Actions{Do::configure});
}

TEST_F(ProcessSessionTest, Screen_OfASessionWithAPast_GetsNoNewSession) {
    Actions const parked{Do::forget_session, Do::refuse_screen, Do::rest};
    now.wanted = Wanted::screen_with_past;
    start();
    EXPECT_EQ(on(Event::greeted), parked);
    expect(State::ready);
    now.wanted = Wanted::screen;
    EXPECT_EQ(on(Event::want), Actions{Do::attach});
    now.wanted = Wanted::nothing;
    start();
    EXPECT_EQ(on(Event::greeted), parked) << "the prompt was cancelled";
}

TEST_F(ProcessSessionTest, Close_AgentReleasesItsSessionFirst) {
    now = {.wanted = Wanted::prompt, .open = true, .can = {.close = true}};
    start();
    EXPECT_EQ(on(Event::close), Actions{Do::end_process}) << "it is not ready";
    start();
    for (Event const event : {Event::greeted, Event::opened, Event::configured}) on(event);
    EXPECT_EQ(on(Event::close), Actions{Do::close_session});
    EXPECT_EQ(on(Event::close), Actions{});
    EXPECT_EQ(on(Event::closed), Actions{Do::end_process});
    EXPECT_EQ(on(Event::closed), Actions{}) << "the time limit after the answer";
    EXPECT_EQ(on(Event::end), Actions{});
    EXPECT_EQ(on(Event::exited), (Actions{Do::clean_up, Do::report_failure, Do::report_gone}));
    EXPECT_EQ(on(Event::exited), Actions{});
}

TEST_F(ProcessSessionTest, ProcessThatCannotStart_IsGone) {
    on(Event::want);
    EXPECT_EQ(on(Event::not_started), (Actions{Do::report_failure, Do::report_gone}));
    expect(State::gone);
}

// Mostly chooses an event that counts in this state, so that sequences become long.
Event event_of(State state, std::uint32_t number) {
    static std::map<State, std::vector<Event>> const likely{
        {State::not_started, {Event::want}},
        {State::starting, {Event::started}},
        {State::greeting, {Event::greeted}},
        {State::signing_in, {Event::signed_in}},
        {State::searching, {Event::found, Event::not_found}},
        {State::attaching, {Event::opened, Event::unknown, Event::unknown}},
        {State::checking, {Event::listed, Event::listed, Event::not_listed}},
        {State::configuring, {Event::configured}},
        {State::ready, {Event::want, Event::want, Event::lost, Event::close}},
        {State::closing, {Event::closed}},
        {State::ending, {Event::exited}},
        {State::gone, {Event::exited}}};
    auto const& here = likely.at(state);
    std::uint32_t const any = static_cast<std::uint32_t>(Event::exited) + 1;
    if (number % 8 == 0) return static_cast<Event>((number >> 3U) % any);
    return here[(number >> 3U) % here.size()];
}

// Returns the only action that opens the request which a state waits for.
std::map<State, Do> const& requests() {
    static std::map<State, Do> const all{
        {State::starting, Do::start_process}, {State::greeting, Do::greet},
        {State::signing_in, Do::sign_in},     {State::searching, Do::search},
        {State::attaching, Do::attach},       {State::checking, Do::check_list},
        {State::configuring, Do::configure},  {State::closing, Do::close_session},
        {State::ending, Do::end_process}};
    return all;
}

Situation any_situation() {
    auto const bits =
        *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint32_t>(0, 1U << 16U));
    auto const bit = [bits](unsigned at) { return (bits >> at & 1U) != 0; };
    return {.wanted = static_cast<Wanted>((bits >> 10U) % 5),
            .known = bit(0),
            .attached = bit(1),
            .open = bit(2),
            .signs_in = bit(3),
            .misses_past = bit(4),
            .can = {.load = bit(5), .resume = bit(6), .list = bit(7), .close = bit(8)}};
}

// A state that waits is entered together with its request, and no other state opens one. So the
// start of a session never stalls and never has two open requests.
RC_GTEST_PROP(ProcessSessionProperty, AnyEvents_EachWaitHasOneRequest, ()) {
    ProcessSession session;
    std::size_t gone = 0;
    std::size_t attempts = 0;
    auto const events = *rc::gen::container<std::vector<std::uint32_t>>(
        rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint32_t>(0, 1U << 16U)));
    for (std::uint32_t const number : events) {
        Event const event = event_of(session.state, number);
        if (event == Event::want && session.is_ending()) continue;  // REQUIRES of want
        Situation const situation = any_situation();
        SessionStep const out = step(session, event, situation);
        auto const has = [&](Do action) { return std::ranges::count(out.actions, action) == 1; };
        bool const entered = !(out.next == session);
        for (auto const& [state, request] : requests()) {
            bool const waits = out.next.state == state;
            if (waits && entered) RC_ASSERT(has(request));
            if (!waits) RC_ASSERT(!has(request));
        }
        if (has(Do::announce)) RC_ASSERT(session.state == State::configuring);
        if (has(Do::use)) RC_ASSERT(session.state == State::ready && situation.attached);
        if (session.state == State::gone) RC_ASSERT(out.actions.empty());
        if (session.is_ending()) RC_ASSERT(out.next.is_ending());
        if (out.next.state == State::ready) attempts = 0;
        if (has(Do::attach)) RC_ASSERT(++attempts <= 4U);
        bool const again = has(Do::attach) && session.state == State::attaching;
        if (again) RC_ASSERT(!session.is_new());  // nothing is retried for ever
        if (has(Do::report_gone)) ++gone;
        session = out.next;
    }
    RC_ASSERT(gone == (session.state == State::gone ? 1U : 0U));
    SessionStep const last = step(session, Event::exited, {});
    bool const runs = session.state != State::not_started && session.state != State::gone;
    RC_ASSERT((last.next.state == State::gone) == (runs || gone == 1U));
}

}  // namespace
}  // namespace dormouse::acp
