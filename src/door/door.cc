#include "door/door.h"

#include "door/read_pending.h"

#include "json/json.h"
#include "json/schema.h"
#include "session/limits.h"
#include "wire/admit.h"

namespace dormouse::door {

using namespace dormouse::session;

namespace {

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

// The call for which the command brings a result that is to be judged; nullptr: none. A person who
// says that an attempt in doubt succeeded may say what it gave.
Call const* judged_call(State const& state, Submit const& command) {
    Call const* const call = open_pause(state, command.pending);
    if (!call || command.what.output.size() > limits::artifact_bytes_max) return nullptr;
    bool const question = call->question && call->question->pending == command.pending;
    bool const told = command.what.kind == SubmissionKind::decision &&
                      command.what.action == "succeeded" && !command.what.output.is_null();
    bool const result = command.what.kind == SubmissionKind::result;
    return (question ? told : result) ? call : nullptr;
}

// What a result is measured by; null: nothing. The schema stands with the pause; an early result,
// or one of a call in doubt, is measured by what the tool declares.
Json result_schema(port::Catalogue const& catalogue, State const& state, Submit const& command) {
    Call const* const call = judged_call(state, command);
    if (!call) return {};
    Json schema = call->pause ? call->pause->terms.schema : Json();
    bool const undeclared = !call->pause || call->in_doubt;
    if (undeclared && schema.is_null())
        schema = catalogue.result_schema(call->spec.tool).value_or(Json());
    return schema;
}

// What edited arguments are measured by; null: nothing.
Json arguments_schema(port::Catalogue const& catalogue, State const& state, Submit const& command) {
    Call const* const call = open_pause(state, command.pending);
    bool const edited = call && call->spec.ask == 0 && !command.what.arguments.is_null();
    return edited ? catalogue.tool_schema(call->spec.tool).value_or(Json()) : Json();
}

// Where `value` does not fit; null: it does. nullopt: that takes more steps than these.
std::optional<Json> misfits(std::size_t steps, Json const& schema, Json const& value) {
    if (schema.is_null()) return Json();
    auto const violations = json::violations_within(steps, schema, value);
    if (!violations) return std::nullopt;
    return violations->empty() ? Json() : Json::trusted(violations_json(*violations));
}

// Who asked must be there to hear the answer. What is closed is left to the core, which has its
// receipt.
std::optional<Error> misplaced(port::Catalogue const& catalogue, State const& state,
                               Submit const& command) {
    Call const* const call = open_pause(state, command.pending);
    // The agent's program asked, and its tools are its own.
    if (!call || call->spec.ask != 0) return std::nullopt;
    bool const by_gate = call->pause && call->pause->by_gate;
    auto const& gates = call->spec.terms.gates;
    if (by_gate && call->gates_passed < gates.size() &&
        !catalogue.has_gate(gates[call->gates_passed])) {
        return Error{Code::reentry_gone, "The gate '" + gates[call->gates_passed] +
                                             "' is not there any more; the call goes on waiting."};
    }
    if (!catalogue.tool_schema(call->spec.tool)) {
        return Error{Code::reentry_gone,
                     "The tool is not there any more; the call goes on waiting."};
    }
    return std::nullopt;
}

// A result that its own tool would go on with.
std::optional<Error> nobody_there(port::Catalogue const& catalogue, State const& state,
                                  Submit const& command) {
    Call const* const call = open_pause(state, command.pending);
    bool const goes_on = call && call->pause && !call->pause->by_gate &&
                         call->pending == command.pending &&
                         call->pause->terms.continuation == Continuation::reentry;
    if (!goes_on || catalogue.tool_schema(call->spec.tool)) return std::nullopt;
    return Error{Code::reentry_gone, "The tool is not there any more; the call goes on waiting."};
}

}  // namespace

Submission result(Json output, std::string title, Json metadata) {
    Submission out;
    out.digest = sha256(json::canonical_object("output", output));
    out.output = std::move(output);
    out.title = std::move(title);
    out.metadata = std::move(metadata);
    return out;
}

Submission error(std::string text) {
    Submission out;
    out.kind = SubmissionKind::error;
    out.digest = sha256(json::canonical_object("error", Json::trusted(json::quote(text))));
    out.error = std::move(text);
    return out;
}

Submission decision(bool approved, std::string reason, Json arguments, Json content) {
    Submission out;
    out.kind = SubmissionKind::decision;
    out.approved = approved;
    out.reason = std::move(reason);
    json::Writer digested;
    digested.begin_object().member("approved", approved);
    if (!arguments.is_null()) digested.member("arguments", arguments);
    if (!content.is_null()) digested.member("content", content);
    out.digest = sha256(json::canonical_object("decision", digested.end_object().json()));
    json::View const said(content);
    out.action = said["action"].string_or("");
    if (json::View const output = said["output"]; output.exists()) out.output = output.copy();
    if (!arguments.is_null()) out.arguments_digest = sha256(json::canonical(arguments));
    out.arguments = std::move(arguments);
    out.content = std::move(content);
    return out;
}

std::optional<Sha256> parse_digest(std::string_view text) {
    constexpr std::string_view prefix = "sha256:";
    if (text.size() != prefix.size() + 64 || !text.starts_with(prefix)) return std::nullopt;
    Sha256 digest{};
    for (std::size_t i = 0; i < digest.size(); ++i) {
        unsigned byte = 0;
        for (char const c : text.substr(prefix.size() + 2 * i, 2)) {
            bool const digit = c >= '0' && c <= '9';
            if (!digit && (c < 'a' || c > 'f')) return std::nullopt;
            byte = byte * 16 + static_cast<unsigned>(digit ? c - '0' : c - 'a' + 10);
        }
        digest[i] = static_cast<std::uint8_t>(byte);
    }
    return digest;
}

Prompt prompt(std::string_view text) {
    Prompt out;
    json::Writer parts;
    parts.begin_array().begin_object().member("type", "text").member("text", text);
    out.parts = parts.end_object().end_array().json();
    out.text_bytes = text.size();
    out.answer_output = Json::trusted(json::quote(text));
    out.answer_digest = sha256(json::canonical_object("output", out.answer_output));
    return out;
}

void read_history(runner::Runner& runner, SessionId session,
                  port::Fn<void(Result<Snapshot>)> done) {
    read_history_from(runner, session, 1, std::move(done));
}

namespace {

// Whose code is to judge a result that fits its schema; empty: nobody's.
std::string validator_of(port::Catalogue const& catalogue, State const& state,
                         Submit const& command) {
    Call const* const call = judged_call(state, command);
    if (!call || !command.invalid.is_null()) return {};
    bool const goes_on =
        call->pause && !call->in_doubt &&
        (call->pause->by_gate || call->pause->terms.continuation != Continuation::tool_response);
    return !goes_on && catalogue.has_validator(call->spec.tool) ? call->spec.tool : "";
}

Json refused(std::string const& why) {
    json::Writer out;
    out.begin_array().begin_object().member("pointer", "").member("message", why);
    return out.end_object().end_array().json();
}

// What the core knows to refuse it refuses; of what a person tells it knows no schema.
void offer(runner::Runner& runner, Submit command, runner::Asker asker,
           runner::Runner::Reply reply) {
    bool const told = command.what.kind == SubmissionKind::decision;
    if (told && !command.invalid.is_null()) {
        return reply(fail(
            Code::invalid_result, "What it gave does not fit the tool; the call goes on waiting.",
            Json::trusted("{\"errors\":" + std::string(command.invalid.text()) + "}")));
    }
    SessionId const session = command.pending.session;
    runner.command(session, std::move(command), std::move(asker), std::move(reply));
}

// An outcome on its way to its session.
struct Offer {
    Context context;
    Submit command;
    runner::Asker asker;
    runner::Runner::Reply reply;
    // The schemas that it was measured by beside the loop, and what came of it.
    bool measured = false;
    Json result_schema = {};
    Json arguments_schema = {};
    Json result_misfits = {};
    Json arguments_misfits = {};

