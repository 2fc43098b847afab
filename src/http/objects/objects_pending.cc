#include "http/objects/objects.h"

#include "wire/names.h"

namespace dormouse::server {

using namespace dormouse::session;

namespace {

void write_answer(json::Writer& out, wire::PauseView const& pause) {
    out.key("answer").begin_object().key("from").begin_array();
    for (std::string const& from : pause.terms.answer.from) out.value(from);
    if (pause.terms.answer.from.empty()) out.value("role:answer");
    out.end_array().key("escalateTo").begin_array();
    for (std::string const& next : pause.terms.escalate_to) out.value(next);
    out.end_array().member("need", pause.terms.answer.need).key("votes").begin_array();
    for (auto const& [by, vote] : pause.votes) {
        out.begin_object().key("by");
        write_actor(out, by);
        out.member("approved", vote.first).member("at", to_ms(vote.second)).end_object();
    }
    out.end_array().end_object();
}

void write_progress(json::Writer& out, wire::PauseView const& pause) {
    out.key("progress").begin_array();
    for (wire::ProgressView const& progress : pause.progress) {
        out.begin_object().member("seq", progress.seq).member("key", text_or_null(progress.key));
        out.member("payload", progress.payload).member("at", to_ms(progress.at)).end_object();
    }
    out.end_array().member("progressCount", pause.progress_count);
}

void write_outcome(json::Writer& out, wire::PauseView const& pause) {
    Submission const& what = pause.what;
    bool const settled = pause.receipt && pause.receipt->kind == what.kind;
    out.key("result");
    if (settled && what.kind == SubmissionKind::result) {
        out.begin_object().member("title", text_or_null(what.title)).member("output", what.output);
        out.member("metadata", what.metadata).end_object();
    } else {
        out.null();
    }
    out.key("error");
    if (settled && what.kind == SubmissionKind::error) {
        out.value(what.error);
    } else if (pause.receipt && pause.receipt->kind == SubmissionKind::expiry) {
        out.value("Tool execution timed out");
    } else {
        out.null();
    }
    out.key("decision");
    if (!settled || what.kind != SubmissionKind::decision) {
        out.null();
        return;
    }
    out.begin_object()
        .member("approved", what.approved)
        .member("reason", text_or_null(what.reason));
    out.member("arguments", what.arguments).member("content", what.content).end_object();
}

void write_terms(json::Writer& out, wire::PauseView const& pause) {
    PauseTerms const& terms = pause.terms;
    out.member("reason", text(terms.reason)).member("continuation", text(terms.continuation));
    out.member("message", text_or_null(terms.message))
        .member("form", terms.form)
        .member("schema", terms.schema);
    out.member("placeholder", terms.placeholder);
    out.member("webhookURL", text_or_null(terms.webhook_url));
    out.member("externalRef", text_or_null(terms.external_ref));
    out.member("estimatedDuration", terms.estimated
                                        ? std::optional<std::int64_t>(terms.estimated->count())
                                        : std::nullopt);
    out.member("timeout", ms_or_null(pause.deadline));
}

}  // namespace

std::string_view pending_status(wire::PauseView const& pause, Time now) {
    if (pause.receipt) return text(pause.receipt->status);
    return pause.claimed_until > now ? "processing" : "waiting";
}

std::string receipt_object(Receipt const& receipt, std::optional<wire::Consumed> const& consumed) {
    json::Writer out;
    SessionId const& session = receipt.pending.session;
    out.begin_object().member("id", numbered_id("rcp_", session, receipt.seq));
    out.member("pendingID", receipt.pending.text()).member("sessionID", session.text());
    out.member("kind", text(receipt.kind)).member("status", text(receipt.status));
    out.member("digest", digest_text(receipt.digest)).member("at", to_ms(receipt.at)).key("by");
    write_actor(out, receipt.by);
    out.member("via", text_or_null(receipt.via))
        .member("deliveryID", text_or_null(receipt.delivery_id));
    out.member("seq", receipt.seq).key("consumed");
    if (consumed) {
        out.begin_object().member("turnID", numbered_id("trn_", session, consumed->turn));
        out.member("step", consumed->step == 0 ? std::nullopt : std::optional(consumed->step));
        out.member("seq", consumed->seq).member("at", to_ms(consumed->at)).end_object();
    } else {
        out.null();
    }
    return out.end_object().take();
}

std::string pending_object(State const& state, wire::History const& history,
                           wire::PauseView const& pause, Time now) {
    wire::CallView const& call = history.calls().at(pause.pending.call);
    json::Writer out;
    out.begin_object().member("id", pause.pending.text()).member("projectID", state.project);
    out.member("sessionID", state.id.text())
        .member("turnID", numbered_id("trn_", state.id, call.turn));
    out.member("messageID", numbered_id("msg_", state.id, call.message))
        .member("callID", wire::call_text(call.no));
    out.member("generation", pause.pending.generation)
        .member("tool", call.spec.tool)
        .member("input", call.spec.input);
    bool const edited =
        !call.inputs.empty() && call.inputs.front().second.text() != call.spec.input.text();
    out.member("modelInput", edited ? call.inputs.front().second : Json());
    out.member("inputDigest", digest_text(sha256(json::canonical(call.spec.input))));
    out.member("status", pending_status(pause, now));
    write_terms(out, pause);
    write_answer(out, pause);
    write_progress(out, pause);
    out.member("inDoubt", pause.in_doubt && !pause.receipt).key("time").begin_object();
    out.member("created", to_ms(pause.created)).member("started", to_ms(pause.started));
    out.member("completed", pause.receipt ? std::optional(to_ms(pause.receipt->at)) : std::nullopt)
        .end_object();
    write_outcome(out, pause);
    bool const cancelled = pause.receipt && pause.receipt->kind == SubmissionKind::cancel;
    out.member("cancelReason", text_or_null(cancelled ? pause.what.reason : std::string()));
    out.key("receipt");
    if (pause.receipt) {
        out.raw(receipt_object(*pause.receipt, history.consumed(pause.receipt->seq)));
    } else {
        out.null();
    }
    return out.end_object().take();
}

}  // namespace dormouse::server
