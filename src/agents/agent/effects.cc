#include "agent/effects.h"

#include "agent/calls.h"
#include "base/check.h"
#include "base/text/text.h"
#include "json/schema/schema.h"
#include "json/stored.h"
#include "session/limits.h"

#include <memory>
#include <optional>
#include <utility>

namespace dormouse::agent {

using namespace dormouse::session;

namespace {

Sha256 digest_of(ToolResult const& result) {
    if (auto const* done = std::get_if<Done>(&result))
        return sha256(json::canonical_object("output", done->output));
    std::string_view error = "paused";
    if (auto const* failed = std::get_if<Failed>(&result)) error = failed->message;
    if (auto const* lost = std::get_if<InDoubt>(&result)) error = lost->message;
    return sha256(json::canonical_object("error", Json::trusted(json::quote(error))));
}

// Refuses a task of an unknown agent before it is created.
ToolResult with_agent(Registry const& registry, ToolResult result) {
    auto const* ask = std::get_if<TaskAsk>(&result);
    bool const begins =
        ask && (ask->what == TaskAsk::What::start || ask->what == TaskAsk::What::call);
    Agent const* const agent = begins ? registry.agent(ask->agent) : nullptr;
    if (!begins || (agent && !agent->hidden)) return result;
    std::vector<std::string_view> known;
    for (Agent const& each : registry.agents()) {
        if (!each.hidden) known.push_back(each.id);
    }
    std::string text = "unknown agent '" + ask->agent + "'";
    if (auto const near = nearest(ask->agent, known); !near.empty())
        text += "; did you mean '" + std::string(near) + "'?";
    return Failed{std::move(text)};
}

Done compact(Done done) {
    done.output = json::compact(done.output);
    done.metadata = json::compact(done.metadata);
    return done;
}

ToolOutcome outcome_of(RunTool const& run, ToolResult result) {
    Sha256 const digest = digest_of(result);
    if (auto* done = std::get_if<Done>(&result)) *done = compact(std::move(*done));
    return {run.pending, run.attempt, std::move(result), digest};
}

PollOutcome outcome_of(PendingId const& pending, EffectId id, PollResult result) {
    Sha256 digest = {};
    if (auto* done = std::get_if<Done>(&result)) {
        digest = digest_of(*done);
        *done = compact(std::move(*done));
    } else if (auto const* failed = std::get_if<Failed>(&result)) {
        digest = digest_of(*failed);
    }
    return {pending, id.since, std::move(result), digest};
}

// A tool is user code: what it throws becomes its error, which the model gets.
ToolResult run_guarded(Tool const& tool, ToolCall const& call, std::stop_token stop) {
    try {
        if (tool.registers) return tool.registers(call.input);
        return tool.run(call, std::move(stop));
    } catch (std::exception const& error) {
        return Failed{std::string("the tool threw: ") + error.what()};
    } catch (...) {
        return Failed{"the tool threw a value that is not an exception"};
    }
}

// A tool's result, written on the worker thread, then read on the loop.
struct Worked {
    ToolResult result = Failed{"the tool was not started", true};
    bool begun = false;
};

// A gate's decision, written on the worker thread, then read on the loop.
struct Decided {
    std::optional<GateDecision> decision = {};  // nullopt: it has not begun
};

// The call may have waited for the thread.
void work(Tool const& tool, ToolCall const& call, std::stop_token stop, Worked& out) {
    if (stop.stop_requested() || !call.may_start.still()) {
        out.result = Failed{"the tool was not started: " + std::string(MayStart::refusal), true};
        return;
    }
    out.result = InDoubt{"memory ran out while the tool ran", {}};  // until it has returned
    out.begun = true;
    out.result = run_guarded(tool, call, std::move(stop));
}

GateOutcome outcome_of(AskGate const& ask, GateDecision decision) {
    GateOutcome outcome{ask.call, ask.gate, GateOutcome::Gone{}};
    if (auto* allow = std::get_if<Allow>(&decision)) {
        GateOutcome::Allow out{std::move(allow->input), {}};
        auto const input = json::repaired(out.input.value_or(Json()));
        if (!input) {
            outcome.what =
                GateOutcome::Deny{"the gate's input is not JSON: " + input.error().detail};
            return outcome;
        }
        if (out.input) out.input = *input;
        if (out.input) out.input_digest = sha256(json::canonical(*out.input));
        outcome.what = std::move(out);
    } else if (auto* deny = std::get_if<Deny>(&decision)) {
        outcome.what = GateOutcome::Deny{std::move(deny->message)};
    } else {
        outcome.what = std::get<PauseTerms>(std::move(decision));
    }
    return outcome;
}

// A standing rule is for this gate and this tool as they are defined now.
GateDecision with_tool(GateDecision decision, Tool const* tool) {
    auto* const terms = std::get_if<PauseTerms>(&decision);
    if (!terms || !terms->definition) return decision;
    if (!tool) {
        terms->definition.reset();
        return decision;
    }
    json::Writer out;
    out.begin_object().member("gate", digest_text(*terms->definition)).member("tool", tool->name);
    out.member("description", tool->description).member("schema", tool->schema);
    out.member("resultSchema", tool->result_schema).member("definition", tool->definition);
    terms->definition = sha256(json::canonical(out.end_object().json()));
    return decision;
}

GateDecision ask_guarded(Gate const& gate, GateCall const& call) {
    try {
        return gate.decide(call);
    } catch (std::exception const& error) {
        return Deny{"the gate '" + gate.name + "' threw: " + error.what()};
    } catch (...) {
        return Deny{"the gate '" + gate.name + "' threw a value that is not an exception"};
    }
}

void write_terms(json::Writer& out, PauseTerms const& terms) {
    auto const names = [&](std::string_view name, std::vector<std::string> const& of) {
        out.key(name).begin_array();
        for (std::string const& one : of) out.value(one);
        out.end_array();
    };
    out.begin_object().member("message", terms.message).member("form", terms.form);
    out.member("need", terms.answer.need).member("forbids", terms.answer.forbid_requester);
    names("from", terms.answer.from);
    names("escalateTo", terms.escalate_to);
    out.end_object();
}

// An approval also covers the question and the people who are asked.
Sha256 with_terms(Sha256 const& shown, AgentAsk const& ask) {
    json::Writer out;
    out.begin_object().member("shown", digest_text(shown)).key("asks").begin_array();
    write_terms(out, ask.terms);
    for (PauseTerms const& terms : ask.spec.then) write_terms(out, terms);
    return sha256(json::canonical(out.end_array().end_object().json()));
}

Command::Body gone_outcome(port::ModelRequest const& request, Trouble const& gone) {
    AskModel const& ask = request.ask;
    if (request.external)
        return AgentFailure{ask.turn, ask.step, ask.attempt, gone, AgentFailure::How::refused};
    return ModelFailure{ask.turn, ask.step, ask.attempt, gone, false, std::nullopt};
}

}  // namespace

// The demo's model is left out: it needs what a session with a real model needs.
bool AgentEffects::computes(std::string const& agent) const {
    Agent const* const found = registry_.agent(agent);
    return found && call_model_of(*found) != nullptr;
}

Command::Body AgentEffects::compute(port::ModelRequest request) const {
    Agent const* const agent = registry_.agent(request.agent);
    CallModel const* const model = agent ? call_model_of(*agent) : nullptr;
    CHECK(model);
    auto reply = model->reply(request.view);
    return models_.outcome_of(*agent, request.ask, std::move(reply));
}

void AgentEffects::ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                             port::Outcome done) {
    Agent const* const agent = registry_.agent(request.agent);
    if (!agent) {
        Trouble const gone{"agent_gone", "The agent '" + request.agent + "' no longer exists."};
        return done(gone_outcome(request, gone));
    }
    if (agent->external && request.external)
        return prompt(*agent, std::move(request), std::move(delta), std::move(done));
    if (request.external || !agent->model) {
        Trouble const gone{"agent_gone",
                           "The agent '" + request.agent + "' is now of another kind."};
        return done(gone_outcome(request, gone));
    }
    models_.ask(*agent, std::move(request), std::move(delta), std::move(done));
}