    // False: it takes more steps than these.
    [[nodiscard]] bool measure(std::size_t steps) {
        auto of_result = misfits(steps, result_schema, command.what.output);
        auto of_arguments = misfits(steps, arguments_schema, command.what.arguments);
        measured = of_result && of_arguments;
        if (!measured) return false;
        result_misfits = *std::move(of_result);
        arguments_misfits = *std::move(of_arguments);
        return true;
    }
};
using OfferPtr = std::shared_ptr<Offer>;

void consider(OfferPtr const& offer);

// The session goes on meanwhile; then its state is looked at again.
void measure_aside(OfferPtr const& at) {
    at->context.workers->run(
        [at](std::stop_token const&) { (void)at->measure(json::steps_max); },
        [at](bool ran) {
            if (ran) return consider(at);
            at->reply(fail(Code::overloaded, "Too many large values wait to be checked."));
        });
}

// True: what it is measured by now has been told already, or is at once.
bool is_measured(OfferPtr const& at, State const& state) {
    port::Catalogue const& catalogue = at->context.catalogue;
    bool const decision = at->command.what.kind == SubmissionKind::decision;
    Json result = result_schema(catalogue, state, at->command);
    Json arguments = decision ? arguments_schema(catalogue, state, at->command) : Json();
    bool const same = at->measured && at->result_schema.text() == result.text() &&
                      at->arguments_schema.text() == arguments.text();
    if (same) return true;
    auto const bytes = [](Json const& schema, Json const& value) {
        return schema.is_null() ? 0 : schema.size() + value.size();
    };
    bool const large =
        bytes(result, at->command.what.output) + bytes(arguments, at->command.what.arguments) >=
        wire::large_bytes;
    at->result_schema = std::move(result);
    at->arguments_schema = std::move(arguments);
    if (at->context.workers == nullptr) return at->measure(json::steps_max);
    return !large && at->measure(json::steps_soon);
}

std::optional<Error> refusal(Offer const& at, State const& state) {
    port::Catalogue const& catalogue = at.context.catalogue;
    if (at.command.what.kind == SubmissionKind::result)
        return nobody_there(catalogue, state, at.command);
    if (at.command.what.kind != SubmissionKind::decision) return std::nullopt;
    if (auto error = misplaced(catalogue, state, at.command)) return error;
    if (at.arguments_misfits.is_null()) return std::nullopt;
    return Error{Code::invalid_arguments,
                 "The edited arguments do not fit the tool; the call goes on waiting.",
                 Json::trusted("{\"errors\":" + std::string(at.arguments_misfits.text()) + "}")};
}

// From within a look: nothing comes between the check and the command.
void offer_measured(OfferPtr const& at, State const& state) {
    if (auto error = refusal(*at, state)) return at->reply(std::unexpected(std::move(*error)));
    at->command.invalid = at->result_misfits;
    std::string const tool = validator_of(at->context.catalogue, state, at->command);
    if (tool.empty()) {
        return offer(at->context.runner, std::move(at->command), std::move(at->asker),
                     std::move(at->reply));
    }
    Call const& call = *open_pause(state, at->command.pending);
    port::Offered offered{call.pending, tool, call.spec.input, at->command.what.output};
    // What is judged meanwhile by another outcome is found out by the core.
    at->context.catalogue.validate(std::move(offered), [at](port::Judged why) {
        if (!why) return at->reply(std::unexpected(std::move(why.error())));
        if (*why) at->command.invalid = refused(**why);
        offer(at->context.runner, std::move(at->command), std::move(at->asker),
              std::move(at->reply));
    });
}

void consider(OfferPtr const& at) {
    at->context.runner.look(at->command.pending.session,
                            [at](Result<std::shared_ptr<runner::Lane>> lane) {
                                if (!lane)
                                    return at->reply(std::unexpected(std::move(lane.error())));
                                if (!is_measured(at, (*lane)->state())) return measure_aside(at);
                                offer_measured(at, (*lane)->state());
                            });
}

}  // namespace

void submit(Context context, Submit command, runner::Asker asker, runner::Runner::Reply reply) {
    consider(std::make_shared<Offer>(
        Offer{context, std::move(command), std::move(asker), std::move(reply)}));
}

}  // namespace dormouse::door
