#include "base/text/names.h"
#include "base/url.h"
#include "http/resources/calls/call_fields.h"
#include "http/resources/calls/handlers.h"
#include "json/json.h"
#include "json/schema/schema.h"
#include "session/parts.h"
#include "wire/asked.h"

#include <algorithm>
#include <utility>

// A call that a client makes: people or a job outside settle it, and no agent works for it. It is
// the only call of its session, which completes with it (session::Create::Ask).
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::string_view default_tool = "ask";

PauseReason read_reason(Body& body) {
    std::string const kind = body.string_or_empty("kind");
    if (kind == "result") return PauseReason::tool_result;
    bool const answers = body.array("choices") || body.object("schema");
    if (kind == "answer" || (kind.empty() && answers)) return PauseReason::user_input;
    return PauseReason::approval;
}

CallSpec read_spec(Body& body) {
    CallSpec spec;
    spec.tool = body.string("tool").value_or(std::string(default_tool));
    if (!is_tool_name(spec.tool))
        body.refuse("tool", "must match " + std::string(wire::asked::tool_pattern));
    auto const arguments = body.object("arguments");
    spec.input = arguments ? json::compact(arguments->copy()) : Json::trusted("{}");
    if (spec.input.size() > wire::asked::arguments_max)
        body.refuse("arguments", "must be at most 64 KiB");
    spec.input_digest = sha256(json::canonical(spec.input));
    return spec;
}

// The answer is one of the titles: people see the choices, the schema refuses other answers.
void read_choices(Body& body, PauseTerms& terms) {
    auto const list = body.array("choices");
    if (!list) return;
    std::vector<std::string> titles;
    std::size_t number = 0;
    list->elements([&](json::View one) {
        std::string const pointer = "/choices/" + std::to_string(number++);
        if (one.kind() != json::Kind::object)
            return body.refuse(bad_value(pointer, "must be an object with title"));
        Body choice(one, choice_part, pointer);
        if (choice.error()) return body.refuse(*choice.error());
        std::string title = choice.string_or_empty("title");
        if (std::ranges::find(titles, title) != titles.end())
            return body.refuse(bad_value(pointer + "/title", "must not repeat another title"));
        titles.push_back(std::move(title));
    });
    json::Writer form, schema;
    form.begin_object().member_raw("choices", list->raw()).end_object();
    schema.begin_object().key("enum").begin_array();
    for (std::string const& title : titles) schema.value(title);
    terms.form = json::compact(form.json());
    terms.schema = schema.end_array().end_object().json();
}

void read_schema(Body& body, PauseTerms& terms) {
    auto const given = body.object("schema");
    if (!given) return;
    if (!terms.schema.is_null()) return body.refuse("schema", "must not be given with choices");
    terms.schema = json::compact(given->copy());
    if (terms.schema.size() > wire::asked::schema_max)
        return body.refuse("schema", "must be at most 32 KiB");
    for (json::Violation const& violation : json::violations(terms.schema, Json::trusted("{}"))) {
        if (violation.pointer == "#") return body.refuse("schema", violation.message);
    }
}

std::vector<std::string> read_names(Body& answer, std::string_view member) {
    std::vector<std::string> out;
    auto const list = answer.array(member);
    if (!list) return out;
    std::size_t number = 0;
    list->elements([&](json::View one) {
        std::string const pointer =
            answer.pointer() + "/" + std::string(member) + "/" + std::to_string(number++);
        auto const name = one.string();
        if (!name) return answer.refuse(bad_value(pointer, "must be a string"));
        if (auto error = wrong_answerer(*name, pointer)) return answer.refuse(*std::move(error));
        if (std::ranges::find(out, *name) == out.end()) out.push_back(*name);
    });
    if (out.empty()) answer.refuse(member, "must not be empty; leave it out for anyone");
    return out;
}

// Returns true if fewer people than votes are named, so that the call could never be approved.
bool too_few(AnswerTerms const& terms) {
    bool const roles = std::ranges::any_of(
        terms.from, [](std::string const& name) { return name.starts_with("role:"); });
    return !terms.from.empty() && !roles && terms.from.size() < terms.need;
}

void read_answerers(Body& body, PauseTerms& terms) {
    auto const object = body.object("answer");
    if (!object) return;
    if (terms.reason == PauseReason::tool_result)
        return body.refuse("answer", "must be left out of kind result, which no person answers");
    Body answer(*object, asked_answer_part, "/answer");
    if (!answer.error()) {
        terms.answer.from = read_names(answer, "from");
        terms.answer.need = static_cast<std::uint32_t>(answer.integer("need").value_or(1));
        terms.answer.forbid_requester = answer.boolean("forbidRequester").value_or(false);
        terms.escalate_to = read_names(answer, "escalateTo");
        if (too_few(terms.answer))
            answer.refuse("from", "must name at least as many people as `need`");
    }
    if (answer.error()) body.refuse(*answer.error());
}

std::optional<Duration> read_ms(Body& body, std::string_view name) {
    auto const ms = body.integer(name);
    return ms ? std::optional(Duration(*ms)) : std::nullopt;
}