// The outcome is the last of what comes, apart from news.
void AgentEffects::prompt(Agent const& agent, port::ModelRequest request,
                          port::Fn<void(port::Delta)> delta, port::Outcome done) {
    Key const key{request.session, request.id};
    auto const external = agent.external;
    request.ask.trace = passed_on(surroundings_.tracing, request.session, request.ask);
    // A session has one prompt at a time; an earlier one that was given up has no outcome.
    std::erase_if(prompted_, [&](auto const& one) { return one.first.first == key.first; });
    prompted_[key] = {external, registry_.pin()};
    auto gated = [this, key, name = request.agent,
                  done = std::move(done)](Command::Body body) mutable {
        if (auto* const ask = std::get_if<AgentAsk>(&body)) set_terms(key.first, name, *ask);
        if (std::holds_alternative<AgentReply>(body) || std::holds_alternative<AgentFailure>(body))
            prompted_.erase(key);
        done(std::move(body));
    };
    auto refused = [this, key] {
        prompted_.erase(key);
        not_begun(key);
    };
    external->prompt(std::move(request), {MayStart(surroundings_.may_start), std::move(refused)},
                     std::move(delta), std::move(gated));
}

std::shared_ptr<ExternalAgent> AgentEffects::prompted(SessionId session) const {
    auto const at = prompted_.lower_bound({session, EffectId{}});
    bool const is_its = at != prompted_.end() && at->first.first == session;
    return is_its ? at->second.external : nullptr;
}

