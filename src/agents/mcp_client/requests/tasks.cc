#include "mcp_client/requests/tasks.h"

#include "mcp_client/requests/call_result.h"
#include "mcp_client/requests/holder.h"
#include "mcp_client/requests/sampling.h"

#include <algorithm>

namespace dormouse::mcp_client {
namespace {

constexpr int code_not_found = -32002;  // of a resource

}  // namespace

void Tasks::created(PendingId const& call, std::string const& task, std::string const& token) {
    known_[key_of(call)] = {task, token, call};
    if (!token.empty()) tokens_[token] = key_of(call);
}

bool Tasks::progressed(std::string const& token, Json const& payload) {
    auto const at = tokens_.find(token);
    if (at == tokens_.end()) return false;
    progress_.note(known_.at(at->second).call, payload);
    return true;
}

std::string Tasks::forget(PendingId const& call) {
    auto const known = known_.extract(key_of(call));
    if (!known) return {};
    tokens_.erase(known.mapped().token);
    progress_.ended(call);
    return known.mapped().task;
}

agent::StopTool Tasks::poll(agent::PollCall const& call, port::Fn<void(agent::PollResult)> done) {
    Number const number = ++last_;
    if (!known_.contains(key_of(call.pending))) created(call.pending, call.external_ref, "");
    Known& known = known_.at(key_of(call.pending));
    if (known.call != call.pending) known.given.clear();
    known.call = call.pending;
    watches_.emplace(number, Watch{call.external_ref, call.pending, std::move(done),
                                   answers_in(call.state, call.external_ref), call.may_start});
    loop_.after(poll_max, scope_.guard([this, number] { finish(number, session::NotYet{}); }));
    (void)answer_request(number);
    if (requests_.ready() && watches_.contains(number)) get(number);
    return scope_.guard([this, number] { stop(number); });
}

void Tasks::ready() {
    std::vector<Number> numbers;
    for (auto& [number, watch] : watches_)
        if (watch.id.empty()) numbers.push_back(number);
    for (Number const number : numbers) {
        if (watches_.at(number).may_start.still())
            get(number);
        else
            finish(number, session::NotYet{requests_.named(std::string(agent::MayStart::refusal))});
    }
    for (std::string const& task : std::exchange(cancelled_, {})) cancel(task);
}

void Tasks::ask(Number number, std::string_view method, Duration limit,
                void (Tasks::*then)(Number, rpc::Peer::Answer const&)) {
    auto answered = [this, number, then](rpc::Peer::Answer const& answer) {
        auto const at = watches_.find(number);
        if (at == watches_.end()) return;
        at->second.id.clear();
        (this->*then)(number, answer);
    };
    Watch& watch = watches_.at(number);
    watch.id = requests_.ask({.method = method, .params = task_params(watch.task), .limit = limit},
                             std::move(answered));
}

void Tasks::get(Number number) { ask(number, "tasks/get", answer_limit, &Tasks::got); }

void Tasks::got(Number number, rpc::Peer::Answer const& answer) {
    if (!answer) return failed(number, answer.error());
    json::View const task(*answer);
    auto const state = read_task(task);
    if (!state) return finish(number, session::NotYet{requests_.named("its answer has no task")});
    follow(number, *state, task);
}

void Tasks::follow(Number number, TaskState const& state, json::View task) {
    Watch& watch = watches_.at(number);
    if (!state.message.empty() && state.message != watch.message) {
        watch.message = state.message;
        progress_.note(watch.call, progress_of(state.message));
    }
    bool const has_result = requests_.abilities().era == mcp::Era::with_initialize;
    if (state.status == TaskStatus::working) return wait(number, state.interval);
    if (auto outcome = outcome_of(state, task)) return settle(number, *std::move(outcome));
    if (state.status == TaskStatus::input_required && task["inputRequests"].exists())
        return give_input(number, state, task);
    if (has_result) return ask(number, "tasks/result", settings_.time_limit, &Tasks::got_result);
    settle(number, agent::Failed{"the task has ended without an outcome"});
}

void Tasks::give_input(Number number, TaskState const& state, json::View task) {
    auto round = read_task_round(task, watches_.at(number).answers, requests_.sampling());
    if (!round) {
        drop(watches_.at(number).task);
        return settle(number, agent::Failed{requests_.named(round.error())});
    }
    if (!is_complete(*round)) return ask_people(number, *std::move(round));
    (void)requests_.ask({"tasks/update", update_params(*round)}, [](auto const&) {});
    wait(number, state.interval);
}

void Tasks::asked(Json const& id, std::string const& task,
                  std::expected<Question, std::string> question) {
    if (!question) return requests_.refuse(id, rpc::code::invalid_params, question.error());
    if (requests_of_.contains(task))
        return requests_.refuse(id, rpc::code::invalid_request,
                                "the task asks another question already");
    bool const known =
        std::ranges::any_of(known_, [&](auto const& one) { return one.second.task == task; });
    if (!known || requests_of_.size() >= asking_max)
        return requests_.refuse(
            id, rpc::code::invalid_request,
            known ? "too many questions wait for people" : "no call waits for this task");
    requests_of_.emplace(task, Request{id, *std::move(question)});
    for (Number const number : watches_of(task)) (void)answer_request(number);
}

bool Tasks::answer_request(Number number) {
    Watch const& watch = watches_.at(number);
    auto const request = requests_of_.find(watch.task);
    if (request == requests_of_.end()) return false;
    auto const key = key_of_question(request->second.question);
    json::View const answer = json::View(watch.answers.responses)[key];
    Known& known = known_.at(key_of(watch.call));
    if (!answer.exists() || known.given == key) {
        ask_people(number, asked_round(request->second.question, watch.answers));
        return true;
    }
    known.given = key;
    Json const id = std::exchange(request->second.id, Json());
    requests_of_.erase(request);
    if (auto const why = answer.string()) {
        requests_.refuse(id, code_declined, *why);
    } else {
        requests_.respond(id, answer.copy());
    }
    return true;
}

// The request that is under way is not withdrawn: the server may ask inside it.
void Tasks::ask_people(Number number, Round round) {
    Watch& watch = watches_.at(number);
    if (round.number >= questions_max) {
        drop(watch.task);
        return settle(number,
                      agent::Failed{requests_.named("a call may ask at most 10 questions")});
    }
    watch.id.clear();
    finish(number, held_by(requests_.holder(),
                           ask_next(std::move(round), settings_.name, settings_.answer_limit, "")));
}

void Tasks::got_result(Number number, rpc::Peer::Answer const& answer) {
    if (answer) return settle(number, read_result(json::View(*answer)));
    auto const& fault = answer.error();
    bool const own =
        fault.code == rpc::code::closed || fault.code == code_lost || fault.code == code_refused;
    if (own) return failed(number, fault);
    settle(number, agent::Failed{requests_.named(fault.message)});
}

// The task is lost if the server says so; everything else may pass.
void Tasks::failed(Number number, rpc::Fault const& fault) {
    if (fault.code == rpc::code::closed) return;  // ready() asks again
    bool const lost = fault.code == rpc::code::invalid_params ||
                      fault.code == rpc::code::method_not_found || fault.code == code_not_found;
    if (lost)
        return settle(number, agent::Failed{requests_.named("its task is lost: " + fault.message)});
    finish(number, session::NotYet{requests_.named(fault.message)});
}

void Tasks::wait(Number number, Duration time) {
    auto const turn = ++watches_.at(number).turn;
    loop_.after(time, scope_.guard([this, number, turn] {
        auto const at = watches_.find(number);
        if (at == watches_.end() || at->second.turn != turn || !at->second.id.empty()) return;
        if (requests_.ready()) get(number);
    }));
}

void Tasks::changed(json::View task) {
    auto const state = read_task(task);
    if (!state || !requests_.ready()) return;
    for (Number const number : watches_of(state->id))
        if (watches_.at(number).id.empty()) get(number);
}

std::vector<Tasks::Number> Tasks::watches_of(std::string const& task) const {
    std::vector<Number> out;
    for (auto const& [number, watch] : watches_)
        if (watch.task == task) out.push_back(number);
    return out;
}

void Tasks::settle(Number number, agent::ToolResult result) {
    (void)forget(watches_.at(number).call);
    if (auto* done = std::get_if<agent::Done>(&result)) return finish(number, std::move(*done));
    if (auto* bad = std::get_if<agent::Failed>(&result)) return finish(number, std::move(*bad));
    finish(number, agent::Failed{"the task has ended without an outcome"});
}

void Tasks::finish(Number number, agent::PollResult result) {
    auto ended = watches_.extract(number);
    if (!ended) return;
    if (!ended.mapped().id.empty()) requests_.cancel(ended.mapped().id, "it is asked again later");
    ended.mapped().done(std::move(result));
}

void Tasks::stop(Number number) {
    auto const ended = watches_.extract(number);
    if (ended && !ended.mapped().id.empty())
        requests_.cancel(ended.mapped().id, "nobody waits for it");
}

// After a decision the call continues.
void Tasks::closed(session::Receipt const& receipt) {
    if (receipt.kind != session::SubmissionKind::decision) drop(forget(receipt.pending));
}

void Tasks::deleted(SessionId const& session) {
    auto const first = known_.lower_bound({session, 0});
    std::vector<PendingId> calls;
    for (auto at = first; at != known_.end() && at->first.first == session; ++at)
        calls.push_back(at->second.call);
    for (PendingId const& call : calls) drop(forget(call));
}

void Tasks::drop(std::string const& task) {
    if (task.empty()) return;
    auto const request = requests_of_.extract(task);
    if (request) requests_.respond(request.mapped().id, cancelled_answer());
    if (requests_.ready()) return cancel(task);
    if (cancelled_.size() < cancelled_max) cancelled_.insert(task);
}

void Tasks::cancel(std::string const& task) {
    (void)requests_.ask({"tasks/cancel", task_params(task)}, [](auto const&) {});
}

void Tasks::leave() {
    while (!watches_.empty()) finish(watches_.begin()->first, session::NotYet{});
}

}  // namespace dormouse::mcp_client
