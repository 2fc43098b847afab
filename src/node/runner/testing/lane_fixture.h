#pragma once
// One lane in a world that a test controls: it holds or fails commits, and answers for effects.

#include "runner/lane/lane.h"
#include "runner/testing/world.h"
#include "session/testing/given.h"

#include <gtest/gtest.h>

namespace dormouse::runner::testing {

template <class Journal>
class TestHost final : public LaneSettings,
                       public LaneSchedule,
                       public LaneOutcomes,
                       public LaneMessages,
                       public LaneObserver {
public:
    [[nodiscard]] Time now() const override { return clock.now(); }
    [[nodiscard]] Duration monotonic() const override { return clock.monotonic(); }
    [[nodiscard]] session::Limits const& limits() const override { return allowed; }
    [[nodiscard]] session::TraceRules tracing() const override { return {}; }
    [[nodiscard]] session::MailPolicy mail_policy(std::string const&) const override { return {}; }
    [[nodiscard]] bool may_mail(std::string const&, std::string const&) const override {
        return false;
    }
    [[nodiscard]] std::vector<port::OutboxRow> outgoing(
        session::State const&, std::span<wire::RecordPtr const>,
        std::vector<session::PendingChange> const&) override {
        return {};
    }
    void offer(SessionId, session::EffectId id, session::Command::Body outcome) override {
        lane->offer(id, std::move(outcome));
    }
    void offer_later(SessionId, session::EffectId id, session::Command::Body outcome) override {
        ++offered_later;
        loop.after(Duration(1'000), [this, id, outcome = std::move(outcome)]() mutable {
            lane->offer(id, std::move(outcome));
        });
    }
    void store_failed(Error const&) override { ++failures; }
    void fenced() override {
        known_nodes.rejoin([this] { lane->forget_state(); });
    }
    void took_over() override {}
    void after(Duration delay, port::Fn<void()> work) override {
        loop.after(delay, std::move(work));
    }
    void wake_soon(SessionId, Time at) override { wakes.push_back(at); }
    void appended(Lane const&, std::vector<wire::RecordPtr> const& records) override {
        for (wire::RecordPtr const& record : records) observed.push_back(record->event.seq);
    }
    void outbox_added(std::vector<port::OutboxRow> rows) override {
        sent.insert(sent.end(), rows.begin(), rows.end());
    }
    void rested(SessionId) override { ++rests; }
    void delta(SessionId, session::AskModel const&, port::Delta const& delta) override {
        deltas.push_back(delta.text);
    }
    [[nodiscard]] bool draining() const override { return drains; }

    TestLoop loop;
    TestClock clock{loop};
    TestEntropy entropy;
    Journal store{loop};
    TestNodes<Journal> known_nodes{loop, store};
    JournalWriter append_writer{loop, store};
    Freshness comparing{loop, store, Journal::shared};
    Loads loading{loop, store, Journal::shared};
    TestEffects work;
    session::Limits allowed;
    StartedRuns runs{Journal::shared ? StartedRuns::newest_max : 0};
    Rules standing{{}};
    SessionNumbers numbers{loop, {.first = 100}, {}};
    LaneServices services{.entropy = entropy,
                          .nodes = known_nodes,
                          .journal = store,
                          .effects = work,
                          .agents = work,
                          .checks = {},
                          .writer = append_writer,
                          .freshness = comparing,
                          .loads = loading,
                          .runs = runs,
                          .rules = standing,
                          .numbers = numbers,
                          .settings = *this,
                          .schedule = *this,
                          .outcomes = *this,
                          .messages = *this,
                          .observer = *this};
    bool drains = false;
    std::vector<port::OutboxRow> sent;
    std::vector<Seq> observed;  // events reported to observers
    int offered_later = 0;
    int rests = 0;
    int failures = 0;
    std::vector<Time> wakes;
    std::vector<std::string> deltas;
    std::shared_ptr<Lane> lane;
};

template <class Journal> class LaneTestOn : public ::testing::Test {
protected:
    LaneTestOn() { host.lane = std::make_shared<Lane>(id, host.services, true); }
    ~LaneTestOn() override { host.lane.reset(); }

    // Gives `body` to the lane; answers are added to `answers`.
    void tell(session::Command::Body body, std::string idem_key = {},
              std::string idem_digest = "d") {
        Incoming incoming{{}, host.now(), host.entropy.random(), rights};
        session::Command& command = incoming.command;
        command.by = {session::ActorType::token, "ann"};
        if (!idem_key.empty()) command.idem_digest = std::move(idem_digest);
        command.idem_key = std::move(idem_key);
        command.body = std::move(body);
        host.lane->receive(std::move(incoming), [this](Result<session::Answer> answer) {
            answers.push_back(answer_of(answer));
            if (answer) last = *answer;
        });
    }
    // The same, then runs the loop until nothing is left.
    std::string ask(session::Command::Body body, std::string idem_key = {}) {
        tell(std::move(body), std::move(idem_key));
        host.loop.run();
        return answers.back();
    }
    std::string create() {
        return ask(session::Create{id, "default", "demo", {}, {}, {}, {}, {}, {}});
    }
    static session::Prompt prompt(std::string const& text,
                                  std::optional<session::PromptMode> when = {}) {
        session::Prompt out;
        out.parts = session::testing::Given::parts(text);
        out.when = when;
        return out;
    }
    static session::Submit submit(PendingId const& pending, session::Submission what) {
        return {pending, std::move(what), "http", {}, {}, {}};
    }
    // A session with a call that waits for its result.
    PendingId waiting_call() {
        (void)create();
        (void)ask(prompt("please"));
        host.work.reply({session::testing::job()});
        host.loop.run();
        PendingId const pending = host.work.ran.back().run.pending;
        host.work.finish(session::PauseTerms());
        host.loop.run();
        return pending;
    }
    // Reopens the store as a new process does.
    void restart() {
        host.store.reopen();
        host.lane = std::make_shared<Lane>(id, host.services, false);
    }
    // Makes a new lane in the same process, as after an unload.
    void reopen() { host.lane = std::make_shared<Lane>(id, host.services, false); }

    [[nodiscard]] Seq stored_head() {
        auto const read = read_session(*host.store.store, id);
        return read ? read->state.head : 0;
    }
    [[nodiscard]] session::State stored() {
        auto read = read_session(*host.store.store, id);
        return read ? std::move(read->state) : session::State();
    }
    static std::string answer_of(Result<session::Answer> const& answer) {
        return session::testing::answer_of(session::Decision{{}, answer, {}});
    }

    SessionId id = SessionId::make(1, {9, 9, 9, 9, 9, 9, 9, 9});
    TestHost<Journal> host;
    Rights rights;  // of the caller
    std::vector<std::string> answers;
    session::Answer last;
};

}  // namespace dormouse::runner::testing
