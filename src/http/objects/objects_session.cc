#include "http/objects/objects.h"

#include "wire/names.h"

#include <set>

namespace dormouse::server {

using namespace dormouse::session;

namespace {

std::string turn_id(State const& state, TurnNo turn) { return numbered_id("trn_", state.id, turn); }

void write_usage(json::Writer& out, Usage const& usage, std::uint64_t steps) {
    out.begin_object()
        .member("inputTokens", usage.input_tokens)
        .member("outputTokens", usage.output_tokens);
    out.member("cachedTokens", usage.cached_tokens)
        .member("reasoningTokens", usage.reasoning_tokens)
        .member("steps", steps)
        .end_object();
}

void write_trouble(json::Writer& out, std::optional<Trouble> const& error) {
    out.key("error");
    if (!error) {
        out.null();
        return;
    }
    out.begin_object().member("code", error->code).member("message", error->message).end_object();
}

void write_last_turn(json::Writer& out, State const& state) {
    out.key("lastTurn");
    if (!state.last_turn) {
        out.null();
        return;
    }
    out.begin_object()
        .member("id", turn_id(state, state.last_turn->no))
        .member("failed", state.last_turn->failed);
    write_trouble(out, state.last_turn->error);
    out.end_object();
}

void write_retry(json::Writer& out, State const& state) {
    out.member("turnID", turn_id(state, state.turn->no)).member("attempt", state.turn->attempt);
    out.member("message",
               state.turn->retry ? state.turn->retry->error.message : "a tool is tried again");
    auto const next = next_timer(state);
    out.member("next", ms_or_null(next));
}

void write_missing_gates(json::Writer& out, State const& state) {
    std::set<std::string> gates;
    for (CallNo const no : state.held) gates.insert(gate_of(state.calls.at(no)));
    out.key("missingGates").begin_array();
    for (std::string const& gate : gates) out.value(gate);
    out.end_array();
}

void write_waiting(json::Writer& out, State const& state) {
    Call const* first = nullptr;
    std::optional<Time> timeout;
    out.member("turnID", turn_id(state, state.turn->no)).key("pendingIDs").begin_array();
    for (auto const& [no, call] : state.calls) {
        if (call.phase != CallPhase::waiting) continue;
        if (!first) first = &call;
        out.value(call.pending.text());
        if (call.pause->deadline && (!timeout || *call.pause->deadline < *timeout))
            timeout = call.pause->deadline;
    }
    out.end_array();
    if (first) {
        out.member("pendingID", first->pending.text()).member("tool", first->spec.tool);
        out.member("since", to_ms(first->pause->since)).member("timeout", ms_or_null(timeout));
    } else {
        Call const& held = state.calls.at(*state.held.begin());
        out.member_null("pendingID").member("tool", held.spec.tool);
        out.member("since", to_ms(held.created)).member_null("timeout");
    }
    write_missing_gates(out, state);
}

void write_activity(json::Writer& out, State const& state) {
    Activity const now = activity(state);
    out.key("activity").begin_object().member("type", text(now));
    if (now == Activity::busy)
        out.member("turnID", turn_id(state, state.turn->no)).member("step", state.turn->step);
    if (now == Activity::retry) write_retry(out, state);
    if (now == Activity::waiting_async) write_waiting(out, state);
    out.end_object();
}

}  // namespace

std::string session_object(State const& state) {
    json::Writer out;
    out.begin_object().member("id", state.id.text()).member("projectID", state.project);
    out.member("agentID", state.agent).member("alias", text_or_null(state.alias));
    out.member("title", text_or_null(shown_title(state))).member("status", text(state.lifecycle));
    write_activity(out, state);
    out.member("parentID",
               state.parent ? std::optional(state.parent->session.text()) : std::nullopt);
    out.member("forkedFrom",
               state.forked_from ? std::optional(state.forked_from->text()) : std::nullopt);
    out.member("acpSessionID", text_or_null(state.acp_session))
        .member("cwd", text_or_null(state.cwd));
    out.member_raw("labels", state.labels.is_null() ? "{}" : state.labels.text());
    if (state.base.through != 0) out.member("historyAfter", state.base.through);
    out.member("seq", state.head).member("messageCount", message_count(state)).key("usage");
    write_usage(out, state.usage, state.steps);
    write_trouble(out, state.trouble);
    write_last_turn(out, state);
    out.key("time").begin_object().member("created", to_ms(state.created));
    out.member("updated", to_ms(state.updated))
        .member("ended", ms_or_null(state.ended))
        .end_object();
    return out.end_object().take();
}

namespace {

std::string_view turn_status(State const& state, wire::TurnView const& turn) {
    if (turn.ended) return "ended";
    if (!state.turn || state.turn->no != turn.no) return "queued";
    return activity(state) == Activity::waiting_async ? "waiting" : "running";
}

void write_finish(json::Writer& out, std::string_view status, wire::TurnView const& turn) {
    out.key("finishReason");
    if (status == "waiting") {
        out.value("paused");
    } else if (turn.finish && status == "ended") {
        out.value(text(*turn.finish));
    } else {
        out.null();
    }
}

void write_turn_lists(json::Writer& out, State const& state, wire::TurnView const& turn) {
    out.key("messageIDs").begin_array();
    for (Seq message : turn.messages) out.value(numbered_id("msg_", state.id, message));
    out.end_array().key("pendingIDs").begin_array();
    if (state.turn && state.turn->no == turn.no) {
        for (auto const& [no, call] : state.calls) {
            if (call.phase == CallPhase::waiting) out.value(call.pending.text());
        }
    }
    out.end_array();
}

}  // namespace

std::string turn_object(State const& state, wire::History const& history, TurnNo no) {
    wire::TurnView const& turn = history.turns().at(no);
    std::string_view const status = turn_status(state, turn);
    json::Writer out;
    out.begin_object()
        .member("id", turn_id(state, no))
        .member("sessionID", state.id.text())
        .member("status", status);
    write_finish(out, status, turn);
    out.member("cancelReason", text_or_null(turn.cancel_reason))
        .key("cause")
        .begin_object()
        .member("type", wire::source_text(turn.cause))
        .key("by");
    write_actor(out, turn.by);
    out.member_null("ref").end_object();
    out.member("step", turn.step)
        .member("stepLimit", turn.step_limit == 0 ? TurnTerms().step_limit : turn.step_limit);
    out.member("inputMessageID", numbered_id("msg_", state.id, turn.input));
    write_turn_lists(out, state, turn);
    out.key("usage");
    write_usage(out, turn.usage, turn.steps);
    write_trouble(out, turn.error);
    out.key("time").begin_object().member("created", to_ms(turn.created));
    out.member("started", ms_or_null(turn.started))
        .member("ended", ms_or_null(turn.ended))
        .end_object();
    return out.end_object().take();
}

void write_actor(json::Writer& out, Actor const& actor) {
    out.begin_object()
        .member("type", text(actor.type))
        .member("name", text_or_null(actor.name))
        .end_object();
}

}  // namespace dormouse::server