void read_times(Body& body, PauseTerms& terms) {
    bool const approval = terms.reason == PauseReason::approval;
    terms.timeout = read_ms(body, "withinMs");
    if (body.string("onDeadline") == "deny") terms.on_deadline = OnDeadline::deny;
    if (terms.on_deadline == OnDeadline::deny && !approval)
        body.refuse("onDeadline", "must be expire, unless the kind is approval");
    terms.remind_after = read_ms(body, "remindAfterMs");
    terms.remind_every = read_ms(body, "remindEveryMs");
    if (terms.remind_every && !terms.remind_after) terms.remind_after = terms.remind_every;
    if (terms.remind_after && terms.reason == PauseReason::tool_result)
        body.refuse("remindAfterMs", "must be left out of kind result, which no person answers");
    bool const waits = terms.timeout || terms.reason == PauseReason::tool_result;
    if (!waits && (terms.on_deadline != OnDeadline::expire || !terms.escalate_to.empty()))
        body.refuse("withinMs", "is required for onDeadline and escalateTo");
}

void read_webhook(Body& body, PauseTerms& terms) {
    terms.webhook_url = body.string_or_empty("webhookURL");
    terms.webhook_secret = body.string_or_empty("webhookSecret");
    if (terms.webhook_url.empty()) return;
    if (auto const why = wrong_url(terms.webhook_url); !why.empty())
        body.refuse("webhookURL", std::string(why));
}

PauseTerms read_terms(Body& body) {
    PauseTerms terms;
    terms.reason = read_reason(body);
    terms.continuation = Continuation::tool_response;
    terms.message = body.string_or_empty("question");
    read_choices(body, terms);
    read_schema(body, terms);
    if (terms.reason == PauseReason::approval && !terms.schema.is_null())
        body.refuse("kind", "must be answer or result with choices or a schema");
    if (terms.reason == PauseReason::tool_result && !terms.form.is_null())
        body.refuse("choices", "must be left out of kind result, which no person answers");
    read_answerers(body, terms);
    read_times(body, terms);
    read_webhook(body, terms);
    terms.external_ref = body.string_or_empty("externalRef");
    return terms;
}

Result<Create> read_ask(ExchangePtr const& x) {
    Body body(json::View(x->body), ask_request);
    if (body.error()) return std::unexpected(*body.error());
    Create create;
    create.project = x->request.query_value("project").value_or("default");
    create.agent = std::string(no_agent);
    Create::Ask ask{read_spec(body), read_terms(body), {}};
    if (ask.terms.message.find_first_not_of(" \t\r\n") == std::string::npos)
        body.refuse("question", "must not be empty");
    if (body.error()) return std::unexpected(*body.error());
    ask.call.terms.may_pause = {ask.terms.reason};
    ask.parts = session::text_parts(ask.terms.message);
    create.ask = std::move(ask);
    return create;
}

// The first call of the session.
void answer_asked(Api& api, ExchangePtr const& x, runner::Created const& created) {
    bool const again = created.answer.outcome == Answer::Outcome::duplicate;
    read_history(api, created.session, [&api, x, again](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(gone_since(snapshot.error()));
        auto const call = snapshot->history.calls().find(1);
        bool const known = call != snapshot->history.calls().end() && !call->second.pauses.empty();
        if (!known) return x->fail(history_gone());
        wire::PauseView const& pause = call->second.pauses.front();
        AskedSource const out{pause.pending,
                              api.services().gate.base_url() + "/a/" + pause.pending.text(),
                              again,
                              {snapshot->lane->state(), snapshot->history, pause, call->second,
                               api.services().runner.now()}};
        std::string const path = "/api/pending/" + pause.pending.text();
        x->json(again ? 200 : 201, object_text(out), {{"Location", path}});
    });
}

void make_call(Api& api, ExchangePtr const& x, Create create) {
    api.services().runner.create(std::move(create), x->asker(),
                                 [&api, x](Result<runner::Created> created) {
                                     if (!created) return x->fail(created.error());
                                     answer_asked(api, x, *created);
                                 });
}

Error too_many(std::uint32_t most) {
    json::Writer extra;
    extra.begin_object().member("limit", "waiting_calls").member("max", most).end_object();
    return {Code::too_many_pending,
            "The project has " + std::to_string(most) +
                " waiting calls; answer or cancel some of them.",
            extra.json(), 60'000};
}

// A repeated request finds its call, however many wait.
void make_unless_too_many(Api& api, ExchangePtr const& x, Create create) {
    std::uint32_t const most = api.services().waiting_calls;
    auto const key = runner::Runner::creation_key(create.project, x->asker());
    auto question = [most, key, project = create.project](port::Store& store) -> Result<bool> {
        if (key) {
            auto const found = store.find_created(*key);
            if (!found) return std::unexpected(found.error());
            if (*found) return true;
        }
        auto const waiting = store.count_waiting(project, most);
        if (!waiting) return std::unexpected(waiting.error());
        return *waiting < most;
    };
    port::ask(api.services().journal, std::move(question),
              [&api, x, most, create = std::move(create)](Result<bool> may) mutable {
                  if (!may) return x->fail(may.error());
                  if (!*may) return x->fail(too_many(most));
                  make_call(api, x, std::move(create));
              });
}

}  // namespace

void post_pending(Api& api, ExchangePtr const& x) {
    read_aside<Create>(
        api, x, [x] { return read_ask(x); },
        [&api, x](Create create) { make_unless_too_many(api, x, std::move(create)); });
}

}  // namespace dormouse::http
