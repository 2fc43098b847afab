#pragma once
// A simulated environment of one session: model, tools, gates, people, webhooks and a clock, driven
// by a list of small numbers. The meaning of a number depends on the open calls, so every list is a
// valid scenario, and a shorter list is a shorter scenario.

#include "session/testing/given.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::session::testing {

enum class Deed : std::uint8_t {
    prompt,   // in any mode
    answer,   // completes an outstanding effect: replies with calls, outcomes, pauses, decisions
    reply,    // the model asks for calls
    trouble,  // an outstanding effect fails
    // A submission for an open or closed pause; may be repeated, late or of the wrong kind.
    deliver,
    late_outcome,  // an abandoned attempt returns
    cancel,
    time,  // time advances or steps back
    crash,
    move,
    worker,  // progress and claims
    task,    // tools start tasks; children end their runs
    // Commands of people reach a process that does not drive the session; the driver has not
    // noticed.
    elsewhere,
};
inline constexpr std::uint32_t deeds = 13;

struct Step {
    Deed deed = Deed::prompt;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
};

class World {
public:
    // From kind 12 on the session has no agent: it begins with a client's call.
    explicit World(std::uint32_t kind) : session(terms_of(kind)) {
        session.budgets = budgets_of(kind);
        (void)(kind < 12 ? session.create() : session.when(external_call(kind)));
    }
    explicit World(Given at) : session(std::move(at)) {}

    void step(Step const& step) {
        switch (step.deed) {
            case Deed::prompt: return prompt(step.a, step.b);
            case Deed::answer: return answer(step.a, step.b);
            case Deed::reply: return reply(step.a, step.b);
            case Deed::trouble: return trouble(step.a, step.b);
            case Deed::deliver: return deliver(step.a, step.b);
            case Deed::late_outcome: return late_outcome(step.a, step.b);
            case Deed::cancel: return cancel(step.a, step.b);
            case Deed::time: return time(step.a);
            case Deed::crash: return crash(step.a);
            case Deed::move: return move(step.a, step.b);
            case Deed::worker: return worker(step.a, step.b);
            case Deed::task: return task(step.a, step.b);
            case Deed::elsewhere: return elsewhere(step.a, step.b);
        }
    }

    // Completes all outstanding work, lets all times pass, and starts nothing new. False: the
    // session does not become idle.
    [[nodiscard]] bool come_to_rest() {
        for (int i = 0; i < 4'000; ++i) {
            if (session.what_class() == "idle" || session.what_class() == "ended") return true;
            bool const paused = session.state.lifecycle == Lifecycle::paused;
            if (session.what_class() == "stopped") {
                (void)session.move(paused ? Move::To::resume : Move::To::retry);
            } else if (!rest_once()) {
                return false;
            }
        }
        return false;
    }

    Given session;

private:
    static TurnTerms terms_of(std::uint32_t kind) {
        TurnTerms terms;
        std::vector<Join> const joins{{0, false}, {1, false}, {1, true}, {2, false}};
        terms.join = joins[kind % 4];
        terms.tool_concurrency = 1 + kind / 4 % 3;
        terms.step_limit = 8;
        terms.timed = kind % 3 == 1;
        return terms;
    }

