#include "http/objects/objects.h"

#include "http/objects/object_fields.h"

#include <algorithm>

namespace dormouse::http {

namespace {

bool by_deadline(Call const& a, Call const& b) {
    return a.pause->deadline.value_or(Time::max()) < b.pause->deadline.value_or(Time::max());
}

std::vector<PendingId> waiting_calls(State const& state) {
    std::vector<PendingId> out;
    for (auto const& [no, call] : state.calls) {
        if (call.phase == CallPhase::waiting) out.push_back(call.pending);
    }
    return out;
}

}  // namespace

std::vector<PendingId> WaitingAsync::pending() const { return waiting_calls(state); }
std::optional<PendingId> WaitingAsync::first() const {
    return calls.empty() ? std::nullopt : std::optional(calls.front().get().pending);
}
std::string const& WaitingAsync::tool() const {
    return calls.empty() ? awaiting->spec.tool : calls.front().get().spec.tool;
}
Time WaitingAsync::since() const {
    return calls.empty() ? awaiting->created : calls.front().get().pause->since;
}
std::optional<Time> WaitingAsync::timeout() const {
    auto const nearest = std::ranges::min_element(calls, by_deadline);
    return nearest == calls.end() ? std::nullopt : nearest->get().pause->deadline;
}
std::set<std::string> WaitingAsync::missing_gates() const {
    std::set<std::string> gates;
    for (CallNo const no : state.get().awaiting_gate)
        gates.insert(gate_of(state.get().calls.at(no)));
    return gates;
}

ActivitySource activity_of(State const& state) {
    switch (activity(state)) {
        case Activity::idle: return {Idle{}};
        case Activity::busy: return {Busy{state}};
        case Activity::retry: return {Retry{state}};
        case Activity::waiting_async: break;
    }
    WaitingAsync waiting{state};
    for (auto const& [no, call] : state.calls) {
        if (call.phase == CallPhase::waiting) waiting.calls.emplace_back(call);
    }
    if (waiting.calls.empty()) waiting.awaiting = &state.calls.at(*state.awaiting_gate.begin());
    return {std::move(waiting)};
}

bool TurnSource::open() const { return state.get().turn && state.get().turn->no == turn.get().no; }
TurnStatus TurnSource::status() const {
    if (turn.get().ended) return TurnStatus::ended;
    if (!open()) return TurnStatus::queued;
    return activity(state) == Activity::waiting_async ? TurnStatus::waiting : TurnStatus::running;
}
std::optional<std::string_view> TurnSource::finish() const {
    if (status() == TurnStatus::waiting) return "paused";
    if (status() != TurnStatus::ended || !turn.get().finish) return std::nullopt;
    return text(*turn.get().finish);
}
std::vector<MessageText> TurnSource::messages() const {
    std::vector<MessageText> out;
    for (Seq const message : turn.get().messages) out.push_back({state.get().id, message});
    return out;
}
std::vector<PendingId> TurnSource::pending() const {
    return open() ? waiting_calls(state) : std::vector<PendingId>();
}
std::uint32_t TurnSource::step_limit() const {
    std::uint32_t const limit = turn.get().step_limit;
    return limit == 0 ? TurnTerms().step_limit : limit;
}

Json PendingSource::model_input() const {
    auto const& inputs = call.get().inputs;
    bool const edited =
        !inputs.empty() && inputs.front().second.text() != call.get().spec.input.text();
    return edited ? inputs.front().second : Json();
}
Sha256 PendingSource::input_digest() const {
    return sha256(json::canonical(call.get().spec.input));
}
std::vector<std::string> PendingSource::answerers() const {
    auto const& from = pause.get().terms.answer.from;
    return from.empty() ? std::vector<std::string>{"role:answer"} : from;
}
std::optional<Time> PendingSource::completed() const {
    auto const& receipt = pause.get().receipt;
    return receipt ? std::optional(receipt->at) : std::nullopt;
}
bool PendingSource::settled_by(SubmissionKind kind) const {
    auto const& receipt = pause.get().receipt;
    return receipt && receipt->kind == kind;
}
std::optional<ResultSource> PendingSource::result() const {
    Submission const& what = pause.get().what;
    bool const is_it = what.kind == SubmissionKind::result && settled_by(what.kind);
    return is_it ? std::optional(ResultSource{what}) : std::nullopt;
}
std::optional<std::string> PendingSource::error() const {
    Submission const& what = pause.get().what;
    if (what.kind == SubmissionKind::error && settled_by(what.kind)) return what.error;
    return settled_by(SubmissionKind::expiry) ? std::optional(call.get().error_text) : std::nullopt;
}
std::optional<DecisionSource> PendingSource::decision() const {
    Submission const& what = pause.get().what;
    bool const is_it = what.kind == SubmissionKind::decision && settled_by(what.kind);
    return is_it ? std::optional(DecisionSource{what}) : std::nullopt;
}
std::string PendingSource::cancel_reason() const {
    return settled_by(SubmissionKind::cancel) ? pause.get().what.reason : "";
}
std::optional<ReceiptSource> PendingSource::receipt() const {
    auto const& receipt = pause.get().receipt;
    if (!receipt) return std::nullopt;
    return ReceiptSource{*receipt, history.get().consumed(receipt->seq)};
}

// Text parts only.
std::string prompt_of(wire::TaskView const& task) {
    std::string out;
    json::View(task.parts).elements([&](json::View part) { out += part["text"].string_or(""); });
    return out;
}

CallState pending_status(wire::PauseView const& pause, Time now) {
    if (pause.receipt) return from_word<CallState>(text(pause.receipt->status)).value();
    return pause.claimed_until > now ? CallState::processing : CallState::waiting;
}

std::string session_object(State const& state) { return object_text(state); }
std::string turn_object(State const& state, wire::History const& history, TurnNo turn) {
    return object_text(TurnSource{state, history.turns().at(turn)});
}
std::string pending_object(State const& state, wire::History const& history,
                           wire::PauseView const& pause, Time now) {
    wire::CallView const& call = history.calls().at(pause.pending.call);
    return object_text(PendingSource{state, history, pause, call, now});
}
std::string task_object(State const& parent, wire::TaskView const& task) {
    return object_text(TaskSource{parent, task});
}
std::string receipt_object(Receipt const& receipt, std::optional<wire::Consumed> const& consumed) {
    return object_text(ReceiptSource{receipt, consumed});
}

}  // namespace dormouse::http
