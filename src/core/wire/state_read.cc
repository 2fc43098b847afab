#include "wire/event_json.h"
#include "wire/names.h"
#include "wire/program_json.h"
#include "wire/state_json.h"

#include "json/stored.h"
#include "session/fold.h"

#include <stdexcept>

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

std::uint32_t number_at(json::View v, std::string_view name) {
    return static_cast<std::uint32_t>(v[name].integer_or(0));
}
Seq seq(json::View v, std::string_view name) { return static_cast<Seq>(v[name].integer_or(0)); }
std::string text_at(json::View v, std::string_view name) { return v[name].string_or(""); }
Actor actor(json::View v, std::string_view name) { return parse_actor(text_at(v, name)); }
Time time(json::View v, std::string_view name) { return from_ms(v[name].integer_or(0)); }
std::optional<Time> maybe_time(json::View v, std::string_view name) {
    return v[name].exists() ? std::optional(time(v, name)) : std::nullopt;
}
Trouble trouble(json::View v) {
    return {text_at(v["error"], "code"), text_at(v["error"], "message")};
}

std::vector<json::View> list(json::View array) {
    std::vector<json::View> out;
    array.elements([&](json::View item) { out.push_back(item); });
    return out;
}

Pause read_pause(json::View v) {
    return {read_pause_terms(v),       maybe_time(v, "deadline"),     time(v, "since"),
            seq(v, "opened"),          v["byGate"].boolean_or(false), maybe_time(v, "pollAt"),
            seq(v, "polled"),          number_at(v, "pollFailures"),  maybe_time(v, "nearAt"),
            maybe_time(v, "remindAt"), number_at(v, "reminders")};
}

void read_answers(Call& call, json::View v) {
    for (auto const& [name, what] :
         {std::pair("decided", &call.decision), {"resumed", &call.resumed}}) {
        json::View const said = v[name];
        if (!said.exists()) continue;
        *what = read_submission(said);
        (*what)->digest = read_digest(said["digest"]);
    }
    if (v["kept"].exists()) call.kept = v["kept"].copy();
    if (json::View q = v["question"]; q.exists()) {
        call.question = Question{PendingId::parse(text_at(q, "pendingID")).value_or(PendingId()),
                                 time(q, "since"), seq(q, "opened")};
    }
    if (json::View c = v["claim"]; c.exists())
        call.claim = ClaimState{actor(c, "by"), time(c, "until")};
    for (json::View vote : list(v["votes"])) {
        call.votes.push_back({actor(vote, "by"), vote["approved"].boolean_or(false),
                              read_digest(vote["digest"]), time(vote, "at")});
    }
}

Effect effect_of(Call const& call, TurnNo turn) {
    EffectId const id{call.owed_since, call.no};
    if (call.phase == CallPhase::running) {
        return {id, RunTool{call.pending, call.attempt, call.spec.tool, call.spec.input,
                            call.resumed, turn, call.kept}};
    }
    return {id, AskGate{call.no, gate_of(call), call.spec.tool, call.spec.input, call.decision}};
}

void read_call(State& state, json::View v) {
    Call call;
    call.no = number_at(v, "no");
    call.step = number_at(v, "step");
    call.spec = read_call_spec(v["spec"]);
    call.gates_passed = number_at(v, "gatesPassed");
    call.generation = number_at(v, "generation");
    call.attempt = number_at(v, "attempt");
    call.epoch = seq(v, "epoch");
    call.pending = PendingId::parse(text_at(v, "pendingID")).value_or(PendingId());
    call.created = time(v, "created");
    call.started = time(v, "started");
    call.owed_since = seq(v, "owedSince");
    call.in_doubt = v["inDoubt"].boolean_or(false);
    call.progress_count = number_at(v, "progressCount");
    call.progress_second = v["progressSecond"].integer_or(0);
    call.progress_in_second = number_at(v, "progressInSecond");
    if (v["pause"].exists()) call.pause = read_pause(v["pause"]);
    read_answers(call, v);
    auto const phase = v["phase"].integer_or(0);
    FITS(phase >= 0 && phase <= static_cast<std::int64_t>(CallPhase::held));
    auto const [place, is_new] = state.calls.emplace(call.no, std::move(call));
    FITS(is_new);
    Call& placed = place->second;
    restore_phase(state, placed, static_cast<CallPhase>(phase));
    bool const owed = placed.phase == CallPhase::gating || placed.phase == CallPhase::running;
    if (owed) owe(state, effect_of(placed, state.turn ? state.turn->no : 0));
    set_timer(state, placed.no, TimerKind::tool_retry, maybe_time(v, "retryAt"));
    set_timer(state, placed.no, TimerKind::give_up, maybe_time(v, "giveUpAt"));
}