    // Null for two of three kinds.
    static Budgets budgets_of(std::uint32_t kind) {
        if (kind % 3 != 1) return nullptr;
        Budget tokens{{BudgetPer::turn, BudgetKind::tokens, {}}, 40};
        tokens.timeout = Duration(5'000'000);
        Budget const steps{{BudgetPer::session, BudgetKind::steps, {}}, 3};
        Budget const time{{BudgetPer::turn, BudgetKind::wall_time, {}}, 100'000};
        return std::make_shared<std::vector<Budget>>(std::vector{tokens, steps, time});
    }

    Create external_call(std::uint32_t kind) const {
        Create create{session.id, "default", std::string(no_agent), {}, {}, {}, {}, {}, {}};
        PauseTerms terms;
        std::vector<PauseReason> const reasons{PauseReason::approval, PauseReason::user_input,
                                               PauseReason::tool_result};
        terms.reason = reasons[kind % 3];
        terms.continuation = Continuation::tool_response;
        terms.timeout = Duration(90'000);
        if (kind % 2 == 0) terms.on_deadline = OnDeadline::deny;
        if (kind % 2 == 1) terms.escalate_to = {"role:admin"};
        create.ask = Create::Ask{plain("deploy"), std::move(terms), Given::parts("Deploy?")};
        return create;
    }

    static CallSpec call_of(std::uint32_t kind) {
        auto const policy = static_cast<CrashPolicy>(kind / 7 % 3);
        PauseTerms timer = pause_for(PauseReason::handoff);
        timer.continuation = Continuation::tool_response;
        timer.on_deadline = OnDeadline::done;
        timer.timeout = Duration(90'000);
        CallSpec spec = with_policy(plain(), policy);
        switch (kind % 7) {
            case 0: return spec;
            case 1: return with_policy(job(), policy);
            case 2: return gated(with_policy(job(), policy), {"first", "second"});
            case 3: return with_policy(pausing(PauseReason::approval), policy);
            case 4: return with_policy(pausing(PauseReason::user_input), policy);
            case 5: spec.refused = "there is no such tool"; return spec;
            default:
                spec = with_policy(pausing(PauseReason::handoff), policy);
                spec.at_once = timer;
                return spec;
        }
    }

    // The n-th outstanding effect; nullptr: none.
    [[nodiscard]] Effect const* outstanding_at(std::uint32_t n) const {
        auto const& all = outstanding(session.state);
        if (all.empty()) return nullptr;
        return &std::next(all.begin(), static_cast<std::ptrdiff_t>(n % all.size()))->second;
    }

    // The n-th newest pendingID that has left the session.
    [[nodiscard]] std::optional<PendingId> known(std::uint32_t n) const {
        std::vector<PendingId> ids;
        for (Event const& event : session.archive.log) {
            if (auto const* e = std::get_if<ToolStarted>(&event.body)) ids.push_back(e->pending);
            if (auto const* e = std::get_if<GateAsked>(&event.body)) ids.push_back(e->pending);
            if (auto const* e = std::get_if<BudgetReached>(&event.body)) ids.push_back(e->pending);
            if (auto const* e = std::get_if<CallInDoubt>(&event.body); e && e->question)
                ids.push_back(*e->question);
        }
        if (ids.empty()) return std::nullopt;
        return ids[ids.size() - 1 - n % ids.size()];  // 0 is the newest
    }

    void prompt(std::uint32_t a, std::uint32_t b) {
        std::optional<PromptMode> mode;
        if (a % 5 > 0) mode = static_cast<PromptMode>(a % 5 - 1);
        if (b % 3 == 0) {
            session.idem_key = "key " + std::to_string(b % 12);
            session.idem_digest = "body " + std::to_string(a % 2);
        }
        (void)session.prompt("text " + std::to_string(b % 4), mode);
    }

    void reply(std::uint32_t a, std::uint32_t b) {
        if (!session.state.turn || !session.state.turn->request) return;
        std::vector<CallSpec> calls;
        for (std::uint32_t i = 0; i < a % 4; ++i) calls.push_back(call_of(b + i * (1 + a)));
        auto const finish = a % 17 == 16 ? FinishReason::length : FinishReason::stop;
        (void)session.reply(std::move(calls), finish);
    }

    void answer(std::uint32_t a, std::uint32_t b) {
        Effect const* const effect = outstanding_at(a);
        if (!effect) return poll(a, b);
        CallNo const no = effect->id.call;
        if (std::holds_alternative<AskModel>(effect->what)) return reply(b, a);
        if (std::holds_alternative<AskGate>(effect->what)) {
            if (b % 3 == 1) return (void)session.gate(no, pause_for(PauseReason::approval));
            return (void)session.gate(no, GateOutcome::Allow{});
        }
        auto const& may = session.call(no).spec.terms.may_pause;
        if (!may.empty() && b % 4 != 0) return (void)session.pauses(no, terms_for(may.front(), b));
        (void)session.finish(no, "output " + std::to_string(b % 3));
    }

    // Answers the first poll that is due.
    void poll(std::uint32_t a, std::uint32_t b) {
        auto const due = due_polls(session.state, session.now);
        if (due.empty()) return;
        CallNo const no = due.begin()->first.call;
        if (a % 4 == 0) return (void)session.polled(no, Failed{"the job failed"});
        if (a % 4 == 1) return (void)session.polled(no, Done{quoted("1"), {}, {}});
        if (b % 5 == 1) return (void)session.polled(no, terms_for(PauseReason::tool_result, b / 5));
        (void)session.polled(no, NotYet{b % 2 == 0 ? "no answer" : "", {}});
    }

    static PauseTerms terms_for(PauseReason reason, std::uint32_t b) {
        PauseTerms terms = pause_for(reason);
        if (b % 5 == 1 || reason == PauseReason::handoff) terms.timeout = Duration(60'000);
        if (b % 10 == 1) terms.on_deadline = OnDeadline::deny;
        if (b % 7 == 1) terms.answer.need = 2;
        if (b % 3 == 1) terms.state = Json::trusted(std::to_string(b));
        if (b % 4 == 1) terms.warn_before = Duration(20'000);
        if (b % 13 == 1) terms.remind_after = Duration(15'000);
        if (b % 26 == 1) terms.remind_every = Duration(25'000);
        if (b % 11 == 1) terms.escalate_to = {"carl"};
        if (b % 3 == 1 && reason == PauseReason::tool_result) terms.poll_every = Duration(30'000);
        return terms;
    }

    void trouble(std::uint32_t a, std::uint32_t b) {
        Effect const* const effect = outstanding_at(a);
        if (!effect) return;
        CallNo const no = effect->id.call;
        if (std::holds_alternative<AskModel>(effect->what))
            return (void)session.model_fails(b % 4 != 0);
        if (std::holds_alternative<RunTool>(effect->what))
            return (void)session.tool_fails(no, b % 4 != 0);
        if (b % 2 == 0) return (void)session.gate(no, GateOutcome::Gone{});
        (void)session.gate(no, GateOutcome::Deny{"denied"});
    }

    static Submission offer(std::uint32_t kind) {
        switch (kind % 8) {
            case 0: return result("1");
            case 1: return result("2");
            case 2: return error("no");
            case 3: return decision(true);
            case 4: return decision(false);
            case 5: return doubt_decision("run_again");
            case 6: return doubt_decision("succeeded", "1");
            default: return doubt_decision("give_up");
        }
    }

    void deliver(std::uint32_t a, std::uint32_t b) {
        auto pending = known(a);
        if (!pending) return;
        if (b % 23 == 22) pending->nonce[0] ^= 1;
        session.by.name = b / 8 % 2 == 0 ? "ann" : "bob";
        (void)session.submit(*pending, offer(b));
    }

    void late_outcome(std::uint32_t a, std::uint32_t b) {
        auto const pending = known(a);
        if (!pending) return;
        std::uint32_t const attempt = 1 + b % 2;
        if (b % 5 == 0) return (void)session.outcome(*pending, attempt, PauseTerms{});
        if (b % 5 == 1) return (void)session.outcome(*pending, attempt, Failed{"late", b % 2 == 0});
        (void)session.outcome(*pending, attempt, Done{quoted("late"), {}, {}});
    }

    void cancel(std::uint32_t a, std::uint32_t b) {
        if (b % 6 == 0) return (void)session.when(Cancel{Cancel::Scope::all, {}});
        if (b % 6 == 1) return (void)session.cancel_turn();
        if (auto const pending = known(a)) (void)session.cancel_call(*pending);
    }

    void time(std::uint32_t a) {
        std::vector<Duration> const steps{
            Duration(1),          Duration(1'000),      Duration(60'000), Duration(3'600'000),
            Duration(90'000'000), -Duration(3'600'000), Duration(700'000)};
        session.now += steps[a % steps.size()];
        if (a / 7 % 2 == 0) (void)session.tick();  // otherwise the next command handles what is due
    }

    void crash(std::uint32_t a) {
        if (a % 3 == 0) session.now += Duration(3 * 24 * 3'600'000LL);
        (void)session.restart();
    }

    void move(std::uint32_t a, std::uint32_t b) {
        if (a == 63 && b % 2 == 1) return (void)session.when(Delete{});
        if (a % 8 < 5) return (void)session.move(static_cast<Move::To>(b % 5));
        Prompt again;
        again.parts = Given::parts("again");
        again.reopen = true;
        again.answer_output = quoted("again");
        if (a % 8 == 5) again.answers = known(b);
        (void)session.when(again);
    }

    void worker(std::uint32_t a, std::uint32_t b) {
        auto const pending = known(a);
        if (!pending) return;
        if (b % 2 == 0) return (void)session.when(Claim{*pending, Duration(30'000)});
        std::string const key = b % 3 == 0 ? "" : "p" + std::to_string(b % 5);
        (void)session.when(Progress{*pending, quoted("half"), key});
    }

    // A session without outstanding work has no driver: the next process becomes it.
    void elsewhere(std::uint32_t a, std::uint32_t b) {
        session.drives = outstanding(session.state).empty();
        switch (a % 6) {
            case 0: prompt(a / 6, b); break;
            case 1: cancel(a / 6, b); break;
            case 2: move(a / 6, b); break;
            case 3: time(a / 6); break;
            case 4: worker(a / 6, b); break;
            default: deliver(a / 6, b);
        }
        session.drives = true;
    }

    static TaskAsk task_ask(std::uint32_t kind, std::string task) {
        TaskAsk ask;
        ask.what = static_cast<TaskAsk::What>(kind % 7);
        if (kind % 5 != 0) ask.task = std::move(task);
        ask.agent = "demo";
        ask.parts = Given::parts("look");
        ask.block = kind % 2 == 0;
        if (ask.block || ask.what == TaskAsk::What::call) ask.timeout = Duration(60'000);
        return ask;
    }

    void task(std::uint32_t a, std::uint32_t b) {
        TaskNo const no = session.state.tasks_ever == 0 ? 1 : 1 + a % session.state.tasks_ever;
        std::string const id = task_id(session.id, no);
        if (b % 3 == 0) return ends(no, a, b);
        Effect const* const effect = outstanding_at(a);
        if (effect && std::holds_alternative<RunTool>(effect->what)) {
            Call const& call = session.call(effect->id.call);
            return (void)session.outcome(call.pending, call.attempt, task_ask(b, id));
        }
        TaskAsk ask = task_ask(b, id);
        if (ask.what == TaskAsk::What::call) ask.what = TaskAsk::What::start;
        (void)session.when(std::move(ask));
    }

    [[nodiscard]] bool a_run_ends() {
        for (auto const& [no, task] : session.state.tasks) {
            if (!task.active() || task.queued != 0) continue;
            std::size_t const before = session.archive.log.size();
            ends(no, 0, 1);
            return session.archive.log.size() > before;
        }
        return false;
    }

    // A child's run ends: in success or failure, as a repeat of an older run, or with its session.
    void ends(TaskNo no, std::uint32_t a, std::uint32_t b) {
        auto const found = session.state.tasks.find(no);
        if (found == session.state.tasks.end()) return;
        RunEnded ended{no, found->second.run, FinishReason::stop, quoted("said"), {}, b % 7 == 6};
        if (a % 4 == 1) ended.finish = FinishReason::cancelled;
        if (a % 4 == 2) ended.error = "broken";
        if (a % 4 == 3) --ended.run;
        (void)session.when(Deliver{{found->second.child, ++message_seq_, 0}, ended});
    }

    // Does one thing that brings the session nearer to idle; false: nothing to do.
    [[nodiscard]] bool rest_once() {
        if (stalled(session.state)) return !session.tick().events.empty();
        if (Effect const* const effect = outstanding_at(0)) {
            CallNo const no = effect->id.call;
            if (std::holds_alternative<AskModel>(effect->what))
                return answer_of(session.reply()) == "applied";
            if (std::holds_alternative<RunTool>(effect->what))
                return answer_of(session.finish(no)) == "applied";
            return answer_of(session.gate(no, GateOutcome::Allow{})) == "applied";
        }
        if (!session.state.awaiting_gate.empty()) return !session.adopt().events.empty();
        if (auto const due = due_polls(session.state, session.now); !due.empty()) {
            CallNo const no = due.begin()->first.call;
            return answer_of(session.polled(no, Done{quoted("1"), {}, {}})) == "applied";
        }
        if (auto const at = wake_at(session.state)) {
            session.now = std::max(session.now, *at);
            bool const moved = !session.tick().events.empty();
            return moved || !due_polls(session.state, session.now).empty();
        }
        for (auto const& [no, call] : session.state.calls) {
            if (!call.pause || call.pause->terms.task == 0) return person_answers(call);
            return a_run_ends();
        }
        return false;
    }

    [[nodiscard]] bool person_answers(Call const& call) {
        if (call.question)
            return answer_of(session.submit(call.question->pending, doubt_decision("give_up"))) ==
                   "applied";
        auto const reason = call.pause->terms.reason;
        bool const decides = reason == PauseReason::approval ||
                             reason == PauseReason::elicitation || reason == PauseReason::budget;
        session.by.name = "person " + std::to_string(++people_);  // with n-of-m each has one vote
        auto const d = session.submit(call.pending, decides ? decision(true) : result("done"));
        return answer_of(d) == "applied" || answer_of(d) == "counted";
    }

    std::uint32_t people_ = 0;
    Seq message_seq_ = 0;
};

}  // namespace dormouse::session::testing
