#pragma once
// Given, when, then for one session: commands, then their events, answer and outstanding effects.
// After every command compares the state with the fold of the log and checks the invariants;
// broken() collects violations.

#include "session/testing/archive.h"
#include "session/testing/build.h"
#include "session/testing/invariants.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::session::testing {

class Given {
public:
    explicit Given(TurnTerms terms = {}) : terms(terms) {
        id.bytes[15] = 7;
        state.id = id;
        fold_.id = id;
    }

    // Decides `body` at the session's time and adds the events to the log.
    Decision when(Command::Body body) {
        auto const [command, context] = request_of(std::move(body));
        State const before = state;
        Decision decision = decide(state, command, context);
        check_again(before, command, context, decision);
        rows_of_events_.clear();
        if (decision.took) archive.take_outbox_message(command);
        for (Event const& event : decision.events) {
            std::ranges::copy(pending_changes(fold_, event), std::back_inserter(rows_of_events_));
            archive.take(fold_, event);
            apply(fold_, event);
        }
        check(decision);
        check_driver(context, decision);
        return decision;
    }

    struct Request {
        Command command;
        Context context;
        [[nodiscard]] Decision decided_on(State& state) const {
            return decide(state, command, context);
        }
    };
    // The command as when() builds it: next time, fresh randomness, and what is found by key.
    [[nodiscard]] Request request_of(Command::Body body) {
        Request out;
        out.command.by = by;
        out.command.idem_key = std::exchange(idem_key, {});
        out.command.idem_digest = std::exchange(idem_digest, {});
        out.command.body = std::move(body);
        out.context.at = now;
        out.context.random = sha256("random " + std::to_string(++drawn_));
        out.context.epoch = epoch;
        out.context.drives = drives;
        out.context.limits = limits;
        out.context.terms = terms;
        out.context.budgets = budgets;
        out.context.mail = mail;
        out.context.refused = std::exchange(refused, {});
        out.context.roles = roles;
        out.context.checked = std::exchange(checked, {});
        out.context.found = archive.found(state, out.command);
        out.context.found.totals = totals;
        out.context.counted = meter_of(state);
        return out;
    }

    // Reloads the session as another process would: the fold of its log, under a new epoch.
    void crash() {
        state = State{};
        state.id = id;
        for (Event const& event : archive.log) apply(state, event);
        ++epoch;
    }
    // A session whose log ends after `count` events, the end of an append.
    [[nodiscard]] Given after(std::size_t count) const {
        Given out(terms);
        out.budgets = budgets;
        out.epoch = epoch;
        out.drawn_ = drawn_;
        for (Event const& event : std::span(archive.log).first(count)) {
            out.archive.take(out.fold_, event);
            apply(out.fold_, event);
            out.now = std::max(out.now, event.at);
        }
        out.crash();
        return out;
    }
    Decision restart() {
        crash();
        return adopt();
    }
    // The processes before this one are gone.
    Decision adopt() {
        Adopt out;
        for (Epoch const one : intent_epochs(state)) {
            if (one < epoch) out.gone.push_back(one);
        }
        return when(std::move(out));
    }
    // The command reaches a process that does not drive the session.
    Decision elsewhere(Command::Body body) {
        drives = false;
        Decision out = when(std::move(body));
        drives = true;
        return out;
    }

    Decision create() { return when(Create{id, "default", "coder", {}, {}, {}, {}, {}, {}}); }
    Decision prompt(std::string const& text, std::optional<PromptMode> mode = {}) {
        Prompt prompt;
        prompt.parts = parts(text);
        prompt.when = mode;
        prompt.answer_output = quoted(text);
        prompt.answer_digest = result(text).digest;
        return when(std::move(prompt));
    }
    Decision reply(std::vector<CallSpec> calls = {}, FinishReason finish = FinishReason::stop) {
        ModelReply reply;
        reply.turn = turn().no;
        reply.step = turn().step;
        reply.attempt = turn().attempt;
        reply.finish = finish;
        reply.parts = parts("well");
        reply.calls = std::move(calls);
        reply.usage = {10, 5, 0};
        return when(std::move(reply));
    }
    Decision model_fails(bool may_retry = true) {
        ModelFailure failure{turn().no, turn().step, turn().attempt, {"model_failed", "503"},
                             may_retry, {}};
        return when(std::move(failure));
    }
    Decision finish(CallNo no, std::string const& output = "done") {
        Call const& call = state.calls.at(no);
        return outcome(call.pending, call.attempt, Done{quoted(output), {}, {}});
    }
    Decision tool_fails(CallNo no, bool may_retry) {
        Call const& call = state.calls.at(no);
        return outcome(call.pending, call.attempt, Failed{"refused", may_retry});
    }
    Decision loses(CallNo no, std::optional<Duration> retry_after = {}) {
        Call const& call = state.calls.at(no);
        return outcome(call.pending, call.attempt, InDoubt{"no answer", retry_after});
    }
    Decision pauses(CallNo no, PauseTerms pause = {}) {
        Call const& call = state.calls.at(no);
        return outcome(call.pending, call.attempt, std::move(pause));
    }
    Decision outcome(PendingId const& pending, std::uint32_t attempt,
                     decltype(ToolOutcome::what) what) {
        Sha256 const digest = sha256("outcome of attempt " + std::to_string(attempt));
        return when(ToolOutcome{pending, attempt, std::move(what), digest});
    }
    Decision gate(
        CallNo no,
        std::variant<GateOutcome::Allow, GateOutcome::Deny, PauseTerms, GateOutcome::Gone> what) {
        Call const& call = state.calls.at(no);
        return when(GateOutcome{no, call.spec.terms.gates.at(call.gates_passed), std::move(what)});
    }
    // The outcome of the poll that is due.
    Decision polled(CallNo no, decltype(PollOutcome::what) what,
                    std::string const& digest = "poll") {
        Call const& call = state.calls.at(no);
        return when(PollOutcome{call.pending, call.pause->polled, std::move(what), sha256(digest)});
    }
    Decision submit(PendingId const& pending, Submission what) {
        return when(Submit{pending, std::move(what), "http", {}, {}, {}});
    }
    Decision cancel_call(PendingId const& pending) {
        return when(Cancel{Cancel::Scope::call, pending});
    }
    Decision cancel_turn() { return when(Cancel{Cancel::Scope::turn, {}}); }
    Decision move(Move::To to) { return when(Move{to, "asked for"}); }
    Decision tick() { return when(Tick{}); }
    Decision later(Duration time) {
        now += time;
        return tick();
    }