void read_request(State& state, OpenTurn& turn, json::View v) {
    if (json::View r = v["request"]; r.exists()) {
        turn.request =
            Request{number_at(r, "attempt"), seq(r, "viewSeq"), seq(r, "epoch"), seq(r, "since")};
        owe(state, {{turn.request->since, 0},
                    AskModel{turn.no, turn.step, turn.request->attempt, turn.request->view_seq,
                             turn.failures, turn.terms.program.has_value()}});
        for (Verdict const& verdict : turn.program.verdicts) {
            if (verdict.attempt == turn.request->attempt) owe(state, effect_of(verdict));
        }
        set_timer(state, 0, TimerKind::give_up, time(r, "giveUpAt"));
    }
    if (json::View r = v["retry"]; r.exists()) {
        turn.retry = ModelRetry{time(r, "at"), trouble(r)};
        set_timer(state, 0, TimerKind::model_retry, turn.retry->at);
    }
}

MailId mail_id(json::View v, std::string_view name) {
    return parse_mail_id(text_at(v, name)).value_or(MailId());
}
Thread read_thread(json::View v) { return {mail_id(v, "conversation"), number_at(v, "hops")}; }

void read_mail_state(State& state, json::View v) {
    state.mails = static_cast<std::uint64_t>(v["mails"].integer_or(0));
    state.asked_view = seq(v, "askedView");
    state.new_bounces = seq(v, "newBounces");
    for (json::View item : list(v["inbox"])) {
        state.inbox.push_back(
            {mail_id(item, "mailID"), static_cast<std::uint64_t>(item["number"].integer_or(0)),
             seq(item, "seq"), parse<MailHold>(text_at(item, "hold")).value_or(MailHold::none),
             time(item, "until"), read_thread(item), actor(item, "by"), maybe_time(item, "expires"),
             seq(item, "raised"), seq(item, "before")});
    }
    for (json::View known : list(v["conversations"])) {
        auto const n = list(known);
        if (n.size() < 4) continue;
        state.conversations.push_back({parse_mail_id(n[0].string_or("")).value_or(MailId()),
                                       static_cast<std::uint32_t>(n[1].integer_or(0)),
                                       from_ms(n[2].integer_or(0)),
                                       static_cast<std::uint32_t>(n[3].integer_or(0))});
    }
    restore_mail_timer(state);
}

OpenTurn read_turn(State& state, json::View v) {
    OpenTurn turn;
    turn.no = number_at(v, "no");
    turn.input = seq(v, "input");
    turn.cause = parse_source(text_at(v, "cause"));
    turn.by = actor(v, "by");
    turn.started = time(v, "started");
    turn.run = number_at(v, "run");
    turn.unchecked = seq(v, "unchecked");
    turn.step = number_at(v, "step");
    turn.attempt = number_at(v, "attempt");
    turn.committed = v["committed"].boolean_or(true);
    turn.failures = number_at(v, "failures");
    turn.newest_item = seq(v, "newestItem");
    turn.steered = v["steered"].boolean_or(false);
    if (auto word = v["finish"].string()) turn.finish = parse<FinishReason>(*word);
    if (v["thread"].exists()) turn.thread = read_thread(v["thread"]);
    turn.terms = read_turn_terms(v["terms"]);
    turn.usage = read_usage(v["usage"]);
    turn.program = read_program_turn(v["program"]);
    if (turn.unchecked != 0) owe(state, effect_of(turn));
    read_request(state, turn, v);
    for (json::View step : list(v["openSteps"])) {
        auto const n = list(step);
        auto const at = [&](std::size_t i) {
            return static_cast<std::uint32_t>(n.at(i).integer_or(0));
        };
        turn.open_steps[at(0)] = {at(1), at(2), at(3)};
    }
    return turn;
}

LastTurn read_last_turn(json::View v) {
    LastTurn last{number_at(v, "no"),
                  seq(v, "input"),
                  parse_source(text_at(v, "cause")),
                  actor(v, "by"),
                  number_at(v, "step"),
                  number_at(v, "attempt"),
                  read_usage(v["usage"]),
                  v["failed"].boolean_or(false),
                  {},
                  number_at(v, "run")};
    if (v["error"].exists()) last.error = trouble(v);
    return last;
}

EndedTurn read_untold(json::View v) {
    EndedTurn turn{number_at(v, "no"),
                   seq(v, "since"),
                   parse<FinishReason>(text_at(v, "finish")).value_or(FinishReason::stop),
                   {},
                   read_usage(v["usage"]),
                   {}};
    if (v["error"].exists()) turn.error = trouble(v);
    v["after"].elements([&](json::View name) { turn.after.push_back(name.string_or("")); });
    return turn;
}

Json maybe(json::View v, std::string_view name) {
    return v[name].exists() ? v[name].copy() : Json();
}