// Gates decide who is asked about an external agent's permission, and until when. All gates that
// match are asked one after the other, and all must allow it. The first denial decides, and then no
// person is asked.
void AgentEffects::set_terms(SessionId const& session, std::string const& agent,
                             AgentAsk& ask) const {
    if (!ask.own.empty()) return;  // the tool's own gates are asked when it is called
    std::vector<std::string> names = ask.names;
    names.push_back(ask.spec.tool);
    bool first = true;
    for (Gate const* const gate : registry_.gates_of_permission(names)) {
        auto decision =
            ask_guarded(*gate, {ask.spec.tool, ask.spec.input, std::nullopt, session, 0, agent});
        if (auto const* const denial = std::get_if<Deny>(&decision)) {
            ask.denied = denial->message.empty() ? "denied by " + gate->name : denial->message;
            break;
        }
        auto* const terms = std::get_if<PauseTerms>(&decision);
        if (!terms) continue;
        terms->continuation = ask.terms.continuation;
        terms->definition.reset();  // what the agent shows differs from its arguments
        if (std::exchange(first, false)) {
            ask.terms = std::move(*terms);
        } else {
            ask.spec.then.push_back(std::move(*terms));
        }
    }
    if (ask.spec.shown) ask.spec.shown = with_terms(*ask.spec.shown, ask);
}

ToolCall AgentEffects::call_of(Tool const& tool, std::string agent, RunTool const& run) const {
    ToolCall call{run.pending, run.attempt, run.input, tool.name};
    call.decision = run.decision;
    call.state = run.state;
    call.agent = std::move(agent);
    call.turn = run.turn;
    call.trace = passed_on(surroundings_.tracing, run);
    call.may_start = MayStart(surroundings_.may_start);
    if (surroundings_.callback_url && tool.terms.may_pause_for(PauseReason::tool_result))
        call.callback_url = surroundings_.callback_url(run.pending);
    if (!surroundings_.now) return call;
    Duration time = tool.terms.time_limit;
    if (tool.terms.may_pause_for(PauseReason::tool_result))
        time = tool.terms.pause_timeout.value_or(limits::pause_timeout_default);
    if (time != Duration::max()) call.deadline = surroundings_.now() + time;
    return call;
}

void AgentEffects::run_tool(SessionId session, EffectId id, std::string agent, RunTool run,
                            port::Outcome done) {
    Tool const* const tool = registry_.tool(run.tool);
    if (!tool) return done(outcome_of(run, Failed{"the tool '" + run.tool + "' no longer exists"}));
    ToolCall call = call_of(*tool, std::move(agent), run);
    Key const key{session, id};
    if (tool->start)
        return start_on_loop(*tool, key, std::move(run), std::move(call), std::move(done));
    run_on_worker(*tool, key, std::move(run), std::move(call), std::move(done));
}

