#include "base/text/names.h"
#include "base/url.h"
#include "json/json.h"
#include "json/schema/schema.h"
#include "runner/read/read_history.h"
#include "runtime/engine/engine.h"
#include "session/parts.h"
#include "tool/adapter.h"
#include "wire/asked.h"

#include <algorithm>
#include <array>

// Calls that the program makes itself (session::Create::Ask).
namespace dormouse {

namespace {

Result<void> refuse(std::string detail) { return fail(Code::bad_value, std::move(detail)); }

Result<void> check_schema(Question const& question) {
    if (question.schema.is_null()) return {};
    if (question.kind == PauseReason::approval)
        return refuse("schema must be null with kind approval");
    if (question.schema.size() > wire::asked::schema_max)
        return refuse("schema must be at most 32 KiB");
    if (!json::check(question.schema.text())) return refuse("schema is not JSON");
    for (auto const& wrong : json::violations(question.schema, Json::trusted("{}")))
        if (wrong.pointer == "#") return refuse("schema: " + wrong.message);
    return {};
}

Result<void> check_options(Question const& question) {
    PauseOptions const& options = question.options;
    bool const people = question.kind != PauseReason::tool_result;
    if (!options.message.empty()) return refuse("options.message must be empty: text is shown");
    if (!options.state.is_null()) return refuse("options.state must be null: no tool continues");
    if (options.need == 0) return refuse("options.need must be at least 1");
    if (!people && (options.need > 1 || !options.answerers.empty()))
        return refuse("options.answerers and need are for people, who do not answer tool_result");
    if (options.within && *options.within < Duration(1))
        return refuse("options.within must be at least 1 ms");
    if (options.webhook_url.empty()) return {};
    auto const why = wrong_url(options.webhook_url);
    return why.empty() ? Result<void>() : refuse("options.webhook_url " + std::string(why));
}

// Checks a question, except for UTF-8 and JSON, which are checked with the command (wire/admit.h).
Result<void> check(Question const& question) {
    constexpr std::array kinds{PauseReason::approval, PauseReason::user_input,
                               PauseReason::tool_result};
    if (question.text.find_first_not_of(" \t\r\n") == std::string::npos)
        return refuse("text must not be empty");
    if (question.text.size() > wire::asked::text_max) return refuse("text must be at most 16 KiB");
    if (std::ranges::find(kinds, question.kind) == kinds.end())
        return refuse("kind must be approval, user_input or tool_result");
    if (!is_tool_name(question.tool))
        return refuse("tool must match " + std::string(wire::asked::tool_pattern));
    bool const object = question.arguments.is_null() || question.arguments.text().starts_with('{');
    if (!object || !json::check(question.arguments.text()))
        return refuse("arguments must be a JSON object or null");
    if (question.arguments.size() > wire::asked::arguments_max)
        return refuse("arguments must be at most 64 KiB");
    if (auto fits = check_schema(question); !fits) return fits;
    return check_options(question);
}

session::CallSpec spec_of(Question const& question) {
    session::CallSpec spec;
    spec.tool = question.tool;
    spec.input = question.arguments.is_null() ? Json::trusted("{}") : question.arguments;
    spec.input_digest = sha256(json::canonical(spec.input));
    spec.terms.may_pause = {question.kind};
    return spec;
}

session::Create command_of(Question const& question) {
    session::Create create;
    create.project = question.project;
    create.agent = std::string(session::no_agent);
    session::PauseTerms terms = tools::pause_terms(question.options);
    terms.reason = question.kind;
    terms.continuation = session::Continuation::tool_response;
    terms.message = question.text;
    terms.schema = question.schema;
    create.ask = session::Create::Ask{spec_of(question), std::move(terms),
                                      session::text_parts(question.text)};
    return create;
}

// Returns the content that a repeated request must have in common with the first.
std::string content_of(Question const& question) {
    PauseOptions const& options = question.options;
    json::Writer out;
    out.begin_array().value(question.project).value(question.text).value(text(question.kind));
    out.value(question.tool).value(question.arguments).value(question.schema);
    out.value(options.ref).value(options.form).value(options.metadata).value(options.need);
    out.value(options.within ? options.within->count() : 0).value(options.without_end);
    out.value(options.webhook_url).value(digest_text(sha256(options.webhook_secret)));
    for (std::string const& answerer : options.answerers) out.value(answerer);
    return out.end_array().take();
}

// The id of a session's first pause.
void find_pending(runner::Runner& runner, SessionId session, runtime::Reply<PendingId> reply) {
    runner::read_history(
        runner, session, [reply = std::move(reply)](Result<runner::Snapshot> snapshot) mutable {
            if (!snapshot) return reply(std::unexpected(std::move(snapshot.error())));
            auto const& calls = snapshot->history.calls();
            auto const first = calls.find(1);
            if (first == calls.end() || first->second.pauses.empty())
                return reply(fail(Code::session_gone, "The call of this key was removed."));
            reply(first->second.pauses.front().pending);
        });
}

}  // namespace

void Runtime::Engine::ask(Question const& question, runtime::Reply<PendingId> reply) {
    NewSession session;
    session.project = question.project;
    session.prompt = question.text;
    session.key = question.key;
    session.by = question.by;
    auto fits = runtime::check(session);
    if (fits) fits = check(question);
    if (!fits) return reply(std::unexpected(std::move(fits.error())));
    auto const shared_reply = std::make_shared<runtime::Reply<PendingId>>(std::move(reply));
    auto then =
        [this, shared_reply, create = command_of(question),
         by = runtime::asker(question.by, "ask", question.key, content_of(question))]() mutable {
            node_.runner.create(
                std::move(create), std::move(by),
                [this, shared_reply](Result<runner::Created> created) {
                    if (!created)
                        return (*shared_reply)(std::unexpected(std::move(created.error())));
                    find_pending(node_.runner, created->session, std::move(*shared_reply));
                });
        };
    allow(Operation::create_session, {}, question.by, std::move(then),
          [shared_reply](Error error) { (*shared_reply)(std::unexpected(std::move(error))); });
}

}  // namespace dormouse
