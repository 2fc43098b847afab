#include "http/objects/objects.h"

#include "base/trace.h"
#include "http/resources/calls/handlers.h"

#include "http/resources/operations/metrics.h"
#include "http/resources/operations/observed.h"
#include "http/resources/rights.h"
#include "json/json.h"
#include "runner/unreadable.h"
#include "wire/submission.h"

// Outcomes for pending calls (docs/reference/http.md, "Pending calls").
namespace dormouse::server {

using namespace dormouse::session;

namespace {

std::string receipt_for(ExchangePtr const& x, Receipt const& receipt,
                        std::optional<wire::Consumed> const& consumed) {
    bool const brief = x->capability || x->by.type == ActorType::webhook;
    return brief ? brief_receipt(receipt) : receipt_object(receipt, consumed);
}

std::string outcome_json(ExchangePtr const& x, Answer const& answer,
                         std::optional<wire::Consumed> const& consumed) {
    json::Writer out;
    bool const duplicate = answer.outcome == Answer::Outcome::duplicate;
    bool const counted = answer.outcome == Answer::Outcome::counted;
    out.begin_object().member("outcome", counted ? "counted" : duplicate ? "duplicate" : "applied");
    out.member("duplicate", duplicate).key("receipt");
    if (answer.receipt) {
        out.raw(receipt_for(x, *answer.receipt, consumed));
    } else {
        out.null();
    }
    out.key("votes");
    if (!counted) return out.null().end_object().take();
    out.begin_array();
    for (Vote const& vote : answer.votes) {
        out.begin_object().key("by");
        write_actor(out, vote.by);
        out.member("approved", vote.approved).member("at", to_ms(vote.at)).end_object();
    }
    return out.end_array().end_object().take();
}

bool tells_receipt(Code code) {
    return code == Code::conflict || code == Code::expired || code == Code::cancelled;
}

using ReplyFn = port::Fn<void(HttpReply)>;

// A session that cannot be read is unknown to who may not touch its project.
void tell_unreadable(Api& api, ExchangePtr const& x, SessionId const& session, Error error,
                     ReplyFn done) {
    find_project(api, session,
                 [x, error = std::move(error),
                  done = std::move(done)](Result<std::optional<std::string>> project) mutable {
                     if (!project) return done(problem_reply(project.error(), x->request));
                     bool const own = *project && x->principal->is_for(**project);
                     done(problem_reply(own ? error : not_found(), x->request));
                 });
}

// The problem with the winner's receipt, which the core names by its digest only.
void refused(Api& api, ExchangePtr const& x, PendingId const& pending, Error error, ReplyFn done) {
    bool const bound = x->principal && !x->principal->for_all_projects();
    if (bound && runner::is_unreadable(error))
        return tell_unreadable(api, x, pending.session, std::move(error), std::move(done));
    if (!tells_receipt(error.code)) return done(problem_reply(error, x->request));
    read_pending(api, pending,
                 [x, pending, error = std::move(error),
                  done = std::move(done)](Result<Snapshot> snapshot) mutable {
                     // Deleted in between.
                     if (!snapshot) return done(problem_reply(snapshot.error(), x->request));
                     wire::PauseView const* const pause = snapshot->history.pause(pending);
                     if (!pause || !pause->receipt) return done(problem_reply(error, x->request));
                     json::Writer extra;
                     extra.begin_object()
                         .member("digest", digest_text(pause->receipt->digest))
                         .key("receipt");
                     extra.raw(receipt_for(x, *pause->receipt,
                                           snapshot->history.consumed(pause->receipt->seq)));
                     error.extra = extra.end_object().json();
                     done(problem_reply(error, x->request));
                 });
}

ReplyFn reply_to(ExchangePtr const& x) {
    return [x](HttpReply reply) { x->responder->reply(std::move(reply)); };
}

void fail_with_receipt(Api& api, ExchangePtr const& x, PendingId const& pending, Error error) {
    refused(api, x, pending, std::move(error), reply_to(x));
}

HttpReply ok(std::string text) { return {200, "application/json", {}, std::move(text)}; }

void tell_outcome(Api& api, ExchangePtr const& x, PendingId const& pending, Result<Answer> answer,
                  ReplyFn done) {
    trace();
    if (!answer) return refused(api, x, pending, std::move(answer.error()), std::move(done));
    if (answer->outcome != Answer::Outcome::duplicate)
        return done(ok(outcome_json(x, *answer, std::nullopt)));
    read_pending(api, pending,
                 [x, answer = std::move(*answer),
                  done = std::move(done)](Result<Snapshot> snapshot) mutable {
                     std::optional<wire::Consumed> consumed;
                     if (snapshot && answer.receipt)
                         consumed = snapshot->history.consumed(answer.receipt->seq);
                     done(ok(outcome_json(x, answer, consumed)));
                 });
}

void answer_outcome(Api& api, ExchangePtr const& x, PendingId const& pending,
                    Result<Answer> answer) {
    tell_outcome(api, x, pending, std::move(answer), reply_to(x));
}

}  // namespace

std::string brief_receipt(Receipt const& receipt) {
    json::Writer out;
    out.begin_object().member("status", text(receipt.status));
    out.member("digest", digest_text(receipt.digest)).member("at", to_ms(receipt.at));
    return out.end_object().take();
}

void submit_to(Api& api, ExchangePtr const& x, Submit command, port::Fn<void(HttpReply)> done) {
    trace();
    if (command.via.empty()) command.via = x->capability ? "callback" : "http";
    PendingId const pending = command.pending;
    if (auto error = api.services().gate.refuse_submission(x->request, x->principal.get(), pending))
        return done(problem_reply(*error, x->request));
    api.services().runner.command(
        pending.session, std::move(command), x->asker(),
        [&api, x, pending, done = std::move(done)](Result<Answer> answer) mutable {
            api.services().metrics.submitted(answer);
            log_submitted(api.services().log, x->request.id, pending, answer);
            tell_outcome(api, x, pending, std::move(answer), std::move(done));
        });
}

namespace {

// What a body says, or why it is refused.
using Said = Result<Submit> (*)(Exchange const&);

// Reading takes long when the body is large: values are put into their canonical form.
void submit(Api& api, ExchangePtr const& x, Said read) {
    auto const command = std::make_shared<Result<Submit>>();
    api.aside(
        x, [x, read, command] { *command = read(*x); },
        [&api, x, command] {
            if (!*command) return refuse_body(api, x, std::move(command->error()));
            submit_to(api, x, std::move(**command), reply_to(x));
        });
}

// An id of another form is just unknown.
Result<PendingId> pending_of(Exchange const& x, Body& body) {
    std::string const text = x.capability ? body.string("pendingID").value_or(x.capability->text())
                                          : body.required_string("pendingID");
    if (body.error()) return std::unexpected(*body.error());
    auto pending = PendingId::parse(text);
    if (x.capability && pending != x.capability) pending.reset();
    if (!pending) return std::unexpected(not_found());
    return *pending;
}

Result<Submit> with_pending(Exchange const& x, Body& body, Submit command) {
    auto const pending = pending_of(x, body);
    if (!pending) return std::unexpected(pending.error());
    command.pending = *pending;
    return command;
}

void read_result(Body& body, std::string const& pointer, Submission& what) {
    body.require("result");
    auto const object = body.object("result");
    if (!object) return body.refuse("result", "must be an object with output");
    Body result(*object, pointer + "/result", {"title", "output", "metadata"});
    result.require("output");
    what = wire::submitted_result(result.any("output").value_or(Json()),
                                  result.string("title").value_or(""),
                                  result.any("metadata").value_or(Json()));
    if (result.error()) body.refuse(*result.error());
}

void read_error(Body& body, Submission& what) {
    what = wire::submitted_error(body.required_string("error"));
}

}  // namespace

std::string read_outcome(Body& body, std::string const& pointer, bool is_error, Submission& what) {
    if (is_error) {
        read_error(body, what);
    } else {
        read_result(body, pointer, what);
    }
    return body.required_string("pendingID");
}

namespace {

Result<Submit> said_result(Exchange const& x) {
    Body body(json::View(x.body), "", {"pendingID", "result"});
    Submit command;
    read_result(body, "", command.what);
    return with_pending(x, body, std::move(command));
}

// What stands behind a callback URL: a result or an error, of the call that the URL names.
Result<Submit> said_capability(Exchange const& x) {
    Body body(json::View(x.body), "", {"pendingID", "result", "error"});
    Submit command;
    bool const is_error = json::View(x.body)["error"].exists();
    if (is_error == json::View(x.body)["result"].exists())
        body.refuse("result", "give either result or error");
    if (is_error) {
        read_error(body, command.what);
    } else {
        read_result(body, "", command.what);
    }
    return with_pending(x, body, std::move(command));
}

Result<Submit> said_error(Exchange const& x) {
    Body body(json::View(x.body), "", {"pendingID", "error"});
    Submit command;
    read_error(body, command.what);
    return with_pending(x, body, std::move(command));
}

Result<Submit> said_decision(Exchange const& x) {
    Body body(json::View(x.body), "",
              {"pendingID", "approved", "inputDigest", "reason", "arguments", "content"});
    Submit command;
    auto const approved = body.boolean("approved");
    // What was shown is what is decided: whoever can only answer must say what that was.
    bool const answerer = x.principal && x.principal->role == Role::answer;
    if (answerer && !body.string("inputDigest"))
        body.refuse("inputDigest", "is required of a token of role answer: the one of the call");
    if (!approved) body.refuse("approved", "is missing: true or false");
    command.what = wire::submitted_decision(
        approved.value_or(false), body.string("reason").value_or(""),
        body.any("arguments").value_or(Json()), body.any("content").value_or(Json()));
    if (auto const shown = body.string("inputDigest")) {
        command.input_digest = wire::parse_digest(*shown);
        if (!command.input_digest) body.refuse("inputDigest", "must be sha256: and 64 hex digits");
    }
    return with_pending(x, body, std::move(command));
}

}  // namespace

void post_result(Api& api, ExchangePtr const& x) { submit(api, x, said_result); }
void post_capability(Api& api, ExchangePtr const& x) { submit(api, x, said_capability); }
void post_error(Api& api, ExchangePtr const& x) { submit(api, x, said_error); }
void post_decision(Api& api, ExchangePtr const& x) { submit(api, x, said_decision); }

void post_progress(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "", {"pendingID", "payload", "key"});
    body.require("payload");
    Progress command;
    command.payload = body.any("payload").value_or(Json());
    command.key = body.string("key").value_or("");
    if (command.key.size() > 256) body.refuse("key", "may have 256 bytes");
    if (command.payload.size() > 65'536) body.refuse("payload", "may have 64 KiB");
    auto const pending = pending_of(*x, body);
    if (!pending) return refuse_body(api, x, pending.error());
    command.pending = *pending;
    if (auto const error =
            api.services().gate.refuse_submission(x->request, x->principal.get(), *pending))
        return x->fail(*error);
    api.services().runner.command(
        pending->session, std::move(command), x->asker(),
        [&api, x, pending = *pending](Result<Answer> answer) {
            if (!answer) return fail_with_receipt(api, x, pending, std::move(answer.error()));
            bool const again = answer->outcome == Answer::Outcome::duplicate;
            x->json(200, again ? R"({"outcome":"duplicate","duplicate":true})"
                               : R"({"outcome":"applied","duplicate":false})");
        });
}

void post_claim(Api& api, ExchangePtr const& x) {
    auto const pending = PendingId::parse(x->params[0]);
    if (!pending) return x->fail(not_found());
    Body body(json::View(x->body), "", {"forMs"});
    std::int64_t const ms = body.integer("forMs").value_or(60'000);
    if (ms < 0 || ms > 3'600'000) body.refuse("forMs", "must be 0 (given back) to 3600000");
    if (body.error()) return x->fail(*body.error());
    api.services().runner.command(pending->session, Claim{*pending, Duration(ms)}, x->asker(),
                                  [&api, x, pending = *pending](Result<Answer> answer) {
                                      if (!answer)
                                          return fail_with_receipt(api, x, pending,
                                                                   std::move(answer.error()));
                                      get_pending(api, x);
                                  });
}

void delete_pending(Api& api, ExchangePtr const& x) {
    auto const pending = PendingId::parse(x->params[0]);
    if (!pending) return x->fail(not_found());
    Cancel command{Cancel::Scope::call, pending};
    command.reason = x->request.query_value("reason").value_or("");
    if (command.reason.size() > limits::cancel_reason_bytes_max)
        return x->fail(bad_value("?reason", "must be at most 1000 bytes"));
    api.services().runner.command(pending->session, std::move(command), x->asker(),
                                  [&api, x, pending = *pending](Result<Answer> answer) {
                                      answer_outcome(api, x, pending, std::move(answer));
                                  });
}

}  // namespace dormouse::server
