#include "mcp_client/calls.h"

#include "base/text/text.h"
#include "mcp_client/call_result.h"

#include <utility>
#include <vector>

namespace dormouse::mcp_client {
namespace {

Json params_of(agent::ToolCall const& call, bool as_task, Duration limit) {
    json::Writer out;
    out.begin_object().member("name", call.tool).member("arguments", call.input);
    if (as_task) out.key("task").begin_object().member("ttl", limit.count()).end_object();
    return out.end_object().json();
}

}  // namespace

agent::StopTool Calls::start(agent::ToolCall call, port::Fn<void(agent::ToolResult)> done) {
    Number const number = ++last_;
    calls_.emplace(number, Call{std::move(call), std::move(done)});
    if (requests_.ready())
        send(number);
    else
        loop_.after(settings_.start_limit, scope_.guard([this, number] { not_connected(number); }));
    return scope_.guard([this, number] { stop(number); });
}

void Calls::ready() {
    std::vector<Number> waiting;
    for (auto const& [number, call] : calls_)
        if (call.id.empty()) waiting.push_back(number);
    for (Number const number : waiting) send(number);
}

void Calls::send(Number number) {
    Call& call = calls_.at(number);
    ForeignTool const* const tool = requests_.tool(call.what.tool);
    bool const as_task = tool && tool->as_task && requests_.abilities().task_on_request;
    call.id = requests_.ask(
        {"tools/call", params_of(call.what, as_task, settings_.task_limit), std::to_string(number)},
        [this, number](rpc::Peer::Answer const& answer) { answered(number, answer); });
    loop_.after(settings_.time_limit, scope_.guard([this, number] { time_over(number); }));
}

void Calls::answered(Number number, rpc::Peer::Answer const& answer) {
    auto const at = calls_.find(number);
    if (at == calls_.end()) return;
    finish(number, answer ? result_of(number, json::View(*answer)) : result_of(answer.error()));
}

agent::ToolResult Calls::result_of(Number number, json::View answer) {
    auto const task = read_created(answer);
    if (!task) return read_result(answer);
    tasks_.created(calls_.at(number).what.pending, task->id, std::to_string(number));
    return pause_of(*task, settings_.task_limit);
}

agent::ToolResult Calls::result_of(rpc::Fault const& fault) const {
    bool const closed = fault.code == rpc::code::closed;
    if (closed && !requests_.last_failure().empty())
        return session::InDoubt{requests_.named(requests_.last_failure())};
    if (closed || fault.code == code_lost) return session::InDoubt{requests_.named(fault.message)};
    return agent::Failed{requests_.named(fault.message)};
}

void Calls::finish(Number number, agent::ToolResult result) {
    auto ended = calls_.extract(number);
    if (!ended) return;
    if (!std::holds_alternative<session::PauseTerms>(result))
        progress_.ended(ended.mapped().what.pending);
    ended.mapped().done(std::move(result));
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
    if (at == calls_.end() || !at->second.id.empty()) return;
    std::string const& why = requests_.last_failure();
    finish(number,
           agent::Failed{requests_.named("it is not connected" + (why.empty() ? "" : ": " + why))});
}

void Calls::time_over(Number number) {
    auto const at = calls_.find(number);
    if (at == calls_.end()) return;
    requests_.cancel(at->second.id, "its time is over");
    finish(number, session::InDoubt{requests_.named(
                       "the call took longer than " +
                       std::to_string(settings_.time_limit.count() / 1'000) + " s")});
}

void Calls::stop(Number number) {
    auto const ended = calls_.extract(number);
    if (!ended) return;
    progress_.ended(ended.mapped().what.pending);
    if (!ended.mapped().id.empty()) requests_.cancel(ended.mapped().id, "it was cancelled");
}

}  // namespace dormouse::mcp_client
