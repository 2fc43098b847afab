#include "acp/driver/process_session.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace dormouse::acp {
namespace {

using AttachMethod = ProcessSession::AttachMethod;
using Wanted = Situation::Wanted;

using Actions = std::vector<SessionAction>;

class ProcessSessionTest : public ::testing::Test {
protected:
    Actions on(SessionEvent event) {
        SessionStep const out = step(session, event, now);
        session = out.next;
        return out.actions;
    }
    // The process has just been started.
    void start() {
        session = {};
        on(SessionEvent::want);
        on(SessionEvent::started);
    }
    void expect(ProcessSession::State state, AttachMethod method = AttachMethod::none) {
        EXPECT_EQ(session.state, state) << static_cast<int>(session.state);
        EXPECT_EQ(session.method, method) << static_cast<int>(session.method);
    }

    ProcessSession session;
    Situation now{.wanted = Wanted::prompt};
};

TEST_F(ProcessSessionTest, FirstPrompt_GoesToANewSession) {
    EXPECT_EQ(on(SessionEvent::want), Actions{SessionAction::start_process});
    EXPECT_EQ(on(SessionEvent::started), Actions{SessionAction::greet});
    EXPECT_EQ(on(SessionEvent::want), Actions{}) << "the start continues";
    EXPECT_EQ(on(SessionEvent::greeted), Actions{SessionAction::attach});
    expect(ProcessSession::State::attaching, AttachMethod::open);
    EXPECT_EQ(on(SessionEvent::opened), Actions{SessionAction::configure});
    EXPECT_EQ(on(SessionEvent::configured), Actions{SessionAction::announce});
    expect(ProcessSession::State::ready, AttachMethod::open);
    now.attached = true;
    EXPECT_EQ(on(SessionEvent::want), Actions{SessionAction::use});
}

TEST_F(ProcessSessionTest, Login_ComesBeforeTheSession) {
    now.signs_in = true;
    start();
    EXPECT_EQ(on(SessionEvent::greeted), Actions{SessionAction::sign_in});
    EXPECT_EQ(on(SessionEvent::signed_in), Actions{SessionAction::attach});
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
        EXPECT_EQ(on(SessionEvent::greeted), Actions{SessionAction::attach});
        expect(ProcessSession::State::attaching, row.method);
    }
}

TEST_F(ProcessSessionTest, UnknownSession_IsAskedForTwiceAndThenReplaced) {
    now = {.wanted = Wanted::repeat,
           .known = true,
           .can = {.load = true, .resume = true, .list = true}};
    start();
    on(SessionEvent::greeted);
    EXPECT_EQ(on(SessionEvent::unknown), Actions{SessionAction::check_list});
    EXPECT_EQ(on(SessionEvent::listed), Actions{SessionAction::attach});
    expect(ProcessSession::State::attaching, AttachMethod::resume_again);
    EXPECT_EQ(on(SessionEvent::unknown), Actions{SessionAction::attach});
    expect(ProcessSession::State::attaching, AttachMethod::reopen);
    EXPECT_EQ(on(SessionEvent::unknown),
              (Actions{SessionAction::end_process, SessionAction::report_failure}))
        << "it is not retried for ever";
}

TEST_F(ProcessSessionTest, SessionWithoutAnId_IsSearchedForWhenThePromptIsRepeated) {
    now = {.wanted = Wanted::repeat, .can = {.load = true, .list = true}};
    start();
    EXPECT_EQ(on(SessionEvent::greeted), Actions{SessionAction::search});
    EXPECT_EQ(on(SessionEvent::found), Actions{SessionAction::attach});
    expect(ProcessSession::State::attaching, AttachMethod::load);
    start();
    on(SessionEvent::greeted);
    on(SessionEvent::not_found);
    expect(ProcessSession::State::attaching, AttachMethod::open);
}

TEST_F(ProcessSessionTest, Replay_MissesStartedPrompt_OpensNewSession) {
    now = {.wanted = Wanted::repeat, .known = true, .can = {.load = true}};
    start();
    on(SessionEvent::greeted);
    now.misses_past = true;
    EXPECT_EQ(on(SessionEvent::opened), Actions{SessionAction::attach});
    expect(ProcessSession::State::attaching, AttachMethod::reopen);
    EXPECT_EQ(on(SessionEvent::opened), Actions{SessionAction::configure});
}

TEST_F(ProcessSessionTest, Screen_OfASessionWithAPast_GetsNoNewSession) {
    Actions const parked{SessionAction::forget_session, SessionAction::refuse_screen,
                         SessionAction::rest};
    now.wanted = Wanted::screen_with_past;
    start();
    EXPECT_EQ(on(SessionEvent::greeted), parked);
    expect(ProcessSession::State::ready);
    now.wanted = Wanted::screen;
    EXPECT_EQ(on(SessionEvent::want), Actions{SessionAction::attach});
    now.wanted = Wanted::nothing;
    start();
    EXPECT_EQ(on(SessionEvent::greeted), parked) << "the prompt was cancelled";
}