void AgentEffects::run_on_worker(Tool const& tool, Key key, RunTool run, ToolCall call,
                                 port::Outcome done) {
    auto const worked = std::make_shared<Worked>();
    auto const stopped = std::make_shared<bool>(false);
    auto job = [&tool, pin = registry_.pin(), call = std::move(call),
                worked](std::stop_token stop) { work(tool, call, std::move(stop), *worked); };
    auto finished = [this, key, run = std::move(run), worked, stopped,
                     done = std::move(done)](bool ran) mutable {
        if (*stopped && !worked->begun) return;
        if (!*stopped) running_.erase(key);
        if (!ran && !worked->begun) return not_begun(key);  // the queue was full
        done(outcome_of(run, with_agent(registry_, std::move(worked->result))));
    };
    auto source = workers_.run(std::move(job), std::move(finished));
    keep(key, stopped, [source]() mutable { source.request_stop(); });
}

void AgentEffects::start_on_loop(Tool const& tool, Key key, RunTool run, ToolCall call,
                                 port::Outcome done) {
    auto const over = std::make_shared<bool>(false);
    auto finished = [this, key, over, run = std::move(run),
                     done = std::move(done)](ToolResult result) mutable {
        if (std::exchange(*over, true)) return;
        running_.erase(key);
        done(outcome_of(run, with_agent(registry_, std::move(result))));
    };
    keep(key, over, tool.start(std::move(call), std::move(finished)));
}

void AgentEffects::ask_gate(SessionId session, EffectId id, std::string agent, AskGate ask,
                            port::Outcome done) {
    Gate const* const gate = registry_.gate(ask.gate);
    if (!gate) return done(GateOutcome{ask.call, ask.gate, GateOutcome::Gone{}});
    GateCall call{ask.tool, ask.input, ask.decision, session, ask.call, std::move(agent)};
    call.trace = passed_on(surroundings_.tracing, session, ask);
    Tool const* const tool = registry_.tool(ask.tool);
    if (!gate->may_block) return done(outcome_of(ask, with_tool(gate->decide(call), tool)));
    auto const decided = std::make_shared<Decided>();
    auto const over = std::make_shared<bool>(false);
    Key const key{session, id};
    auto const taken_at = std::make_shared<TakenAt>(0);
    if (surroundings_.now) gates_[key] = taken_at;
    auto job = [gate, tool, pin = registry_.pin(), call = std::move(call),
                may_start = MayStart(surroundings_.may_start), now = surroundings_.now, taken_at,
                decided](std::stop_token const& stop) {
        if (stop.stop_requested() || !may_start.still()) return;
        if (now) *taken_at = to_ms(now());
        decided->decision = with_tool(ask_guarded(*gate, call), tool);
    };
    auto finished = [this, key, ask = std::move(ask), decided, over,
                     done = std::move(done)](bool) mutable {
        if (std::exchange(*over, true)) return;
        running_.erase(key);
        gates_.erase(key);
        if (!decided->decision) return not_begun(key);
        done(outcome_of(ask, *std::move(decided->decision)));
    };
    auto source = workers_.run(std::move(job), std::move(finished));
    keep(key, over, [source]() mutable { source.request_stop(); });
}

void AgentEffects::not_begun(Key const& key) {
    CHECK(surroundings_.not_begun);
    surroundings_.not_begun(key.first, key.second);
}

void AgentEffects::poll_tool(SessionId session, EffectId id, std::string, PollTool poll,
                             port::Outcome done) {
    Tool const* const tool = registry_.tool(poll.tool);
    if (tool && tool->poll) return this->poll(*tool, {session, id}, poll, std::move(done));
    // A result may still come from outside.
    std::string const why = "the tool '" + poll.tool + "' no longer exists, or cannot be asked";
    done(PollOutcome{poll.pending, id.since, NotYet{why}, {}});
}

void AgentEffects::poll(Tool const& tool, Key key, PollTool const& poll, port::Outcome done) {
    PollCall call{poll.pending, poll.input, poll.tool, poll.external_ref, poll.state};
    call.may_start = MayStart(surroundings_.may_start);
    auto const over = std::make_shared<bool>(false);
    auto finished = [this, key, over, pending = poll.pending,
                     done = std::move(done)](PollResult result) mutable {
        if (std::exchange(*over, true)) return;
        running_.erase(key);
        done(outcome_of(pending, key.second, std::move(result)));
    };
    keep(key, over, tool.poll(std::move(call), std::move(finished)));
}

