#include "wire/view/view_window.h"

#include "wire/testing/story.h"
#include "wire/testing/view_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

// Tests the view of a request when only the newest part of the journal is read.
namespace dormouse::wire {
namespace {

using namespace dormouse::session;

// A journal, and the JournalEnd of its state after each event.
struct Sample {
    SessionId id;
    std::vector<RecordPtr> records;
    std::vector<JournalEnd> ends;

    explicit Sample(session::testing::Given const& given)
        : id(given.id), records(testing::records_of(given)) {
        State state;
        state.id = id;
        for (Event const& event : given.archive.log) {
            apply(state, event);
            ends.push_back(journal_end(state));
        }
    }
    [[nodiscard]] std::span<RecordPtr const> up_to(Seq head) const {
        return std::span(records).first(static_cast<std::size_t>(head));
    }
    [[nodiscard]] ModelView whole(Seq head, Seq view_seq) const {
        return whole_view(history_of(id, up_to(head)), view_seq);
    }
    // Returns the view from the newest `count` records up to `head`; counts reads of earlier
    // inputs.
    [[nodiscard]] std::optional<ModelView> newest(Seq head, std::size_t count, Seq view_seq,
                                                  WindowRule const& rule) {
        auto const input = [&](Seq seq) -> Result<RecordPtr> {
            ++inputs_read;
            return records.at(static_cast<std::size_t>(seq - 1));
        };
        auto const all = up_to(head);
        auto const part = all.last(std::min(count, all.size()));
        auto view = view_of_newest(ends.at(static_cast<std::size_t>(head - 1)), part, view_seq,
                                   input, rule);
        EXPECT_TRUE(view);
        return view ? *std::move(view) : std::nullopt;
    }
    std::size_t inputs_read = 0;
};

void deliver_mail(session::testing::Given& given, std::uint32_t number) {
    Mail mail;
    SessionId from;
    from.bytes[15] = static_cast<std::uint8_t>(100 + number % 3);
    mail.id = {from, number};
    mail.project = "default";
    mail.from = from;
    mail.text = "mail " + std::to_string(number);
    mail.conversation = {from, 1};
    mail.wake = static_cast<Wake>(number % 3);
    if (number % 4 == 0) mail.expires = given.now + Duration(60'000);
    (void)given.when(Deliver{{from, number, 0}, mail});
}

// A long scenario in which every turn ends sooner or later.
session::testing::Given life(std::uint32_t seed, int turns) {
    using session::testing::Deed;
    std::mt19937 chance(seed);
    session::testing::World world(seed % 12);
    std::uint32_t mails = 0;
    for (int i = 0; i < turns; ++i) {
        for (std::uint32_t n = chance() % 8; n > 0; --n) {
            auto const a = static_cast<std::uint32_t>(chance() % 64);
            auto const b = static_cast<std::uint32_t>(chance() % 64);
            auto const deed = static_cast<Deed>(chance() % session::testing::deeds);
            bool const ends_it = (deed == Deed::move && a == 63) || deed == Deed::cancel;
            if (deed == Deed::worker && a % 2 == 0) {
                deliver_mail(world.session, ++mails);
            } else if (!ends_it) {
                world.step({deed, a, b});
            }
        }
        if (chance() % 3 == 0) (void)world.come_to_rest();
    }
    return world.session;
}

// However much is read, the result is the end of the whole view, and always the same.
TEST(ViewWindow, AnyPartOfAnyScenario_GivesTheEndOfTheWholeView) {
    WindowRule const rule{8, 12};
    std::size_t shorter = 0, inputs = 0;
    for (std::uint32_t seed = 0; seed < 25; ++seed) {
        Sample sample(life(seed, 40));
        for (RecordPtr const& one : sample.records) {
            auto const* const requested = std::get_if<ModelRequested>(&one->event.body);
            if (!requested) continue;
            Seq const head = one->event.seq;
            auto const whole = testing::view_text(sample.whole(head, requested->view_seq));
            std::optional<std::vector<std::string>> first;
            for (std::size_t count = 8; count < 2 * head; count *= 2) {
                auto const view = sample.newest(head, count, requested->view_seq, rule);
                if (!view) continue;
                auto const shown = testing::view_text(*view);
                ASSERT_GE(shown.size(), rule.messages_min);
                ASSERT_LE(shown.size(), whole.size());
                ASSERT_TRUE(std::equal(shown.rbegin(), shown.rend(), whole.rbegin()))
                    << "story " << seed << ", request " << head << ", " << count << " records";
                if (!first) first = shown;
                ASSERT_EQ(*first, shown) << "story " << seed << ", request " << head;
                shorter += shown.size() < whole.size() ? 1 : 0;
            }
            if (whole.size() < rule.messages_min) EXPECT_FALSE(first);
        }
        inputs += sample.inputs_read;
    }
    EXPECT_GT(shorter, 100U);
    EXPECT_GT(inputs, 0U);
}

// Prompts, some of them queued, and replies, some of them with tool calls.
session::testing::Given busy_talk(std::uint32_t seed, int turns) {
    std::mt19937 chance(seed);
    session::testing::Given given;
    (void)given.create();
    for (int i = 0; i < turns; ++i) {
        (void)given.prompt("text " + std::to_string(i), PromptMode::queue);
        if (chance() % 4 == 0) (void)given.prompt("and another", PromptMode::queue);
        while (given.state.turn) {
            bool const calls = chance() % 3 == 0;
            (void)given.reply(calls ? std::vector{session::testing::plain()}
                                    : std::vector<CallSpec>());
            if (calls) (void)given.finish(given.state.calls_ever);
        }
    }
    return given;
}

// The beginning stays equal between two places, and never moves back.
TEST(ViewWindow, BeginningOfTheView_MovesSeldomAndForward) {
    WindowRule const rule{40, 50};
    std::size_t moves = 0, views = 0;
    for (std::uint32_t seed = 0; seed < 1; ++seed) {
        Sample sample(busy_talk(seed, 100));
        std::size_t before = 0;
        for (RecordPtr const& one : sample.records) {
            auto const* const requested = std::get_if<ModelRequested>(&one->event.body);
            if (!requested) continue;
            Seq const head = one->event.seq;
            auto const view = sample.newest(head, head, requested->view_seq, rule);
            if (!view) continue;
            EXPECT_LE(view->messages.size(), 80U);
            std::size_t const left =
                sample.whole(head, requested->view_seq).messages.size() - view->messages.size();
            EXPECT_GE(left, before) << "story " << seed;
            moves += left != before ? 1 : 0;
            before = left;
            ++views;
        }
    }
    EXPECT_GT(views, 80U);
    EXPECT_LT(moves * 8, views);
}

// One turn of many steps: a view may begin between two of them.
TEST(ViewWindow, TurnOfManySteps_BeginsBetweenTwoOfThem) {
    TurnTerms terms;
    terms.step_limit = 200;
    session::testing::Given given(terms);
    (void)given.create();
    (void)given.prompt("please");
    for (CallNo no = 1; no <= 100; ++no) {
        (void)given.reply({session::testing::plain()});
        (void)given.finish(no);
    }
    Sample sample(given);
    auto const view =
        sample.newest(given.state.head, 200, given.turn().request->view_seq, {20, 40});
    ASSERT_TRUE(view);
    EXPECT_LT(view->messages.size(), 40U);
    EXPECT_EQ(view->messages.back().calls.front().call, 100U);
}

// A call that stays open: its outcome will be shown, and needs the message that made it.
TEST(ViewWindow, CallThatStaysOpen_KeepsItsMessage) {
    TurnTerms terms;
    terms.join = {1, false};
    terms.step_limit = 200;
    session::testing::Given given(terms);
    (void)given.create();
    (void)given.prompt("please");
    (void)given.reply({session::testing::job()});
    (void)given.pauses(1);
    for (int i = 0; i < 50; ++i) {
        (void)given.prompt("and", PromptMode::steer);
        (void)given.reply();
    }
    Sample sample(given);
    EXPECT_FALSE(sample.newest(given.state.head, given.state.head, given.state.head, {20, 10}));
}

}  // namespace
}  // namespace dormouse::wire
