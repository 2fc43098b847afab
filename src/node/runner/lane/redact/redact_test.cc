#include "runner/lane/redact/redact.h"

#include "runner/lane/rows.h"
#include "runner/read/reading.h"
#include "runner/repair/verify.h"
#include "runner/testing/story_fixture.h"
#include "session/decide.h"
#include "wire/state_json.h"
#include "wire/testing/story.h"

#include <gtest/gtest.h>

#include <map>

namespace dormouse::runner::testing {
namespace {

using namespace session;
using Stored = StoredStory::Records;

Actor const alice{ActorType::token, "alice"};

class RedactedStory : public StoredStory {
public:
    using StoredStory::StoredStory;

    [[nodiscard]] Result<RedactionPlan> plan(RedactionAsk const& ask) {
        return plan_redaction(store, id, ask, alice, from_ms(1'764'277'200'000));
    }

    void apply_plan(RedactionPlan const& plan) {
        Command command;
        command.body = *plan.command;
        Attachments const attachments = take_attachments(command);
        TurnNo const turn = state.turn ? state.turn->no : 0;
        Event const event{state.head + 1, from_ms(1'764'277'200'000), turn, {}, plan.command->what};
        apply(state, event);
        auto append = append_of({wire::record(id, event)});
        add_attachments(attachments, {event}, append);
        add_rewritten(attachments, state, {event}, append);
        append.wake_changed = false;
        append.row = session_row(state);
        append.snapshot =
            port::SnapshotRow{state.head, wire::snapshot_format, wire::write_state(state)};
        commit(std::move(append));
    }
};

void expect_whole(RedactedStory& story_store) {
    auto const again = read_again(story_store.store, story_store.id);
    ASSERT_TRUE(again) << again.error().detail;
    EXPECT_EQ(wire::write_state(again->state), wire::write_state(story_store.state));
    auto const report = verify(story_store.store, [](std::uint64_t) {});
    ASSERT_TRUE(report);
    // The story stores no artifacts.
    for (Finding const& finding : report->findings)
        if (!finding.what.starts_with("artifact")) ADD_FAILURE() << finding.what;
}

void expect_same_places(Stored const& before, Stored const& after) {
    ASSERT_EQ(after.size(), before.size() + 1);
    for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_EQ(after[i]->event.seq, before[i]->event.seq);
        EXPECT_EQ(after[i]->event.at, before[i]->event.at);
        EXPECT_EQ(type_name(after[i]->event.body), type_name(before[i]->event.body));
    }
}

// Asks for the content of the event, as a task, a mail or a message.
RedactionAsk ask_for(SessionId session, Event const& event) {
    RedactionAsk ask{.reason = "test"};
    if (auto const* e = std::get_if<TaskStarted>(&event.body)) {
        ask.item = task_id(session, e->task);
    } else if (std::holds_alternative<MailSent>(event.body)) {
        ask.item = text(MailId{session, event.seq});
    } else {
        ask.message = event.seq;
    }
    return ask;
}

// Asks for the properties of the session, an alias in mail, and every third turn.
std::vector<RedactionAsk> other_asks(State const& state) {
    std::vector<RedactionAsk> out;
    for (auto const set : {wire::SessionProperty::title, wire::SessionProperty::alias,
                           wire::SessionProperty::labels})
        out.push_back({.set = set, .reason = "test"});
    out.push_back({.alias_of = SessionId::make(2, {}), .reason = "test"});
    for (TurnNo turn = 1; turn <= state.turns; turn += 3)
        out.push_back({.turn = turn, .reason = "test"});
    return out;
}

TEST(RedactPlan, WhatWasSetAndTurns_EveryFoldStaysTheSame) {
    int done = 0;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto const story = wire::testing::story(seed, 120);
        if (story.state.lifecycle == Lifecycle::deleted) continue;
        RedactedStory story_store(story, seed);
        for (RedactionAsk const& ask : other_asks(story_store.state)) {
            auto const plan = story_store.plan(ask);
            if (!plan || !plan->command) continue;
            auto const before = story_store.stored();
            story_store.apply_plan(*plan);
            expect_same_places(before, story_store.stored());
            expect_whole(story_store);
            auto const again = story_store.plan(ask);
            ASSERT_TRUE(again) << again.error().detail;
            EXPECT_FALSE(again->command);
            ++done;
        }
        if (HasFailure()) break;
    }
    EXPECT_GT(done, 40);
}

TEST(RedactPlan, RandomSessions_EveryFoldStaysTheSame) {
    int done = 0, refused = 0;
    std::map<std::string_view, int> kinds;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto const story = wire::testing::story(seed, 120);
        if (story.state.lifecycle == Lifecycle::deleted) continue;
        RedactedStory story_store(story, seed);
        auto const all = story_store.stored();
        for (std::size_t i = seed % 3; i < all.size(); i += 3) {
            RedactionAsk const ask = ask_for(story_store.id, all[i]->event);
            auto const plan = story_store.plan(ask);
            refused += plan ? 0 : 1;
            if (!plan || !plan->command) continue;
            auto const before = story_store.stored();
            story_store.apply_plan(*plan);
            expect_same_places(before, story_store.stored());
            expect_whole(story_store);
            auto const again = story_store.plan(ask);
            ASSERT_TRUE(again) << again.error().detail;
            EXPECT_FALSE(again->command);
            EXPECT_EQ(again->report.seq, story_store.state.head);
            EXPECT_EQ(again->report.what.events, plan->report.what.events);
            ++done;
            ++kinds[type_name(all[i]->event.body)];
        }
        if (HasFailure()) break;
    }
    EXPECT_GT(done, 40);
    EXPECT_GT(refused, 40);
    for (std::string_view const kind : {"input_received", "model_replied", "task_started"})
        EXPECT_GT(kinds[kind], 0) << kind;
}

TEST(RedactPlan, PlanOfAnOlderJournal_IsRefused) {
    State state;
    state.lifecycle = Lifecycle::active;
    state.redacted = 7;
    state.head = 9;
    Redact command;
    command.redacted = 5;
    Command const request{.by = alice, .body = command};
    auto const decision = decide(state, request, {});
    ASSERT_FALSE(decision.answer);
    EXPECT_EQ(decision.answer.error().code, Code::precondition_failed);
    EXPECT_TRUE(decision.events.empty());
}

}  // namespace
}  // namespace dormouse::runner::testing
