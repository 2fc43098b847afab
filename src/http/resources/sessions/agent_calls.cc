#include "base/text/cut.h"
#include "http/resources/sessions/handlers.h"
#include "http/resources/sessions/session_fields.h"

#include "base/text/text.h"
#include "json/json.h"
#include "json/schema/schema.h"
#include "session/parts.h"

#include <algorithm>

// Calls of a session's tools by its external agent, from outside the model. Each is a task that
// reports its outcome (TaskAsk::mark).
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::size_t description_max = 1'000;

struct Asked {
    std::string tool;
    Json arguments;
    std::string key;
};

// Returns the mark of a call: equal calls are one call while it is open.
std::string mark_of(Asked const& call) {
    json::Writer out;
    out.begin_array().value(call.tool).value(call.arguments).value(call.key).end_array();
    return hex(sha256(json::canonical(out.json())));
}

std::string description_of(Asked const& call) {
    return cut_with_mark(call.tool + " " + std::string(call.arguments.text()), description_max);
}

Json prompt_parts(Asked const& call) {
    json::Writer request;
    request.begin_object().member("tool", call.tool).member("input", call.arguments).end_object();
    return session::text_parts(request.text());
}

std::optional<Error> refuse_arguments(std::optional<Json> const& schema, Asked const& call) {
    if (!schema) return std::nullopt;
    auto const violations = json::violations(*schema, call.arguments);
    if (violations.empty()) return std::nullopt;
    json::Writer extra;
    extra.begin_object().key("errors").begin_array();
    for (json::Violation const& each : violations) {
        extra.begin_object().member("pointer", each.pointer).member("message", each.message);
        extra.end_object();
    }
    extra.end_array().end_object();
    auto const& first = violations.front();
    return Error{Code::invalid_arguments,
                 "The arguments do not fit the schema of " + call.tool + ": " + first.pointer +
                     " " + first.message,
                 extra.json(), 0};
}

void send_call(Api& api, ExchangePtr const& x, SessionId session, TaskAsk ask, Asked const& call) {
    api.services().runner.command(
        session, std::move(ask), x->asker(), [x, session, call](Result<Answer> const& answer) {
            if (!answer) return x->fail(answer.error());
            bool const again = answer->outcome == Answer::Outcome::duplicate;
            CallAnswer const out{{session, answer->task}, call.tool, call.arguments, again};
            x->json(again ? 200 : 202, object_text(out));
        });
}

void start_call(Api& api, ExchangePtr const& x, State const& state, Asked const& call) {
    auto const calls = api.services().catalogue.calls(state.agent);
    if (!calls)
        return x->fail(
            {Code::agent_unavailable, "There is no agent '" + state.agent + "' any more."});
    if (std::ranges::find(calls->tools, call.tool) == calls->tools.end()) {
        return x->fail(bad_value("/tool", "the agent '" + state.agent + "' has no tool '" +
                                              call.tool + "' (GET /api/tools)"));
    }
    struct Read {
        std::optional<Error> error;
        TaskAsk ask;
    };
    auto const read = std::make_shared<Read>();
    read->ask.agent = calls->agent;
    auto const schema = api.services().catalogue.tool_schema(call.tool);
    api.run_on_body_thread(
        x,
        [read, schema, call] {
            read->error = refuse_arguments(schema, call);
            read->ask.what = TaskAsk::What::start;
            read->ask.description = description_of(call);
            read->ask.parts = prompt_parts(call);
            read->ask.mark = mark_of(call);
        },
        [&api, x, read, id = state.id, call] {
            if (read->error) return x->fail(*read->error);
            send_call(api, x, id, std::move(read->ask), call);
        });
}

Result<Asked> read_call(ExchangePtr const& x) {
    Body body(json::View(x->body), call_request);
    if (body.error()) return std::unexpected(*body.error());
    Asked call{body.string_or_empty("tool"), {}, body.string_or_empty("key")};
    auto const arguments = body.object("arguments");
    call.arguments = arguments ? json::compact(arguments->copy()) : Json::trusted("{}");
    return call;
}

}  // namespace

void post_call(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    read_aside<Asked>(
        api, x, [x] { return read_call(x); },
        [&api, x, id = *id](Asked call) {
            api.services().runner.read_lane(
                id, [&api, x, call = std::move(call)](Result<std::shared_ptr<runner::Lane>> lane) {
                    if (!lane) return x->fail(lane.error());
                    start_call(api, x, (*lane)->state(), call);
                });
        });
}

}  // namespace dormouse::http
