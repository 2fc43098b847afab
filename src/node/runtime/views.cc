#include "runtime/views.h"

#include "json/json.h"

namespace dormouse::runtime {

namespace {

std::string text_of(Json const& parts) {
    std::string out;
    json::View(parts).elements([&](json::View part) {
        if (part["type"].string_or("") == "text") out += part["text"].string_or("");
    });
    return out;
}

}  // namespace

PendingCall pending_call(session::Call const& call) {
    PendingCall out;
    out.tool = call.spec.tool;
    out.input = call.spec.input;
    out.input_digest = digest_text(call.spec.input_digest);
    if (call.question) {
        out.id = call.question->pending;
        out.since = call.question->since;
        out.in_doubt = true;
        out.reason = PauseReason::approval;
        return out;
    }
    session::Pause const& pause = *call.pause;
    out.id = call.pending;
    out.since = pause.since;
    out.deadline = pause.deadline;
    out.reason = pause.terms.reason;
    out.message = pause.terms.message;
    out.form = pause.terms.form;
    out.placeholder = pause.terms.placeholder;
    out.external_ref = pause.terms.external_ref;
    out.webhook_url = pause.terms.webhook_url;
    auto const& gates = call.spec.terms.gates;
    if (pause.by_gate && call.gates_passed < gates.size()) out.gate = gates[call.gates_passed];
    return out;
}

SessionView session_view(session::State const& state) {
    SessionView out;
    out.id = state.id;
    out.project = state.project;
    out.agent = state.agent;
    out.title = shown_title(state);
    out.lifecycle = text(state.lifecycle);
    out.activity = activity(state);
    out.head = state.head;
    out.input_tokens = static_cast<std::uint64_t>(state.usage.input_tokens);
    out.output_tokens = static_cast<std::uint64_t>(state.usage.output_tokens);
    for (auto const& [no, call] : state.calls) {
        if (call.question || call.pause) out.pending.push_back(pending_call(call));
    }
    if (state.parent) out.parent = state.parent->session;
    for (auto const& [no, task] : state.tasks) {
        if (!task.begun()) continue;
        out.children.push_back(
            {session::task_id(state.id, no), task.child, task.agent, task.status});
    }
    return out;
}

Submitted submitted(session::Answer const& answer, PendingId const& pending) {
    Submitted out{answer.receipt.value_or(Receipt{})};
    out.pending = pending;
    out.duplicate = answer.outcome == session::Answer::Outcome::duplicate;
    out.counted = answer.outcome == session::Answer::Outcome::counted;
    return out;
}

Json closed_extra(Receipt const& receipt) {
    SessionId const& session = receipt.pending.session;
    json::Writer out;
    out.begin_object().member("digest", digest_text(receipt.digest)).key("receipt").begin_object();
    out.member("id", numbered_id("rcp_", session, receipt.seq));
    out.member("pendingID", receipt.pending.text()).member("sessionID", session.text());
    out.member("kind", text(receipt.kind)).member("status", text(receipt.status));
    out.member("digest", digest_text(receipt.digest)).member("at", to_ms(receipt.at));
    out.member("by", receipt.by.name).member("seq", receipt.seq);
    return out.end_object().end_object().json();
}

CallView call_view(wire::History const& history, wire::PauseView const& pause) {
    wire::CallView const& call = history.calls().at(pause.pending.call);
    CallView out;
    out.call.id = pause.pending;
    out.call.tool = call.spec.tool;
    out.call.input = call.spec.input;
    out.call.input_digest = digest_text(call.spec.input_digest);
    out.call.reason = pause.terms.reason;
    out.call.gate = pause.gate;
    out.call.in_doubt = pause.in_doubt;
    out.call.message = pause.terms.message;
    out.call.form = pause.terms.form;
    out.call.placeholder = pause.terms.placeholder;
    out.call.external_ref = pause.terms.external_ref;
    out.call.webhook_url = pause.terms.webhook_url;
    out.call.since = pause.created;
    out.call.deadline = pause.deadline;
    if (!pause.receipt) return out;
    out.receipt = pause.receipt;
    out.output = pause.what.output;
    out.error = pause.what.error;
    if (pause.receipt->kind == session::SubmissionKind::cancel)
        out.cancel_reason = pause.what.reason;
    out.title = pause.what.title;
    out.metadata = pause.what.metadata;
    return out;
}

std::vector<Message> messages(wire::History const& history) {
    std::vector<Message> out;
    for (auto const& [seq, message] : history.messages()) {
        if (message.dropped || message.turn == 0) continue;
        auto const role = message.assistant ? Message::Role::assistant : Message::Role::user;
        out.push_back({role, seq, text_of(message.parts), message.parts});
    }
    return out;
}

Event event(SessionId session, wire::Record const& record) {
    return {record.event.seq,
            std::string(type_name(record.event.body)),
            record.event.at,
            record.event.turn,
            Json::trusted(record.data),
            session};
}

}  // namespace dormouse::runtime
