#include "wire/event_json.h"

#include "base/text.h"
#include "wire/names.h"

// The pieces that several events (and the snapshot) share.
namespace dormouse::wire {

using namespace dormouse::session;

namespace {

void optional_text(json::Writer& out, std::string_view name, std::string const& text) {
    if (!text.empty()) out.member(name, text);
}

void optional_json(json::Writer& out, std::string_view name, Json const& value) {
    if (!value.is_null()) out.member(name, value);
}

void write_texts(json::Writer& out, std::string_view name, std::vector<std::string> const& texts) {
    out.key(name).begin_array();
    for (std::string const& text : texts) out.value(text);
    out.end_array();
}

std::vector<std::string> texts_of(json::View array) {
    std::vector<std::string> out;
    array.elements([&](json::View text) { out.push_back(text.string_or("")); });
    return out;
}

Json copy_of(json::View view) { return view.exists() ? view.copy() : Json(); }

}  // namespace

void write_duration(json::Writer& out, std::string_view name,
                    std::optional<Duration> const& duration) {
    if (!duration) return;
    out.key(name);
    // "none" is a deadline that never comes; absent means the usual one.
    if (*duration == Duration::max()) {
        out.value("none");
    } else {
        out.value(static_cast<std::int64_t>(duration->count()));
    }
}

std::optional<Duration> read_duration(json::View view) {
    if (!view.exists() || view.is_null()) return std::nullopt;
    if (auto ms = view.integer()) return Duration(*ms);
    return Duration::max();
}

void write_usage(json::Writer& out, Usage const& usage) {
    out.begin_object()
        .member("inputTokens", usage.input_tokens)
        .member("outputTokens", usage.output_tokens);
    if (usage.cached_tokens != 0) out.member("cachedTokens", usage.cached_tokens);
    if (usage.reasoning_tokens != 0) out.member("reasoningTokens", usage.reasoning_tokens);
    out.end_object();
}

Usage read_usage(json::View object) {
    return {object["inputTokens"].integer_or(0), object["outputTokens"].integer_or(0),
            object["cachedTokens"].integer_or(0), object["reasoningTokens"].integer_or(0)};
}

void write_pause_terms(json::Writer& out, PauseTerms const& terms) {
    out.member("reason", text(terms.reason));
    if (terms.continuation != default_continuation(terms.reason))
        out.member("continuation", text(terms.continuation));
    optional_json(out, "placeholder", terms.placeholder);
    optional_text(out, "message", terms.message);
    optional_json(out, "form", terms.form);
    optional_json(out, "schema", terms.schema);
    optional_text(out, "externalRef", terms.external_ref);
    write_duration(out, "within", terms.timeout);
    write_duration(out, "estimatedDuration", terms.estimated);
    if (terms.on_deadline != OnDeadline::tell) out.member("onDeadline", text(terms.on_deadline));
    optional_json(out, "state", terms.state);
    optional_json(out, "metadata", terms.metadata);
    optional_text(out, "webhookURL", terms.webhook_url);
    write_duration(out, "warnBefore", terms.warn_before);
    write_duration(out, "remindAfter", terms.remind_after);
    write_duration(out, "remindEvery", terms.remind_every);
    if (!terms.escalate_to.empty()) write_texts(out, "escalateTo", terms.escalate_to);
    write_duration(out, "pollEvery", terms.poll_every);
    if (terms.task != 0) out.member("task", terms.task);
    if (terms.answer.need != 1) out.member("need", terms.answer.need);
    if (terms.answer.forbid_requester) out.member("forbidRequester", true);
    if (!terms.answer.from.empty()) write_texts(out, "from", terms.answer.from);
}

PauseTerms read_pause_terms(json::View object) {
    PauseTerms terms;
    terms.reason = parse<PauseReason>(object["reason"].string_or("tool_result"))
                       .value_or(PauseReason::tool_result);
    terms.continuation = default_continuation(terms.reason);
    if (auto word = object["continuation"].string()) {
        terms.continuation = parse<Continuation>(*word).value_or(terms.continuation);
    }
    terms.placeholder = copy_of(object["placeholder"]);
    terms.message = object["message"].string_or("");
    terms.form = copy_of(object["form"]);
    terms.schema = copy_of(object["schema"]);
    terms.external_ref = object["externalRef"].string_or("");
    terms.timeout = read_duration(object["within"]);
    terms.estimated = read_duration(object["estimatedDuration"]);
    terms.on_deadline =
        parse<OnDeadline>(object["onDeadline"].string_or("tell")).value_or(OnDeadline::tell);
    terms.state = copy_of(object["state"]);
    terms.metadata = copy_of(object["metadata"]);
    terms.webhook_url = object["webhookURL"].string_or("");
    terms.warn_before = read_duration(object["warnBefore"]);
    terms.remind_after = read_duration(object["remindAfter"]);
    terms.remind_every = read_duration(object["remindEvery"]);
    terms.poll_every = read_duration(object["pollEvery"]);
    object["escalateTo"].elements(
        [&](json::View who) { terms.escalate_to.push_back(who.string_or("")); });
    terms.task = static_cast<TaskNo>(object["task"].integer_or(0));
    terms.answer.need = static_cast<std::uint32_t>(object["need"].integer_or(1));
    terms.answer.forbid_requester = object["forbidRequester"].boolean_or(false);
    object["from"].elements(
        [&](json::View from) { terms.answer.from.push_back(from.string_or("")); });
    return terms;
}

void write_call_spec(json::Writer& out, CallSpec const& spec) {
    optional_text(out, "modelID", spec.model_id);
    out.member("tool", spec.tool).member("input", spec.input);
    if (spec.terms.crash != CrashPolicy::never) out.member("crash", text(spec.terms.crash));
    if (!spec.terms.may_pause.empty()) {
        out.key("mayPause").begin_array();
        for (PauseReason reason : spec.terms.may_pause) out.value(text(reason));
        out.end_array();
    }
    if (!spec.terms.gates.empty()) {
        out.key("gates").begin_array();
        for (std::string const& gate : spec.terms.gates) out.value(gate);
        out.end_array();
    }
    write_duration(out, "pauseTimeout", spec.terms.pause_timeout);
    if (spec.terms.time_limit != ToolTerms().time_limit)
        write_duration(out, "timeLimit", spec.terms.time_limit);
    optional_text(out, "webhookURL", spec.terms.webhook_url);
    if (spec.refused) out.member("refused", *spec.refused);
    if (spec.ask != 0) out.member("ask", spec.ask).member("askAttempt", spec.ask_attempt);
    if (spec.shown) out.member("shown", digest_text(*spec.shown));
    if (!spec.then.empty()) {
        out.key("then").begin_array();
        for (PauseTerms const& terms : spec.then) {
            out.begin_object();
            write_pause_terms(out, terms);
            out.end_object();
        }
        out.end_array();
    }
    if (!spec.at_once) return;
    out.key("atOnce").begin_object();
    write_pause_terms(out, *spec.at_once);
    out.end_object();
}

CallSpec read_call_spec(json::View object) {
    CallSpec spec;
    spec.model_id = object["modelID"].string_or("");
    spec.tool = object["tool"].string_or("");
    spec.input = copy_of(object["input"]);
    spec.input_digest = sha256(json::canonical(spec.input));
    spec.terms.crash =
        parse<CrashPolicy>(object["crash"].string_or("never")).value_or(CrashPolicy::never);
    object["mayPause"].elements([&](json::View word) {
        if (auto reason = parse<PauseReason>(word.string_or("")))
            spec.terms.may_pause.push_back(*reason);
    });
    object["gates"].elements(
        [&](json::View gate) { spec.terms.gates.push_back(gate.string_or("")); });
    spec.terms.pause_timeout = read_duration(object["pauseTimeout"]);
    if (auto limit = read_duration(object["timeLimit"])) spec.terms.time_limit = *limit;
    spec.terms.webhook_url = object["webhookURL"].string_or("");
    if (auto refused = object["refused"].string()) spec.refused = *refused;
    spec.ask = static_cast<std::uint32_t>(object["ask"].integer_or(0));
    spec.ask_attempt = static_cast<std::uint32_t>(object["askAttempt"].integer_or(0));
    if (object["shown"].exists()) spec.shown = read_digest(object["shown"]);
    object["then"].elements(
        [&](json::View terms) { spec.then.push_back(read_pause_terms(terms)); });
    if (object["atOnce"].exists()) spec.at_once = read_pause_terms(object["atOnce"]);
    return spec;
}

void write_submission(json::Writer& out, Submission const& what) {
    if (what.kind == SubmissionKind::error) {
        out.member("error", what.error);
    } else if (what.kind == SubmissionKind::decision) {
        out.key("decision").begin_object().member("approved", what.approved);
        optional_text(out, "reason", what.reason);
        optional_json(out, "arguments", what.arguments);
        optional_json(out, "content", what.content);
        optional_text(out, "action", what.action);
        optional_json(out, "output", what.output);
        out.end_object();
    } else {
        out.key("result").begin_object();
        optional_text(out, "title", what.title);
        out.member("output", what.output);
        optional_json(out, "metadata", what.metadata);
        out.end_object();
    }
}

Submission read_submission(json::View object) {
    Submission what;
    if (auto error = object["error"].string()) {
        what.kind = SubmissionKind::error;
        what.error = *error;
    } else if (json::View decision = object["decision"]; decision.exists()) {
        what.kind = SubmissionKind::decision;
        what.approved = decision["approved"].boolean_or(false);
        what.reason = decision["reason"].string_or("");
        what.arguments = copy_of(decision["arguments"]);
        if (!what.arguments.is_null())
            what.arguments_digest = sha256(json::canonical(what.arguments));
        what.content = copy_of(decision["content"]);
        what.action = decision["action"].string_or("");
        what.output = copy_of(decision["output"]);
    } else {
        json::View const result = object["result"];
        what.title = result["title"].string_or("");
        what.output = copy_of(result["output"]);
        what.metadata = copy_of(result["metadata"]);
    }
    return what;
}

void write_receipt(json::Writer& out, Receipt const& receipt) {
    out.member("kind", text(receipt.kind)).member("status", text(receipt.status));
    out.member("digest", digest_text(receipt.digest));
    out.member("by", actor_text(receipt.by));
    optional_text(out, "via", receipt.via);
    optional_text(out, "deliveryID", receipt.delivery_id);
}

// at and seq are the event's; the caller fills them in, and the pausing call's id.
Receipt read_receipt(SessionId const&, json::View object) {
    Receipt receipt;
    receipt.kind =
        parse<SubmissionKind>(object["kind"].string_or("result")).value_or(SubmissionKind::result);
    receipt.status =
        parse<CallStatus>(object["status"].string_or("completed")).value_or(CallStatus::completed);
    receipt.digest = read_digest(object["digest"]);
    receipt.by = parse_actor(object["by"].string_or(""));
    receipt.via = object["via"].string_or("");
    receipt.delivery_id = object["deliveryID"].string_or("");
    return receipt;
}

void write_turn_terms(json::Writer& out, TurnTerms const& terms) {
    TurnTerms const usual;
    if (terms.join.n != 0) out.member("joinN", terms.join.n);
    if (terms.join.cancel_rest) out.member("joinCancelsRest", true);
    if (terms.tool_concurrency != usual.tool_concurrency)
        out.member("toolConcurrency", terms.tool_concurrency);
    if (terms.step_limit != usual.step_limit) out.member("stepLimit", terms.step_limit);
    optional_text(out, "digest", terms.digest);
    if (!terms.before.empty()) write_texts(out, "before", terms.before);
    if (!terms.after.empty()) write_texts(out, "after", terms.after);
    if (terms.program) out.member("program", text(*terms.program));
}

TurnTerms read_turn_terms(json::View object) {
    TurnTerms terms;
    terms.join.n = static_cast<std::uint32_t>(object["joinN"].integer_or(0));
    terms.join.cancel_rest = object["joinCancelsRest"].boolean_or(false);
    terms.tool_concurrency =
        static_cast<std::uint32_t>(object["toolConcurrency"].integer_or(terms.tool_concurrency));
    terms.step_limit = static_cast<std::uint32_t>(object["stepLimit"].integer_or(terms.step_limit));
    terms.digest = object["digest"].string_or("");
    terms.before = texts_of(object["before"]);
    terms.after = texts_of(object["after"]);
    if (auto const word = object["program"].string())
        terms.program = parse<OnRestart>(*word).value_or(OnRestart::ask);
    return terms;
}

Sha256 read_digest(json::View view) {
    Sha256 digest{};
    auto const text = view.string();
    if (!text || text->size() != 71 || !text->starts_with("sha256:")) return digest;
    auto const nibble = [&](std::size_t i) {
        char const c = (*text)[7 + i];
        return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    };
    for (std::size_t i = 0; i < digest.size(); ++i) {
        digest[i] = static_cast<std::uint8_t>((nibble(2 * i) << 4) | nibble(2 * i + 1));
    }
    return digest;
}

}  // namespace dormouse::wire