Epoch AgentEffects::holder(std::string const& tool, Json const& state) const {
    Tool const* const found = registry_.tool(tool);
    return found && found->holder ? found->holder(state) : 0;
}

void AgentEffects::ask_turn(port::TurnRequest request, port::Outcome done) {
    TurnOutcome none{request.ask.turn, request.ask.ended};
    if (!registry_.turns()) {
        if (!none.ended)
            none.refused = "the interceptor '" + request.ask.names.front() + "' no longer exists";
        return done(std::move(none));
    }
    Key const key{request.session, request.id};
    auto const over = std::make_shared<bool>(false);
    auto finished = [this, key, over,
                     done = std::move(done)](std::optional<TurnOutcome> outcome) mutable {
        if (std::exchange(*over, true)) return;
        running_.erase(key);
        if (!outcome) return not_begun(key);
        done(*std::move(outcome));
    };
    MayStart may_start(surroundings_.may_start);
    keep(key, over,
         registry_.turns()(std::move(request), std::move(may_start), std::move(finished)));
}

// Stores the stop function of an effect that has started and not ended.
void AgentEffects::keep(Key key, std::shared_ptr<bool> const& over, StopTool stop) {
    if (*over) return;  // it ended before start() returned
    running_[key] = [over, stop = std::move(stop)]() mutable {
        *over = true;
        if (stop) stop();
    };
}

void AgentEffects::notify_agent(SessionId session, std::string const& agent,
                                NotifyAgent const& what) {
    if (auto const external = prompted(session)) return external->notify(session, what);
    Agent const* const found = registry_.agent(agent);
    if (found && found->external) found->external->notify(session, what);
}

void AgentEffects::ended(SessionId session, std::string const& agent) {
    if (auto const external = prompted(session)) external->ended(session);
    Agent const* const found = registry_.agent(agent);
    if (found && found->external) found->external->ended(session);
}

std::optional<Time> AgentEffects::model_until(SessionId session, EffectId id) const {
    if (auto const until = models_.until(session, id)) return until;
    if (auto const gate = gates_.find({session, id}); gate != gates_.end()) {
        std::int64_t const taken_at = *gate->second;
        return taken_at == 0 ? Time::max() : from_ms(taken_at) + limits::gate_time_limit;
    }
    auto const at = prompted_.find({session, id});
    bool const runs = at != prompted_.end() && at->second.external->prompting(session, id);
    return runs ? std::optional(Time::max()) : std::nullopt;
}

void AgentEffects::stop(SessionId session, EffectId id) {
    if (id.call == 0) models_.stop(session, id);
    gates_.erase({session, id});
    if (auto stopped = prompted_.extract({session, id}))
        stopped.mapped().external->stop(session, id);
    // Removed first, because the callback may look at running_.
    if (auto stopped = running_.extract({session, id})) stopped.mapped()();
}

// Returns what the instructions and the tools leave of the request; four of their bytes count as a
// token.
bool AgentEffects::is_placed(std::string const& agent) const {
    Agent const* const found = registry_.agent(agent);
    return found && found->placed;
}

std::optional<std::uint64_t> AgentEffects::view_tokens(std::string const& agent) const {
    Agent const* const found = registry_.agent(agent);
    if (!found || !found->model) return std::nullopt;
    auto const tokens = found->model->limits().request_tokens;
    if (!tokens) return std::nullopt;
    std::uint64_t bytes = found->instructions.size();
    for (std::string const& name : found->tools) {
        if (Tool const* const tool = registry_.tool(name))
            bytes += tool->name.size() + tool->description.size() + tool->schema.size();
    }
    return *tokens - std::min(*tokens, bytes / 4);
}

std::string AgentEffects::refusal(std::string const& agent, std::string const& project) const {
    Agent const* const found = registry_.agent(agent);
    return found && found->external ? found->external->refusal(project) : "";
}

Budgets AgentEffects::budgets(std::string const& agent) const {
    Agent const* const found = registry_.agent(agent);
    if (!found) return nullptr;
    return found->budgets ? found->budgets : no_budgets_;
}

std::optional<TurnTerms> AgentEffects::terms(std::string const& agent) const {
    Agent const* const found = registry_.agent(agent);
    return found ? std::optional(found->terms) : std::nullopt;
}

}  // namespace dormouse::agent
