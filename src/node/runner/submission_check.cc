#include "runner/submission_check.h"

#include "base/check.h"
#include "base/trace.h"
#include "json/json.h"
#include "json/schema/schema.h"
#include "session/limits.h"
#include "wire/admit.h"
#include "wire/journal/spill.h"

#include <utility>

namespace dormouse::runner {

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

// Returns where `value` does not match the schema; null: it matches. nullopt: the check takes more
// than `steps`.
std::optional<Json> violations_of(std::size_t steps, Json const& schema, Json const& value) {
    if (schema.is_null()) return Json();
    auto const violations = json::violations_within(steps, schema, value);
    if (!violations) return std::nullopt;
    return violations->empty() ? Json() : Json::trusted(violations_json(*violations));
}

// Returns true if the submission has a result for the call. A person who says that an attempt in
// doubt succeeded may give its result.
bool brings_result(Call const& call, Submit const& submit) {
    bool const question = call.question && call.question->pending == submit.pending;
    Submission const& what = submit.what;
    if (!question) return what.kind == SubmissionKind::result;
    return what.kind == SubmissionKind::decision && what.action == "succeeded" &&
           !what.output.is_null();
}

std::optional<Error> tool_gone(port::ToolCatalogue const& tools, Call const& call) {
    if (tools.tool_schema(call.spec.tool)) return std::nullopt;
    return Error{Code::reentry_gone, "The tool '" + call.spec.tool +
                                         "' is not configured any more; the call continues to "
                                         "wait."};
}

// A decision continues the gate or tool that asked for it. An external agent's own tools are not
// configured here, nor are those of clients.
std::optional<Error> decision_misplaced(port::ToolCatalogue const& tools, Call const& call,
                                        Submit const& submit) {
    if (call.spec.ask != 0) return std::nullopt;
    bool const ends = call.pause && call.pending == submit.pending &&
                      call.pause->terms.continuation != Continuation::reentry;
    if (ends) return std::nullopt;
    bool const by_gate = call.pause && call.pause->by_gate;
    auto const& gates = call.spec.terms.gates;
    if (by_gate && call.gates_passed < gates.size() && !tools.has_gate(gates[call.gates_passed])) {
        return Error{Code::reentry_gone,
                     "The gate '" + gates[call.gates_passed] +
                         "' is not configured any more; the call continues to wait."};
    }
    return tool_gone(tools, call);
}

// A result that the call's own tool continues with.
std::optional<Error> result_misplaced(port::ToolCatalogue const& tools, Call const& call,
                                      Submit const& submit) {
    bool const continues = call.pause && !call.pause->by_gate && call.pending == submit.pending &&
                           call.pause->terms.continuation == Continuation::reentry;
    return continues ? tool_gone(tools, call) : std::nullopt;
}

std::optional<Error> misplaced(port::ToolCatalogue const& tools, Call const& call,
                               Submit const& submit) {
    switch (submit.what.kind) {
        case SubmissionKind::decision: return decision_misplaced(tools, call, submit);
        case SubmissionKind::result: return result_misplaced(tools, call, submit);
        default: return std::nullopt;
    }
}

Json refused_by_validator(std::string const& why) {
    json::Writer out;
    out.begin_array().begin_object().member("pointer", "").member("message", why);
    return out.end_object().end_array().json();
}

Checked of_validator(port::ValidationResult const& result) {
    if (!result) return {{}, result.error()};
    if (*result) return {refused_by_validator(**result), {}};
    return {};
}

Error bad_arguments(Json const& violations) {
    return {Code::invalid_arguments,
            "The edited arguments do not fit the tool; the call continues to wait.",
            json::Writer().begin_object().member("errors", violations).end_object().json()};
}

}  // namespace

std::optional<Checked> SubmissionCheck::find(Call const& call, Submit const& submit) {
    trace();
    CHECK(call.pending == submit.pending ||
          (call.question && call.question->pending == submit.pending));
    if (services_.tools == nullptr) return Checked{};
    if (failed_) return Checked{{}, failed_};
    if (auto error = misplaced(*services_.tools, call, submit)) return Checked{{}, error};
    if (Schemas now = schemas(call, submit); !is_measured_by(now)) {
        schemas_ = std::move(now);
        measured_ = false;
        if (!measure_soon(submit)) {
            lacks_ = Lacks::measuring;
            return std::nullopt;
        }
    }
    if (!arguments_violations_.is_null()) return Checked{{}, bad_arguments(arguments_violations_)};
    if (!result_violations_.is_null()) return Checked{result_violations_, {}};
    std::string tool = validator(call, submit);
    if (tool.empty()) return Checked{};
    if (validated_ && tool_ == tool) return of_validator(*validated_);
    tool_ = std::move(tool);
    tool_input_ = call.spec.input;
    lacks_ = Lacks::validating;
    return std::nullopt;
}