TEST_F(ProcessSessionTest, Close_AgentReleasesItsSessionFirst) {
    now = {.wanted = Wanted::prompt, .open = true, .can = {.close = true}};
    start();
    EXPECT_EQ(on(SessionEvent::close), Actions{SessionAction::end_process}) << "it is not ready";
    start();
    for (SessionEvent const event :
         {SessionEvent::greeted, SessionEvent::opened, SessionEvent::configured})
        on(event);
    EXPECT_EQ(on(SessionEvent::close), Actions{SessionAction::close_session});
    EXPECT_EQ(on(SessionEvent::close), Actions{});
    EXPECT_EQ(on(SessionEvent::closed), Actions{SessionAction::end_process});
    EXPECT_EQ(on(SessionEvent::closed), Actions{}) << "the time limit after the answer";
    EXPECT_EQ(on(SessionEvent::end), Actions{});
    EXPECT_EQ(on(SessionEvent::exited),
              (Actions{SessionAction::clean_up, SessionAction::report_failure,
                       SessionAction::report_gone}));
    EXPECT_EQ(on(SessionEvent::exited), Actions{});
}

TEST_F(ProcessSessionTest, ProcessThatCannotStart_IsGone) {
    on(SessionEvent::want);
    EXPECT_EQ(on(SessionEvent::not_started),
              (Actions{SessionAction::report_failure, SessionAction::report_gone}));
    expect(ProcessSession::State::gone);
}

// Mostly chooses an event that counts in this state, so that sequences become long.
SessionEvent event_of(ProcessSession::State state, std::uint32_t number) {
    static std::map<ProcessSession::State, std::vector<SessionEvent>> const likely{
        {ProcessSession::State::not_started, {SessionEvent::want}},
        {ProcessSession::State::starting, {SessionEvent::started}},
        {ProcessSession::State::greeting, {SessionEvent::greeted}},
        {ProcessSession::State::signing_in, {SessionEvent::signed_in}},
        {ProcessSession::State::searching, {SessionEvent::found, SessionEvent::not_found}},
        {ProcessSession::State::attaching,
         {SessionEvent::opened, SessionEvent::unknown, SessionEvent::unknown}},
        {ProcessSession::State::checking,
         {SessionEvent::listed, SessionEvent::listed, SessionEvent::not_listed}},
        {ProcessSession::State::configuring, {SessionEvent::configured}},
        {ProcessSession::State::ready,
         {SessionEvent::want, SessionEvent::want, SessionEvent::lost, SessionEvent::close}},
        {ProcessSession::State::closing, {SessionEvent::closed}},
        {ProcessSession::State::ending, {SessionEvent::exited}},
        {ProcessSession::State::gone, {SessionEvent::exited}}};
    auto const& here = likely.at(state);
    std::uint32_t const any = static_cast<std::uint32_t>(SessionEvent::exited) + 1;
    if (number % 8 == 0) return static_cast<SessionEvent>((number >> 3U) % any);
    return here[(number >> 3U) % here.size()];
}

// Returns the only action that opens the request which a state waits for.
std::map<ProcessSession::State, SessionAction> const& requests() {
    static std::map<ProcessSession::State, SessionAction> const all{
        {ProcessSession::State::starting, SessionAction::start_process},
        {ProcessSession::State::greeting, SessionAction::greet},
        {ProcessSession::State::signing_in, SessionAction::sign_in},
        {ProcessSession::State::searching, SessionAction::search},
        {ProcessSession::State::attaching, SessionAction::attach},
        {ProcessSession::State::checking, SessionAction::check_list},
        {ProcessSession::State::configuring, SessionAction::configure},
        {ProcessSession::State::closing, SessionAction::close_session},
        {ProcessSession::State::ending, SessionAction::end_process}};
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
        SessionEvent const event = event_of(session.state, number);
        if (event == SessionEvent::want && session.is_ending()) continue;  // REQUIRES of want
        Situation const situation = any_situation();
        SessionStep const out = step(session, event, situation);
        auto const has = [&](SessionAction action) {
            return std::ranges::count(out.actions, action) == 1;
        };
        bool const entered = !(out.next == session);
        for (auto const& [state, request] : requests()) {
            bool const waits = out.next.state == state;
            if (waits && entered) RC_ASSERT(has(request));
            if (!waits) RC_ASSERT(!has(request));
        }
        if (has(SessionAction::announce))
            RC_ASSERT(session.state == ProcessSession::State::configuring);
        if (has(SessionAction::use))
            RC_ASSERT(session.state == ProcessSession::State::ready && situation.attached);
        if (session.state == ProcessSession::State::gone) RC_ASSERT(out.actions.empty());
        if (session.is_ending()) RC_ASSERT(out.next.is_ending());
        if (out.next.state == ProcessSession::State::ready) attempts = 0;
        if (has(SessionAction::attach)) RC_ASSERT(++attempts <= 4U);
        bool const again =
            has(SessionAction::attach) && session.state == ProcessSession::State::attaching;
        if (again) RC_ASSERT(!session.is_new());  // nothing is retried for ever
        if (has(SessionAction::report_gone)) ++gone;
        session = out.next;
    }
    RC_ASSERT(gone == (session.state == ProcessSession::State::gone ? 1U : 0U));
    SessionStep const last = step(session, SessionEvent::exited, {});
    bool const runs = session.state != ProcessSession::State::not_started &&
                      session.state != ProcessSession::State::gone;
    RC_ASSERT((last.next.state == ProcessSession::State::gone) == (runs || gone == 1U));
}

}  // namespace
}  // namespace dormouse::acp