void read_task(State& state, json::View v) {
    Task task{number_at(v, "no"), SessionId::parse(text_at(v, "child")).value_or(SessionId()),
              text_at(v, "agent"), text_at(v, "description")};
    task.status = parse<TaskStatus>(text_at(v, "status")).value_or(TaskStatus::error);
    task.run = number_at(v, "run");
    task.by_call = v["byCall"].boolean_or(false);
    task.queued = seq(v, "queued");
    task.notify = v["notify"].boolean_or(false);
    task.gone = v["gone"].boolean_or(false);
    task.parts = maybe(v, "parts");
    task.result = maybe(v, "result");
    task.error = text_at(v, "error");
    task.by = actor(v, "by");
    task.mark = text_at(v, "mark");
    task.fork = v["fork"].boolean_or(false);
    task.progress = text_at(v, "progress");
    state.tasks.emplace(task.no, std::move(task));
}

void read_profile(State& state, json::View v) {
    state.head = seq(v, "head");
    state.lifecycle = parse<Lifecycle>(text_at(v, "lifecycle")).value_or(Lifecycle::none);
    state.project = text_at(v, "project");
    state.agent = text_at(v, "agent");
    state.alias = text_at(v, "alias");
    state.title = text_at(v, "title");
    state.auto_title = text_at(v, "autoTitle");
    state.cwd = text_at(v, "cwd");
    if (!v["labels"].is_null()) state.labels = v["labels"].copy();
    state.created_by = actor(v, "createdBy");
    state.created_idem = text_at(v, "createdIdem");
    if (auto const task = parse_numbered("tsk_", text_at(v, "parent")))
        state.parent = Parent{task->session, static_cast<TaskNo>(task->number),
                              static_cast<std::uint32_t>(v["depth"].integer_or(1))};
    state.imports = number_at(v, "imports");
    if (v["forkedFrom"].exists()) state.forked_from = SessionId::parse(text_at(v, "forkedFrom"));
    state.created = time(v, "created");
    state.updated = time(v, "updated");
    state.ended = maybe_time(v, "ended");
    state.turns = number_at(v, "turns");
    state.calls_ever = number_at(v, "callsEver");
    state.messages = seq(v, "messages");
    state.steps = seq(v, "steps");
    state.committed_view = seq(v, "committedView");
    state.usage = read_usage(v["usage"]);
    if (auto const base = list(v["base"]); base.size() == 4) {
        state.base = {static_cast<Seq>(base[0].integer_or(0)),
                      static_cast<TurnNo>(base[1].integer_or(0)),
                      static_cast<CallNo>(base[2].integer_or(0)),
                      static_cast<std::uint64_t>(base[3].integer_or(0))};
    }
    state.artifact_bytes = static_cast<std::uint64_t>(v["artifactBytes"].integer_or(0));
}

// Throws Misfit, and std::out_of_range for an array that is too short.
State read_all(SessionId const& session, json::View v) {
    State state;
    state.id = session;
    read_profile(state, v);
    if (v["turn"].exists()) state.turn = read_turn(state, v["turn"]);
    if (v["lastTurn"].exists()) state.last_turn = read_last_turn(v["lastTurn"]);
    for (json::View turn : list(v["untold"])) {
        state.untold.push_back(read_untold(turn));
        owe(state, effect_of(state.untold.back()));
    }
    for (json::View call : list(v["calls"])) read_call(state, call);
    for (json::View input : list(v["queue"])) {
        auto const item = list(input);
        state.queue.push_back(
            {static_cast<Seq>(item.at(0).integer_or(0)),
             static_cast<TurnNo>(item.at(1).integer_or(0)), parse_source(item.at(2).string_or("")),
             parse_actor(item.at(3).string_or("")),
             item.size() > 4 ? static_cast<std::uint32_t>(item[4].integer_or(0)) : 0,
             item.size() > 5 ? static_cast<TaskNo>(item[5].integer_or(0)) : 0,
             item.size() > 6 ? item[6].copy() : Json()});
    }
    state.tasks_ever = number_at(v, "tasksEver");
    for (json::View task : list(v["tasks"])) read_task(state, task);
    read_mail_state(state, v);
    state.program_seen = seq(v, "programSeen");
    state.program_typed = v["programTyped"].integer_or(0);
    state.acp_session = text_at(v, "acpSession");
    for (json::View left : list(v["acpLeft"])) state.acp_left.insert(left.string_or(""));
    if (auto const why = list(v["trouble"]); why.size() == 2)
        state.trouble = Trouble{why[0].string_or(""), why[1].string_or("")};
    for (json::View at : list(v["programDeaths"]))
        state.program_deaths.push_back(from_ms(at.integer_or(0)));
    return state;
}

}  // namespace

std::optional<State> read_state(SessionId const& session, std::string_view text) {
    json::View const v(text);
    bool const object = v.kind() == json::Kind::object && json::is_json(text);
    if (!object || !v["head"].exists()) return std::nullopt;
    try {
        return read_all(session, v);
    } catch (std::logic_error const&) {
        return std::nullopt;
    }
}

}  // namespace dormouse::wire