void SubmissionCheck::work(std::shared_ptr<Submit const> const& submit, port::Fn<void()> done) {
    CHECK(lacks_ != Lacks::nothing);
    if (std::exchange(lacks_, Lacks::nothing) == Lacks::validating)
        return validate(submit, std::move(done));
    CHECK(services_.workers);
    services_.workers->run(
        [self = shared_from_this(), submit](std::stop_token const&) {
            (void)self->measure(json::steps_max, *submit);
        },
        [self = shared_from_this(), submit, done = std::move(done)](bool ran) mutable {
            if (!ran)
                self->failed_ =
                    Error{Code::overloaded, "Too many large values wait to be checked."};
            done();
        });
}

void SubmissionCheck::validate(std::shared_ptr<Submit const> const& submit, port::Fn<void()> done) {
    CHECK(services_.tools && !tool_.empty());
    port::OfferedResult offered{submit->pending, tool_, tool_input_, wire::whole_output(*submit)};
    services_.tools->validate(
        std::move(offered),
        [self = shared_from_this(), done = std::move(done)](port::ValidationResult result) mutable {
            self->validated_ = std::move(result);
            done();
        });
}

// Uses the pause's schema. An early result, or one of a call in doubt, uses the schema that the
// tool declares.
SubmissionCheck::Schemas SubmissionCheck::schemas(Call const& call, Submit const& submit) const {
    CHECK(services_.tools);
    Schemas out;
    if (brings_result(call, submit)) {
        if (call.pause) out.result = call.pause->terms.schema;
        bool const undeclared = !call.pause || call.in_doubt;
        if (undeclared && out.result.is_null())
            out.result = services_.tools->result_schema(call.spec.tool).value_or(Json());
    }
    bool const edited = submit.what.kind == SubmissionKind::decision && call.spec.ask == 0 &&
                        !submit.what.arguments.is_null();
    if (edited) out.arguments = services_.tools->tool_schema(call.spec.tool).value_or(Json());
    return out;
}

bool SubmissionCheck::is_measured_by(Schemas const& now) const {
    return measured_ && schemas_.result.text() == now.result.text() &&
           schemas_.arguments.text() == now.arguments.text();
}

// False: the check takes more than `steps`.
bool SubmissionCheck::measure(std::size_t steps, Submit const& submit) {
    CHECK(!measured_);
    Json const output = schemas_.result.is_null() ? Json() : wire::whole_output(submit);
    auto of_result = violations_of(steps, schemas_.result, output);
    auto of_arguments = violations_of(steps, schemas_.arguments, submit.what.arguments);
    measured_ = of_result && of_arguments;
    if (!measured_) return false;
    result_violations_ = *std::move(of_result);
    arguments_violations_ = *std::move(of_arguments);
    return true;
}

bool SubmissionCheck::measure_soon(Submit const& submit) {
    if (services_.workers == nullptr) return measure(json::steps_max, submit);
    auto const bytes = [](Json const& schema, std::size_t value) {
        return schema.is_null() ? 0 : schema.size() + value;
    };
    std::size_t const together = bytes(schemas_.result, wire::output_bytes(submit)) +
                                 bytes(schemas_.arguments, submit.what.arguments.size());
    return together < wire::large_bytes && measure(json::steps_soon, submit);
}

// The tool whose validator checks a result that matches its schema; empty: none. If the call
// continues in its tool, the tool checks the result itself.
std::string SubmissionCheck::validator(Call const& call, Submit const& submit) const {
    CHECK(services_.tools);
    if (!brings_result(call, submit)) return {};
    bool const continues =
        call.pause && !call.in_doubt &&
        (call.pause->by_gate || call.pause->terms.continuation != Continuation::tool_response);
    return !continues && services_.tools->has_validator(call.spec.tool) ? call.spec.tool : "";
}

}  // namespace dormouse::runner
