#include "mcp_client/requests/calls.h"

#include "base/text/text.h"
#include "mcp_client/library.h"
#include "mcp_client/requests/call_result.h"
#include "mcp_client/requests/holder.h"

#include <utility>
#include <vector>

namespace dormouse::mcp_client {
namespace {

constexpr std::string_view related_task = "io.modelcontextprotocol/related-task";

Json params_of(agent::ToolCall const& call, bool as_task, Duration limit) {
    if (is_library_tool(call.tool)) return call.input;
    json::Writer out;
    out.begin_object().member("name", call.tool).member("arguments", call.input);
    if (as_task) out.key("task").begin_object().member("ttl", limit.count()).end_object();
    return out.end_object().json();
}

}  // namespace

agent::StopTool Calls::start(agent::ToolCall call, port::Fn<void(agent::ToolResult)> done) {
    if (call.decision && is_sign_in(call.state) && !call.decision->approved) {
        done(agent::Failed{requests_.named("nobody has signed in")});
        return {};
    }
    if (call.decision && is_round(call.state)) return start_round(std::move(call), std::move(done));
    auto const question = call.decision ? question_in(call.state) : std::nullopt;
    auto const number = question ? continued(call, done) : std::nullopt;
    if (number) {
        answer(*number);
        return scope_.guard([this, number = *number] { stop(number); });
    }
    if (question && !repeatable(call.tool)) {
        done(session::InDoubt{requests_.named(
            "its question was answered after the connection on which it was asked had ended")});
        return {};
    }
    Call added{std::move(call), std::move(done)};
    if (question && misfit(*question, *added.what.decision).empty())
        added.kept = {question->digest, answer_of(*question, *added.what.decision)};
    return add(std::move(added));
}

agent::StopTool Calls::add(Call call) {
    auto const number = ++last_;
    calls_.emplace(number, std::move(call));
    begin(number);
    return scope_.guard([this, number] { stop(number); });
}

agent::StopTool Calls::start_round(agent::ToolCall call, port::Fn<void(agent::ToolResult)> done) {
    Call added{std::move(call), std::move(done)};
    added.round = round_in(added.what.state);
    auto const question = next_question(*added.round);
    auto const number = ++last_;
    calls_.emplace(number, std::move(added));
    answer_round(number, question);
    return scope_.guard([this, number] { stop(number); });
}

void Calls::answer_round(Number number, Question const& question) {
    Call& call = calls_.at(number);
    session::Submission const& decision = *call.what.decision;
    bool const samples = !question.sample.is_null();
    if (samples && !(decision.approved && ask_model_))
        return refuse_round(number, "a person has declined the request");
    if (samples) {
        limit(number, settings_.time_limit, &Calls::time_over);
        return ask_model(number, question);
    }
    auto const wrong = misfit(question, decision);
    if (wrong.empty()) answer_next(*call.round, answer_of(question, decision));
    continue_round(number, wrong);
}

void Calls::continue_round(Number number, std::string const& wrong) {
    Call& call = calls_.at(number);
    Round const& round = *call.round;
    if (!wrong.empty() || !is_complete(round)) return finish(number, ask_round(round, wrong));
    if (!round.task.empty())
        return finish(number, held_by(requests_.holder(), task_pause(round, settings_.task_limit)));
    call.waits = Waits::connection;
    ++call.turn;
    begin(number);
}

// Only a request of the server can be refused; else the call ends.
void Calls::refuse_round(Number number, std::string const& why) {
    Round& round = *calls_.at(number).round;
    if (round.by == AnswerBy::response) {
        answer_next(round, Json::trusted(json::quote(why)));
        return continue_round(number, "");
    }
    tasks_.drop(round.task);
    finish(number, agent::Failed{requests_.named(why)});
}

void Calls::sampled_round(Number number, std::expected<Json, std::string> const& result) {
    if (!result) return refuse_round(number, result.error());
    answer_next(*calls_.at(number).round, *result);
    continue_round(number, "");
}

agent::ToolResult Calls::ask_round(Round round, std::string const& wrong) const {
    if (round.number >= questions_max) tasks_.drop(round.task);
    if (round.number >= questions_max)
        return agent::Failed{requests_.named("a call may ask at most 10 questions")};
    // A round of a call needs no connection: the call is made again.
    Epoch const holder = round.task.empty() ? 0 : requests_.holder();
    return held_by(holder,
                   ask_next(std::move(round), settings_.name, settings_.answer_limit, wrong));
}

bool Calls::repeatable(std::string const& tool) const {
    ForeignTool const* const listed = requests_.tool(tool);
    return listed && crash_policy_of(listed->hints) == session::CrashPolicy::retry;
}

void Calls::begin(Number number) {
    if (requests_.ready()) return send(number);
    if (!requests_.sign_in_page().empty()) return finish(number, ask_sign_in(number));
    loop_.after(settings_.start_limit, scope_.guard([this, number] { not_connected(number); }));
}

agent::ToolResult Calls::ask_sign_in(Number number) const {
    auto const asked = sign_ins_in(calls_.at(number).what.state);
    if (asked >= questions_max)
        return agent::Failed{requests_.named("people have signed in 10 times for this call")};
    return sign_in_pause(settings_.name, requests_.sign_in_page(), settings_.answer_limit,
                         asked + 1);
}

void Calls::need_sign_in() {
    std::vector<Number> waiting;
    for (auto const& [number, call] : calls_)
        if (call.waits == Waits::connection) waiting.push_back(number);
    for (Number const number : waiting) finish(number, ask_sign_in(number));
}

std::optional<Calls::Number> Calls::continued(agent::ToolCall& call,
                                              port::Fn<void(agent::ToolResult)>& done) {
    auto const asking = asking_.extract(key_of(call.pending));
    if (!asking) return std::nullopt;
    Call& found = calls_.at(asking.mapped());
    found.what = std::move(call);
    found.done = std::move(done);
    return asking.mapped();
}

// A person has answered the question of the call.
void Calls::answer(Number number) {
    Call& call = calls_.at(number);
    call.waits = Waits::server;
    if (call.result) return finish(number, *std::move(call.result));
    if (!call.question.sample.is_null()) return sample(number);
    auto const wrong = misfit(call.question, *call.what.decision);
    if (!wrong.empty() && call.questions < questions_max) return ask_person(number, wrong);
    requests_.respond(
        std::exchange(call.question_id, Json()),
        wrong.empty() ? answer_of(call.question, *call.what.decision) : cancelled_answer());
    limit(number, settings_.time_limit, &Calls::time_over);
}

// A person has decided whether the agent's model answers the server.
void Calls::sample(Number number) {
    Call& call = calls_.at(number);
    limit(number, settings_.time_limit, &Calls::time_over);
    if (!call.what.decision->approved || !ask_model_)
        return requests_.refuse(std::exchange(call.question_id, Json()), code_declined,
                                "a person has declined the request");
    ask_model(number, call.question);
}

void Calls::ask_model(Number number, Question const& question) {
    Call& call = calls_.at(number);
    call.waits = Waits::model;
    auto done = scope_.guard(
        [this, number](agent::ModelOutcome const& outcome) { sampled_by(number, outcome); });
    auto stop = ask_model_(call.what.agent, model_question(question), std::move(done));
    auto const at = calls_.find(number);
    if (at != calls_.end() && at->second.waits == Waits::model)
        at->second.stop_model = std::move(stop);
}

void Calls::sampled_by(Number number, agent::ModelOutcome const& outcome) {
    auto const at = calls_.find(number);
    if (at == calls_.end() || at->second.waits != Waits::model) return;
    Call& call = at->second;
    call.waits = Waits::server;
    call.stop_model = {};
    auto const id = std::exchange(call.question_id, Json());
    auto const result = sampled(outcome, call.what.agent);
    if (id.is_null()) return sampled_round(number, result);
    if (!result) return requests_.refuse(id, rpc::code::internal_error, result.error());
    requests_.respond(id, *result);
}

// Removes the call; a model that still answers for it is stopped.
std::optional<Calls::Call> Calls::take(Number number) {
    auto ended = calls_.extract(number);
    if (!ended) return std::nullopt;
    Call call = std::move(ended.mapped());
    if (call.stop_model) std::exchange(call.stop_model, {})();
    return call;
}

void Calls::asked(Json const& id, std::expected<Question, std::string> question, json::View params,
                  std::string const& inside) {
    json::View const task = params["_meta"][related_task]["taskId"];
    if (task.exists()) return tasks_.asked(id, task.string_or(""), std::move(question));
    auto const number = asker(inside);
    if (!number)
        return requests_.refuse(id, rpc::code::invalid_request,
                                "it is not known to which call this question belongs");
    if (!question) return requests_.refuse(id, rpc::code::invalid_params, question.error());
    if (auto const why = refusal(*number); !why.empty())
        return requests_.refuse(id, rpc::code::invalid_request, why);
    Call& call = calls_.at(*number);
    if (call.kept && call.kept->first == question->digest)
        return requests_.respond(id, std::exchange(call.kept, std::nullopt)->second);
    call.question = *std::move(question);
    call.question_id = id;
    ask_person(*number, "");
}

// The call in whose answer the question came; else the only one that waits for the server.
std::optional<Calls::Number> Calls::asker(std::string const& inside) const {
    std::optional<Number> only;
    for (auto const& [number, call] : calls_) {
        if (call.waits == Waits::connection || call.id.empty()) continue;
        if (!inside.empty() && call.id == inside) return number;
        if (!inside.empty()) continue;
        if (only) return std::nullopt;
        only = number;
    }
    return only;
}

std::string Calls::refusal(Number number) const {
    Call const& call = calls_.at(number);
    bool const asks = call.waits == Waits::person || call.waits == Waits::model;
    if (asks) return "the call asks another question already";
    if (call.questions >= questions_max) return "a call may ask at most 10 questions";
    if (asking_.size() >= asking_max) return "too many questions wait for people";
    return {};
}

void Calls::ask_person(Number number, std::string const& wrong) {
    Call& call = calls_.at(number);
    call.waits = Waits::person;
    asking_[key_of(call.what.pending)] = number;
    auto pause =
        pause_of(call.question, settings_.name, settings_.answer_limit, ++call.questions, wrong);
    limit(number, settings_.answer_limit + answer_slack, &Calls::abandon);
    std::exchange(call.done, {})(held_by(requests_.holder(), std::move(pause)));
}

void Calls::closed(session::Receipt const& receipt) {
    bool const ended = receipt.kind == session::SubmissionKind::cancel ||
                       receipt.kind == session::SubmissionKind::expiry;
    auto const asking = asking_.find(key_of(receipt.pending));
    if (ended && asking != asking_.end()) abandon(asking->second);
}

void Calls::deleted(SessionId const& session) {
    auto const first = asking_.lower_bound({session, 0});
    std::vector<Number> numbers;
    for (auto at = first; at != asking_.end() && at->first.first == session; ++at)
        numbers.push_back(at->second);
    for (Number const number : numbers) abandon(number);
}

// Nobody answers the question any more, and nobody waits for the call.
void Calls::abandon(Number number) {
    auto const ended = take(number);
    if (!ended) return;
    Call const& call = *ended;
    asking_.erase(key_of(call.what.pending));
    progress_.ended(call.what.pending);
    if (call.result) return;
    requests_.respond(call.question_id, cancelled_answer());
    requests_.cancel(call.id, "its question was not answered");
}

void Calls::ready() {
    std::vector<Number> waiting;
    for (auto const& [number, call] : calls_)
        if (call.waits == Waits::connection) waiting.push_back(number);
    for (Number const number : waiting) send(number);
}

void Calls::send(Number number) {
    Call& call = calls_.at(number);
    if (!call.what.may_start.still())
        return finish(number, agent::Failed{requests_.named("the call was not sent: " +
                                                            std::string(agent::MayStart::refusal)),
                                            true});
    ForeignTool const* const tool = requests_.tool(call.what.tool);
    bool const as_task = tool && tool->as_task && requests_.abilities().task_on_request;
    Json const params = params_of(call.what, as_task, settings_.task_limit);
    call.waits = Waits::server;
    call.id = requests_.ask(
        {.method = is_library_tool(call.what.tool) ? call.what.tool : "tools/call",
         .params = call.round ? with_input(params, *call.round) : params,
         .progress = std::to_string(number),
         .trace = call.what.trace,
         .limit = Duration::max()},
        [this, number](rpc::Peer::Answer const& answer) { answered(number, answer); });
    limit(number, settings_.time_limit, &Calls::time_over);
}

// Calls `over` when the call waits for the same thing after that time.
void Calls::limit(Number number, Duration time, void (Calls::*over)(Number)) {
    auto const turn = ++calls_.at(number).turn;
    loop_.after(time, scope_.guard([this, number, turn, over] {
        auto const at = calls_.find(number);
        if (at != calls_.end() && at->second.turn == turn) (this->*over)(number);
    }));
}

void Calls::answered(Number number, rpc::Peer::Answer const& answer) {
    auto const at = calls_.find(number);
    if (at == calls_.end()) return;
    auto result =
        answer ? result_of(number, json::View(*answer)) : result_of(number, answer.error());
    if (at->second.waits != Waits::person) return finish(number, std::move(result));
    at->second.result = std::move(result);  // until the person has answered
}

agent::ToolResult Calls::result_of(Number number, json::View answer) {
    auto const& asked = calls_.at(number).round;
    agent::ToolCall const& call = calls_.at(number).what;
    if (needs_input(answer)) {
        auto round = read_round(answer, asked ? asked->number : 0, settings_.sampling);
        if (!round) return agent::Failed{requests_.named(round.error())};
        return ask_round(*std::move(round), "");
    }
    if (is_library_tool(call.tool)) return read_library_result(call.tool, answer);
    auto const task = read_created(answer);
    if (!task) return read_result(answer);
    tasks_.created(call.pending, task->id, std::to_string(number));
    return held_by(requests_.holder(), pause_of(*task, settings_.task_limit));
}

agent::ToolResult Calls::result_of(Number number, rpc::Fault const& fault) const {
    if (fault.code == code_refused && !requests_.sign_in_page().empty()) return ask_sign_in(number);
    bool const closed = fault.code == rpc::code::closed;
    if (closed && !requests_.last_failure().empty())
        return session::InDoubt{requests_.named(requests_.last_failure())};
    if (closed || fault.code == code_lost) return session::InDoubt{requests_.named(fault.message)};
    return agent::Failed{requests_.named(fault.message)};
}

void Calls::finish(Number number, agent::ToolResult result) {
    auto ended = take(number);
    if (!ended) return;
    if (!std::holds_alternative<session::PauseTerms>(result)) progress_.ended(ended->what.pending);
    ended->done(std::move(result));
}

void Calls::progressed(json::View params) {
    Json const payload = read_progress(params);
    auto const token = params["progressToken"].string_or("");
    if (payload.is_null() || tasks_.progressed(token, payload)) return;
    auto const number = parse_number(token);
    auto const at = calls_.find(number.value_or(0));
    if (at != calls_.end()) progress_.note(at->second.what.pending, payload);
}

void Calls::not_connected(Number number) {
    auto const at = calls_.find(number);
    if (at == calls_.end() || at->second.waits != Waits::connection) return;
    std::string const& why = requests_.last_failure();
    finish(number,
           agent::Failed{requests_.named("it is not connected" + (why.empty() ? "" : ": " + why))});
}

void Calls::time_over(Number number) {
    auto const at = calls_.find(number);
    if (at == calls_.end()) return;
    auto const why = requests_.named("the call took longer than " +
                                     std::to_string(settings_.time_limit.count() / 1'000) + " s");
    if (at->second.id.empty()) return finish(number, agent::Failed{why});  // it was not sent
    requests_.cancel(at->second.id, "its time is over");
    finish(number, session::InDoubt{why});
}

void Calls::stop(Number number) {
    auto const ended = take(number);
    if (!ended) return;
    progress_.ended(ended->what.pending);
    if (!ended->id.empty()) requests_.cancel(ended->id, "it was cancelled");
}

}  // namespace dormouse::mcp_client
