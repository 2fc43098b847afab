#include "server/handlers.h"
#include "server/objects.h"

#include "json/json.h"
#include "json/schema.h"
#include "server/metrics.h"
#include "server/observed.h"
#include "session/limits.h"

// Outcomes for pending calls (spec 000).
namespace dormouse::server {

using namespace dormouse::session;

namespace {

std::string receipt_for(ExchangePtr const& x, Receipt const& receipt,
                        std::optional<wire::Consumed> const& consumed) {
    return x->capability ? brief_receipt(receipt) : receipt_object(receipt, consumed);
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

// The problem with the winner's receipt, which the core names by its digest only.
void refused(Api& api, ExchangePtr const& x, PendingId const& pending, Error error, ReplyFn done) {
    if (!tells_receipt(error.code)) return done(problem_reply(error, x->request));
    read_history(api, pending.session,
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
    if (!answer) return refused(api, x, pending, std::move(answer.error()), std::move(done));
    if (answer->outcome != Answer::Outcome::duplicate)
        return done(ok(outcome_json(x, *answer, std::nullopt)));
    read_history(api, pending.session,
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

std::string violations_json(std::vector<json::Violation> const& violations) {
    json::Writer out;
    out.begin_array();
    for (json::Violation const& violation : violations) {
        out.begin_object()
            .member("pointer", violation.pointer)
            .member("message", violation.message)
            .end_object();
    }
    return out.end_array().take();
}

// Where a result does not fit the schema of its call; null: it does. The schema stands with the
// pause; an early result, or one of a call in doubt, is measured by what the tool declares.
Json misfits(Api& api, State const& state, PendingId const& pending, Submission const& what) {
    Call const* const call = open_pause(state, pending);
    bool const question = call && call->question && call->question->pending == pending;
    if (!call || question) return {};
    Json schema = call->pause ? call->pause->terms.schema : Json();
    bool const undeclared = !call->pause || call->in_doubt;
    if (undeclared && schema.is_null())
        schema = api.services().catalogue.result_schema(call->spec.tool).value_or(Json());
    if (schema.is_null()) return {};
    auto const violations = json::violations(schema, what.output);
    return violations.empty() ? Json() : Json::trusted(violations_json(violations));
}

void offer(Api& api, ExchangePtr const& x, Submit command, ReplyFn done) {
    PendingId const pending = command.pending;
    api.services().runner.command(
        pending.session, std::move(command), x->asker(),
        [&api, x, pending, done = std::move(done)](Result<Answer> answer) mutable {
            api.services().metrics.submitted(answer);
            log_submitted(api.services().log, x->request.id, pending, answer);
            tell_outcome(api, x, pending, std::move(answer), std::move(done));
        });
}

}  // namespace

std::string brief_receipt(Receipt const& receipt) {
    json::Writer out;
    out.begin_object().member("status", text(receipt.status));
    out.member("digest", digest_text(receipt.digest)).member("at", to_ms(receipt.at));
    return out.end_object().take();
}

void submit_to(Api& api, ExchangePtr const& x, Submit command, port::Fn<void(HttpReply)> done) {
    command.via = x->capability ? "callback" : "http";
    if (command.what.kind != SubmissionKind::result)
        return offer(api, x, std::move(command), std::move(done));
    // Offered from within the look: nothing comes between the check and the command.
    SessionId const session = command.pending.session;
    api.services().runner.look(
        session, [&api, x, command = std::move(command),
                  done = std::move(done)](Result<std::shared_ptr<runner::Lane>> lane) mutable {
            if (!lane) return done(problem_reply(lane.error(), x->request));
            command.invalid = misfits(api, (*lane)->state(), command.pending, command.what);
            offer(api, x, std::move(command), std::move(done));
        });
}

namespace {

void submit(Api& api, ExchangePtr const& x, Submit command) {
    submit_to(api, x, std::move(command), reply_to(x));
}

// An id of another form is just unknown.
std::optional<PendingId> pending_of(ExchangePtr const& x, Body& body) {
    std::string const text = x->capability
                                 ? body.string("pendingID").value_or(x->capability->text())
                                 : body.required_string("pendingID");
    if (body.error()) {
        x->fail(*body.error());
        return std::nullopt;
    }
    auto pending = PendingId::parse(text);
    if (x->capability && pending != x->capability) pending.reset();
    if (!pending) x->fail(not_found());
    return pending;
}

void read_result(Body& body, std::string const& pointer, Submission& what) {
    body.require("result");
    auto const object = body.object("result");
    if (!object) return body.refuse("result", "must be an object with output");
    Body result(*object, pointer + "/result", {"title", "output", "metadata"});
    result.require("output");
    what.output = result.any("output").value_or(Json());
    what.title = result.string("title").value_or("");
    what.metadata = result.any("metadata").value_or(Json());
    what.digest = sha256(json::canonical_object("output", what.output));
    if (result.error()) body.refuse(*result.error());
}

void read_error(Body& body, Submission& what) {
    what.kind = SubmissionKind::error;
    what.error = body.required_string("error");
    what.digest = sha256(json::canonical_object("error", Json::trusted(json::quote(what.error))));
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

void post_result(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "", {"pendingID", "result"});
    Submit command;
    read_result(body, "", command.what);
    auto const pending = pending_of(x, body);
    if (!pending) return;
    command.pending = *pending;
    submit(api, x, std::move(command));
}

// What stands behind a callback URL: a result or an error, of the call that the URL names.
void post_capability(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "", {"pendingID", "result", "error"});
    Submit command;
    bool const is_error = json::View(x->body)["error"].exists();
    if (is_error == json::View(x->body)["result"].exists())
        body.refuse("result", "give either result or error");
    if (is_error) {
        read_error(body, command.what);
    } else {
        read_result(body, "", command.what);
    }
    auto const pending = pending_of(x, body);
    if (!pending) return;
    command.pending = *pending;
    submit(api, x, std::move(command));
}

void post_error(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "", {"pendingID", "error"});
    Submit command;
    read_error(body, command.what);
    auto const pending = pending_of(x, body);
    if (!pending) return;
    command.pending = *pending;
    submit(api, x, std::move(command));
}

namespace {

// approved, and the members arguments and content where they are not null (design/02, "Digest for
// receipts").
Sha256 decision_digest(Submission const& what) {
    json::Writer out;
    out.begin_object().member("approved", what.approved);
    if (!what.arguments.is_null()) out.member("arguments", what.arguments);
    if (!what.content.is_null()) out.member("content", what.content);
    return sha256(json::canonical_object("decision", out.end_object().json()));
}

// Edited arguments must still fit the tool. REQUIRES: the call is open (else the receipt answers).
std::optional<Error> check_arguments(Api& api, Snapshot const& snapshot, PendingId const& pending,
                                     Submission const& what) {
    auto const call = snapshot.history.calls().find(pending.call);
    bool const open = call != snapshot.history.calls().end() && call->second.settled == 0;
    if (!open) return std::nullopt;
    wire::PauseView const* const pause = snapshot.history.pause(pending);
    bool const gone =
        pause && !pause->gate.empty() && !api.services().catalogue.has_gate(pause->gate);
    if (gone)
        return Error{Code::reentry_gone, "The gate '" + pause->gate +
                                             "' is not there any more; the call goes on waiting."};
    auto const schema = api.services().catalogue.tool_schema(call->second.spec.tool);
    if (!schema)
        return Error{Code::reentry_gone,
                     "The tool is not there any more; the call goes on waiting."};
    if (what.arguments.is_null()) return std::nullopt;
    auto const violations = json::violations(*schema, what.arguments);
    if (violations.empty()) return std::nullopt;
    return Error{Code::invalid_arguments,
                 "The edited arguments do not fit the tool; the call goes on waiting.",
                 Json::trusted("{\"errors\":" + violations_json(violations) + "}")};
}

std::optional<Sha256> parse_digest(std::string const& text) {
    constexpr std::string_view prefix = "sha256:";
    if (text.size() != prefix.size() + 64 || !text.starts_with(prefix)) return std::nullopt;
    Sha256 digest{};
    for (std::size_t i = 0; i < digest.size(); ++i) {
        unsigned byte = 0;
        for (char const c : std::string_view(text).substr(prefix.size() + 2 * i, 2)) {
            bool const digit = c >= '0' && c <= '9';
            if (!digit && (c < 'a' || c > 'f')) return std::nullopt;
            byte = byte * 16 + static_cast<unsigned>(digit ? c - '0' : c - 'a' + 10);
        }
        digest[i] = static_cast<std::uint8_t>(byte);
    }
    return digest;
}

void read_question_answer(Submission& what) {
    json::View const content(what.content);
    what.action = content["action"].string_or("");
    if (json::View const output = content["output"]; output.exists()) what.output = output.copy();
}

}  // namespace

void post_decision(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "",
              {"pendingID", "approved", "inputDigest", "reason", "arguments", "content"});
    Submit command;
    Submission& what = command.what;
    what.kind = SubmissionKind::decision;
    auto const approved = body.boolean("approved");
    if (!approved) body.refuse("approved", "is missing: true or false");
    what.approved = approved.value_or(false);
    what.reason = body.string("reason").value_or("");
    what.arguments = body.any("arguments").value_or(Json());
    what.content = body.any("content").value_or(Json());
    read_question_answer(what);
    if (auto const shown = body.string("inputDigest")) {
        command.input_digest = parse_digest(*shown);
        if (!command.input_digest) body.refuse("inputDigest", "must be sha256: and 64 hex digits");
    }
    auto const pending = pending_of(x, body);
    if (!pending) return;
    command.pending = *pending;
    what.digest = decision_digest(what);
    read_history(api, pending->session,
                 [&api, x, pending = *pending, command](Result<Snapshot> snapshot) mutable {
                     if (!snapshot) return x->fail(snapshot.error());
                     if (auto error = check_arguments(api, *snapshot, pending, command.what))
                         return x->fail(*error);
                     submit(api, x, std::move(command));
                 });
}

void post_progress(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "", {"pendingID", "payload", "key"});
    body.require("payload");
    Progress command;
    command.payload = body.any("payload").value_or(Json());
    command.key = body.string("key").value_or("");
    if (command.key.size() > 256) body.refuse("key", "may have 256 bytes");
    if (command.payload.size() > 65'536) body.refuse("payload", "may have 64 KiB");
    auto const pending = pending_of(x, body);
    if (!pending) return;
    command.pending = *pending;
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
    if (ms < 1 || ms > 3'600'000) body.refuse("forMs", "must be 1 to 3600000");
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
    api.services().runner.command(pending->session, std::move(command), x->asker(),
                                  [&api, x, pending = *pending](Result<Answer> answer) {
                                      answer_outcome(api, x, pending, std::move(answer));
                                  });
}

}  // namespace dormouse::server
