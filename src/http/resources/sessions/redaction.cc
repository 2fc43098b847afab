#include "http/resources/sessions/handlers.h"
#include "http/resources/sessions/redaction_fields.h"
#include "http/resources/shared.h"

#include "http/objects/objects.h"
#include "http/objects/requests.h"

#include <utility>

// POST /api/sessions/{id}/redactions: removes content everywhere: of a message, a call, mail,
// a task or a turn, or what was set of the session.
namespace dormouse::http {

namespace {

std::string not_of(SessionId session) { return "must be an id of " + session.text(); }

void take_message(Body& body, SessionId session, std::string const& text,
                  runner::RedactionAsk& ask) {
    auto const id = parse_numbered("msg_", text);
    bool const valid = text.starts_with("msg_") && (!id || id->number != 0);
    if (!valid) return body.refuse("messageID", "must be an id such as msg_…");
    if (id && id->session == session) {
        ask.message = id->number;
    } else {
        ask.item = text;  // of a fork or an import
    }
}

void take_mail(Body& body, std::string const& text, runner::RedactionAsk& ask) {
    if (!session::parse_mail_id(text)) return body.refuse("mailID", "must be an id such as mail_…");
    ask.item = text;
}

void take_task(Body& body, SessionId session, std::string const& text, runner::RedactionAsk& ask) {
    auto const id = parse_numbered("tsk_", text);
    if (!id || id->session != session || id->number == 0)
        return body.refuse("taskID", not_of(session));
    ask.item = text;
}

void take_call(Body& body, std::string const& text, runner::RedactionAsk& ask) {
    auto const call = wire::parse_call(text);
    if (!call || *call == 0) return body.refuse("callID", "must be an id such as call_7");
    ask.call = *call;
}

void take_pending(Body& body, SessionId session, std::string const& text,
                  runner::RedactionAsk& ask) {
    auto const id = PendingId::parse(text);
    if (!id || id->session != session) return body.refuse("pendingID", not_of(session));
    ask.call = id->call;
}

void take_turn(Body& body, SessionId session, std::string const& text, runner::RedactionAsk& ask) {
    auto const id = parse_numbered("trn_", text);
    if (!id || id->session != session || id->number == 0)
        return body.refuse("turnID", not_of(session));
    ask.turn = static_cast<TurnNo>(id->number);
}

void take_part(Body& body, std::string const& text, runner::RedactionAsk& ask) {
    if (!text.starts_with("prt_")) return body.refuse("partID", "must be an id such as prt_…");
    ask.item = text;
}

// Reads which property of the session to redact; returns how many properties the body names.
int take_set(Body& body, runner::RedactionAsk& ask) {
    using enum wire::SessionProperty;
    int named = 0;
    auto const take = [&](bool is_named, wire::SessionProperty part) {
        if (is_named) ask.set = part;
        named += int{is_named};
    };
    take(body.boolean("title").value_or(false), title);
    take(body.boolean("alias").value_or(false), alias);
    take(body.boolean("labels").value_or(false), labels);
    auto const label = body.string("label");
    take(label.has_value(), labels);
    ask.label = label.value_or("");
    if (label && label->empty()) body.refuse("label", "must not be empty");
    return named;
}

// Servers of an earlier release may work on the same store, and cannot read the event.
bool others_are_older(Api const& api) {
    auto const written = api.store_format().written;
    return written > 0 && written < api.known_format();
}

Error upgrade_first() {
    return {Code::wrong_state,
            "Servers of an earlier release may work on this database and cannot read a redaction: "
            "replace them, and run 'dormouse upgrade --finish'"};
}

}  // namespace

runner::RedactionAsk read_redaction(Body& body, SessionId session) {
    runner::RedactionAsk ask;
    auto const message = body.string("messageID");
    auto const call = body.string("callID");
    auto const pending = body.string("pendingID");
    auto const mail = body.string("mailID");
    auto const task = body.string("taskID");
    ask.reason = body.string_or_empty("reason");
    ask.dry_run = body.boolean("dryRun").value_or(false);
    ask.forks = body.boolean("forks").value_or(false);
    auto const turn = body.string("turnID");
    auto const part = body.string("partID");
    int named = take_set(body, ask);
    for (auto const* const id : {&message, &call, &pending, &mail, &task, &turn, &part})
        named += int{id->has_value()};
    if (named != 1)
        body.refuse("messageID",
                    "or callID, pendingID, mailID, taskID, turnID, partID, title, "
                    "alias, labels or label is required, and only one of them");
    if (message) take_message(body, session, *message, ask);
    if (call) take_call(body, *call, ask);
    if (pending) take_pending(body, session, *pending, ask);
    if (mail) take_mail(body, *mail, ask);
    if (task) take_task(body, session, *task, ask);
    if (turn) take_turn(body, session, *turn, ask);
    if (part) take_part(body, *part, ask);
    return ask;
}

void post_redaction(Api& api, ExchangePtr const& x) {
    auto const session = SessionId::parse(x->params[0]);
    if (!session) return x->fail(not_found());
    Body body(json::View(x->body), redaction_request);
    runner::RedactionAsk const ask = read_redaction(body, *session);
    if (body.error()) return x->fail(*body.error());
    if (!ask.dry_run && others_are_older(api)) return x->fail(upgrade_first());
    api.redactor().redact(*session, ask, x->asker(),
                          [x, dry_run = ask.dry_run](Result<runner::RedactionReport> report) {
                              if (!report) return x->fail(report.error());
                              RedactionAnswer const answer{std::move(*report), dry_run};
                              x->json(200, object_text(answer));
                          });
}

}  // namespace dormouse::http
