#include "base/trace.h"
#include "http/resources/calls/call_fields.h"
#include "http/resources/calls/handlers.h"
#include "http/resources/operations/metrics/metrics.h"
#include "http/resources/operations/metrics/observed.h"
#include "http/resources/rights.h"
#include "json/json.h"
#include "runner/repair/unreadable.h"
#include "wire/submission.h"

// Submits outcomes of pending calls (docs/reference/http.md, "Pending calls").
namespace dormouse::http {

using namespace dormouse::session;

namespace {

// Capabilities and webhooks see the brief receipt.
bool is_brief(ExchangePtr const& x) { return x->capability || x->by.type == ActorType::webhook; }

std::string receipt_for(ExchangePtr const& x, Receipt const& receipt,
                        std::optional<wire::Consumed> const& consumed) {
    return is_brief(x) ? brief_receipt(receipt) : receipt_object(receipt, consumed);
}

std::string outcome_json(ExchangePtr const& x, Answer const& answer,
                         std::optional<wire::Consumed> const& consumed) {
    auto const& receipt = answer.receipt;
    if (is_brief(x)) {
        OutcomeSource<BriefReceipt> brief{answer, {}};
        if (receipt) brief.receipt = BriefReceipt{*receipt};
        return object_text(brief);
    }
    OutcomeSource<ReceiptSource> whole{answer, {}};
    if (receipt) whole.receipt = ReceiptSource{*receipt, consumed};
    return object_text(whole);
}

bool tells_receipt(Code code) {
    return code == Code::conflict || code == Code::expired || code == Code::cancelled;
}

using ReplyFn = port::Fn<void(HttpReply)>;

// A session that cannot be read is not found for a token without its project.
void report_unreadable(Api& api, ExchangePtr const& x, SessionId const& session, Error error,
                       ReplyFn done) {
    find_project(api, session,
                 [x, error = std::move(error),
                  done = std::move(done)](Result<std::optional<std::string>> project) mutable {
                     if (!project) return done(problem_reply(project.error(), x->request));
                     bool const own = *project && x->principal->is_for(**project);
                     done(problem_reply(own ? error : not_found(), x->request));
                 });
}

// Answers with the problem and the winner's receipt, which the core names by digest only.
void refused(Api& api, ExchangePtr const& x, PendingId const& pending, Error error, ReplyFn done) {
    bool const bound = x->principal && !x->principal->for_all_projects();
    if (bound && runner::is_unreadable(error))
        return report_unreadable(api, x, pending.session, std::move(error), std::move(done));
    if (!tells_receipt(error.code)) return done(problem_reply(error, x->request));
    read_pending(api, pending,
                 [x, pending, error = std::move(error),
                  done = std::move(done)](Result<Snapshot> snapshot) mutable {
                     // deleted meanwhile
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

HttpReply ok(std::string text) { return {200, "application/json", {}, std::move(text)}; }

void report_outcome(Api& api, ExchangePtr const& x, PendingId const& pending, Result<Answer> answer,
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
    report_outcome(api, x, pending, std::move(answer), reply_to(x));
}

}  // namespace

void fail_with_receipt(Api& api, ExchangePtr const& x, PendingId const& pending, Error error) {
    refused(api, x, pending, std::move(error), reply_to(x));
}

std::string brief_receipt(Receipt const& receipt) { return object_text(BriefReceipt{receipt}); }

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
            report_outcome(api, x, pending, std::move(answer), std::move(done));
        });
}

namespace {

// Reads a body as a command, or returns why it is refused.
using Said = Result<Submit> (*)(Exchange const&);

// Large bodies take long to read: values are converted to their canonical form.
void submit(Api& api, ExchangePtr const& x, Said read) {
    auto const command = std::make_shared<Result<Submit>>();
    api.run_for_body(
        x, [x, read, command] { *command = read(*x); },
        [&api, x, command] {
            if (!*command) return refuse_body(api, x, std::move(command->error()));
            submit_to(api, x, std::move(**command), reply_to(x));
        });
}

// A capability used as a token names its call.
std::string_view implied(Exchange const& x) { return x.capability ? "pendingID" : ""; }

// An id of another form is simply unknown.
Result<PendingId> pending_of(Exchange const& x, Body& body) {
    if (body.error()) return std::unexpected(*body.error());
    auto const text = body.string("pendingID").value_or(x.capability ? x.capability->text() : "");
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
    auto const object = body.object("result");
    if (!object) return body.refuse("result", "must be an object with output");
    Body result(*object, submitted_result_part, pointer + "/result");
    what = wire::submitted_result(result.any("output").value_or(Json()),
                                  result.string_or_empty("title"),
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

Result<Submit> read_result(Exchange const& x) {
    Body body(json::View(x.body), result_request, "", implied(x));
    Submit command;
    read_result(body, "", command.what);
    if (auto input = read_files(body)) {
        command.files = std::move(input->files);
        command.file_parts = std::move(input->parts);
        command.what.digest = wire::digest_with_files(command.what, command.files);
    }
    return with_pending(x, body, std::move(command));
}

// Reads the body sent to a callback URL: a result or an error of the call that the URL names.
Result<Submit> read_capability(Exchange const& x) {
    Body body(json::View(x.body), callback_request);
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

Result<Submit> read_error(Exchange const& x) {
    Body body(json::View(x.body), error_request, "", implied(x));
    Submit command;
    read_error(body, command.what);
    return with_pending(x, body, std::move(command));
}

std::vector<std::string> read_match(Body& rule) {
    std::vector<std::string> out;
    auto const list = rule.array("match");
    if (!list) return out;
    list->elements([&](json::View one) {
        auto name = one.string();
        if (!name || name->size() > 1'024)
            return rule.refuse("match", "must be names of arguments");
        if (std::ranges::find(out, *name) == out.end()) out.push_back(*std::move(name));
    });
    return out;
}

constexpr Duration rule_default{std::int64_t{30} * 86'400'000};

std::optional<RuleTerms> read_rule(Body& body) {
    auto const object = body.object("rule");
    if (!object) return std::nullopt;
    Body rule(*object, rule_part, "/rule");
    RuleTerms out;
    out.scope = parse<RuleScope>(rule.string_or_empty("scope")).value_or(RuleScope::session);
    out.match = read_match(rule);
    if (auto const ms = rule.integer("forMs")) out.lifetime = Duration(*ms);
    if (out.scope == RuleScope::project && !out.lifetime) out.lifetime = rule_default;
    if (rule.error()) body.refuse(*rule.error());
    return out;
}

Result<Submit> read_decision(Exchange const& x) {
    Body body(json::View(x.body), decision_request, "", implied(x));
    Submit command;
    // The decision applies to what was shown: a caller with role answer must send its digest.
    bool const answerer = x.principal && x.principal->role == Role::answer;
    if (answerer && !body.string("inputDigest"))
        body.refuse("inputDigest", "is required of a token of role answer: the one of the call");
    command.what = wire::submitted_decision(body.boolean("approved").value_or(false),
                                            body.string_or_empty("reason"),
                                            body.any("arguments").value_or(Json()),
                                            body.any("content").value_or(Json()), read_rule(body));
    if (!command.what.approved && !command.what.arguments.is_null())
        body.refuse("arguments", "only an approval replaces the arguments");
    if (auto const shown = body.string("inputDigest")) {
        command.input_digest = wire::parse_digest(*shown);
        if (!command.input_digest) body.refuse("inputDigest", "must be sha256: and 64 hex digits");
    }
    return with_pending(x, body, std::move(command));
}

}  // namespace

void post_result(Api& api, ExchangePtr const& x) { submit(api, x, read_result); }
void post_capability(Api& api, ExchangePtr const& x) { submit(api, x, read_capability); }
void post_error(Api& api, ExchangePtr const& x) { submit(api, x, read_error); }
void post_decision(Api& api, ExchangePtr const& x) { submit(api, x, read_decision); }

void post_progress(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), progress_request, "", implied(*x));
    Progress command;
    command.payload = body.any("payload").value_or(Json());
    command.key = body.string_or_empty("key");
    if (command.payload.size() > 65'536) body.refuse("payload", "must be at most 64 KiB");
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
            x->json(200, object_text(ProgressAnswer{again}));
        });
}

void post_claim(Api& api, ExchangePtr const& x) {
    auto const pending = PendingId::parse(x->params[0]);
    if (!pending) return x->fail(not_found());
    Body body(json::View(x->body), claim_request);
    std::int64_t const ms = body.integer("forMs").value_or(60'000);
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

}  // namespace dormouse::http
