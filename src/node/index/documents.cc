#include "index/documents.h"

#include "base/enum_words.h"
#include "json/json.h"
#include "wire/names.h"

#include <algorithm>
#include <vector>

namespace dormouse::index {

using namespace dormouse::session;

namespace {

port::PendingStatus status_of(wire::PauseView const& pause) {
    if (!pause.receipt) return port::PendingStatus::waiting;
    switch (pause.receipt->status) {
        case CallStatus::completed: return port::PendingStatus::completed;
        case CallStatus::failed: return port::PendingStatus::failed;
        case CallStatus::expired: return port::PendingStatus::expired;
        case CallStatus::cancelled: break;
    }
    return port::PendingStatus::cancelled;
}

void add_unless_empty(json::Writer& out, std::string_view name, std::string const& text) {
    if (!text.empty()) out.member(name, text);
}

void add_unless_null(json::Writer& out, std::string_view name, Json const& value) {
    if (!value.is_null()) out.member(name, value);
}

// Always an object, as readers expect it.
void add_metadata(json::Writer& out, Json const& metadata) {
    out.key("metadata");
    metadata.is_null() ? out.raw("{}") : out.value(metadata);
}

void add_result(json::Writer& out, Submission const& what) {
    out.key("result").begin_object().member("title", what.title).member("output", what.output);
    add_metadata(out, what.metadata);
    out.end_object();
}

// The answer of a person, as a result.
void add_decision(json::Writer& out, Submission const& what) {
    out.key("result").begin_object().member("title", what.approved ? "Approved" : "Denied");
    out.key("output").begin_object().member("approved", what.approved);
    add_unless_empty(out, "reason", what.reason);
    add_unless_null(out, "arguments", what.arguments);
    add_unless_null(out, "content", what.content);
    out.end_object();
    add_metadata(out, {});
    out.end_object();
}

void add_outcome(json::Writer& out, wire::CallView const& call, wire::PauseView const& pause) {
    if (!pause.receipt) return;
    Submission const& what = pause.what;
    switch (pause.receipt->kind) {
        case SubmissionKind::result: return add_result(out, what);
        case SubmissionKind::decision: return add_decision(out, what);
        case SubmissionKind::error: out.member("error", what.error); return;
        case SubmissionKind::expiry: out.member("error", call.error_text); return;
        case SubmissionKind::cancel:
            out.member("error", what.reason.empty() ? "cancelled" : what.reason);
            return;
        default: return;
    }
}

void add_call_times(json::Writer& out, wire::PauseView const& pause) {
    out.key("time").begin_object().member("created", to_ms(pause.created));
    if (pause.started != Time{}) out.member("started", to_ms(pause.started));
    if (pause.receipt) out.member("completed", to_ms(pause.receipt->at));
    out.end_object();
}

struct Waiting {
    std::vector<Call const*> calls;
    std::optional<Time> nearest;  // deadline

    explicit Waiting(State const& state) {
        for (auto const& [no, call] : state.calls) {
            if (call.phase != CallPhase::waiting) continue;
            calls.push_back(&call);
            auto const& deadline = call.pause->deadline;
            if (deadline) nearest = std::min(nearest.value_or(*deadline), *deadline);
        }
    }
};

void add_waiting(json::Writer& out, State const& state) {
    Waiting const waiting(state);
    if (waiting.calls.empty()) return;  // a gate is not configured
    Call const& first = *waiting.calls.front();
    out.member("pendingID", first.pending.text()).key("pendingIDs").begin_array();
    for (Call const* const call : waiting.calls) out.value(call->pending.text());
    out.end_array().member("tool", first.spec.tool).member("since", to_ms(first.pause->since));
    if (waiting.nearest) out.member("timeout", to_ms(*waiting.nearest));
}

void add_retry(json::Writer& out, State const& state) {
    auto const& retry = state.turn->retry;
    out.member("attempt", state.turn->attempt);
    out.member("message", retry ? retry->error.message : "a tool is tried again");
    if (auto const next = next_timer(state)) out.member("next", to_ms(*next));
}

void add_activity(json::Writer& out, State const& state) {
    Activity const now = activity(state);
    out.key("activity").begin_object().member("type", text(now));
    if (now == Activity::waiting_async) add_waiting(out, state);
    if (now == Activity::retry) add_retry(out, state);
    out.end_object();
}

}  // namespace

port::CallDocument call_document(wire::History const& history, wire::PauseView const& pause) {
    PendingId const& id = pause.pending;
    wire::CallView const& call = history.calls().at(id.call);
    port::PendingStatus const status = status_of(pause);
    json::Writer out;
    out.begin_object().member("id", id.text()).member("sessionID", id.session.text());
    out.member("messageID", numbered_id("msg_", id.session, call.message));
    out.member("callID", wire::call_text(id.call)).member("tool", call.spec.tool);
    out.member("input", call.spec.input).member("status", word_of(status));
    add_unless_empty(out, "webhookURL", pause.terms.webhook_url);
    add_unless_empty(out, "externalRef", pause.terms.external_ref);
    if (pause.deadline) out.member("timeout", to_ms(*pause.deadline));
    add_call_times(out, pause);
    add_outcome(out, call, pause);
    out.end_object();
    bool const waits = status == port::PendingStatus::waiting;
    return {id, status, waits ? pause.deadline : std::nullopt, out.take()};
}

port::SessionDocument session_document(State const& state) {
    json::Writer out;
    out.begin_object().member("id", state.id.text()).member("projectID", state.project);
    out.member("agentID", state.agent);
    add_unless_empty(out, "alias", state.alias);
    add_unless_empty(out, "title", shown_title(state));
    out.member("status", text(state.lifecycle));
    if (state.parent) out.member("parentID", state.parent->session.text());
    add_activity(out, state);
    out.member("head", state.head).key("time").begin_object();
    out.member("created", to_ms(state.created)).member("updated", to_ms(state.updated));
    out.end_object().end_object();
    return {state.id, state.project, out.take()};
}

}  // namespace dormouse::index