    // A session whose model has asked for these calls. Calls that can start have started.
    Given& asks_for(std::vector<CallSpec> calls) {
        (void)create();
        (void)prompt("please");
        (void)reply(std::move(calls));
        return *this;
    }
    // Like asks_for(), with each call paused for its result.
    Given& waits_for(std::vector<CallSpec> calls) {
        std::size_t const count = calls.size();
        asks_for(std::move(calls));
        for (CallNo no = 1; no <= count; ++no) (void)pauses(no);
        return *this;
    }

    [[nodiscard]] OpenTurn const& turn() const { return *state.turn; }
    [[nodiscard]] Call const& call(CallNo no) const { return state.calls.at(no); }
    [[nodiscard]] PendingId pending(CallNo no) const { return call(no).pending; }
    [[nodiscard]] std::string what_class() const { return class_of(state); }
    // The outstanding effect of that kind; nullopt: none, or several.
    template <class Kind> [[nodiscard]] std::optional<Kind> find_effect() const {
        std::optional<Kind> out;
        for (auto const& [effect_id, effect] : outstanding(state)) {
            auto const* what = std::get_if<Kind>(&effect.what);
            if (what && out) return std::nullopt;
            if (what) out = *what;
        }
        return out;
    }
    [[nodiscard]] static Json parts(std::string const& text) {
        return json(R"([{"type":"text","text":")" + text + "\"}]");
    }
    [[nodiscard]] std::string broken() const { return broken_ + archive.broken(); }

    SessionId id;
    State state;
    Archive archive;
    Epoch epoch = 1;
    bool drives = true;  // the process that decides is the session's driver
    Time now = from_ms(1'800'000'000'000);
    Actor by{ActorType::token, "ann"};
    TurnTerms terms;
    Budgets budgets;
    std::optional<DayTotals> totals;  // what the store has counted
    MailPolicy mail;
    Limits limits;
    std::string idem_key, idem_digest;  // of the next command
    std::string refused = {};
    Checked checked = {};                                // of the next command's values
    std::optional<std::vector<std::string>> roles = {};  // of the caller; nullopt: all

private:
    // Equal inputs give equal decisions; a refused command writes only notes and what a Tick
    // writes.
    void check_again(State const& before, Command command, Context const& context,
                     Decision const& decision) {
        State again = before;
        if (types(decide(again, command, context)) != types(decision) || !(again == state)) {
            broken_ += "decided twice it is another decision; ";
        }
        if (decision.answer || std::holds_alternative<Create>(command.body)) return;
        std::vector<Event> written = decision.events;
        std::erase_if(written,
                      [](Event const& event) { return std::holds_alternative<Note>(event.body); });
        again = before;
        command.body = Tick{};
        if (types(decide(again, command, context)) != types(written))
            broken_ += "a refusal wrote " + types(written) + "; ";
    }
    void check(Decision const& decision) {
        if (state.lifecycle == Lifecycle::none) return;
        if (decision.pending != rows_of_events_)
            broken_ += "the decision names other rows than its events; ";
        if (!(fold_ == state)) broken_ += "the fold of the log is another state; ";
        broken_ += broken_of(state);
        for (Event const& event : decision.events) {
            if (event.at != now) broken_ += "an event at another time than its command's; ";
        }
        check_rows();
    }
    // Only a driver starts something, and it leaves nothing to start.
    void check_driver(Context const& context, Decision const& decision) {
        if (context.drives) {
            if (stalled(state) && answer_of(decision) != "not_found")
                broken_ += "a driver stalls; ";
            return;
        }
        for (Event const& event : decision.events) {
            bool const starts = std::holds_alternative<ToolStarted>(event.body) ||
                                std::holds_alternative<ModelRequested>(event.body) ||
                                std::holds_alternative<AgentPrompted>(event.body);
            if (starts) broken_ += "a process that does not drive starts something; ";
        }
        bool const due = !state.timers.empty() && state.timers.begin()->at <= now;
        State driven = state;
        Context driver = context;
        driver.drives = true;
        bool const moves = !decide(driven, {.body = Tick{}}, driver).events.empty();
        if (!due && moves != stalled(state)) broken_ += "stalled() and the driver differ; ";
    }

    // Every waiting row can be answered, and every waiting pause has a row.
    void check_rows() {
        std::set<PendingId> open;
        for (auto const& [no, call] : state.calls) {
            if (call.phase == CallPhase::waiting) open.insert(call.pending);
            if (call.question) open.insert(call.question->pending);
        }
        std::set<PendingId> const rows = archive.waiting_rows();
        for (PendingId const& pending : open) {
            if (!rows.contains(pending)) broken_ += "a pause without a row; ";
        }
        for (PendingId const& pending : rows) {
            if (!open_pause(state, pending)) broken_ += "a row waits for a call that is closed; ";
        }
    }

    State fold_;
    std::vector<PendingChange> rows_of_events_;
    std::uint32_t drawn_ = 0;
    std::string broken_;
};

}  // namespace dormouse::session::testing
