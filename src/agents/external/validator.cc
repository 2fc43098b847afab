#include "external/validator.h"

#include "base/check.h"
#include "json/json.h"

#include <algorithm>
#include <utility>

namespace dormouse::external {

using port::ProcessEnd;

namespace {

constexpr std::size_t reason_lines = 10;
constexpr std::size_t reason_bytes = 1'000;
constexpr std::size_t validator_output_max = std::size_t{64} << 10;
constexpr std::int64_t again_after_ms = 5'000;

struct CheckResult {
    Validators::ValidationStatus status = Validators::ValidationStatus::failed;
    std::string reason = {};  // why it is invalid, for the sender of the result
    std::string why = {};     // of a failure, for the sender too
    std::string more = {};    // details for operators only
};

std::string seconds_text(Duration time) {
    std::string const ms = std::to_string(time.count() % 1'000);
    std::string const rest = "." + std::string(3 - ms.size(), '0') + ms;
    return std::to_string(time.count() / 1'000) + (time.count() % 1'000 == 0 ? "" : rest) + " s";
}

// Replaces invalid UTF-8, because the reason becomes part of JSON.
std::string reason_of(std::string_view output) {
    std::size_t end = 0;
    for (std::size_t line = 0; line < reason_lines && end != output.npos; ++line)
        end = output.find('\n', end == 0 ? 0 : end + 1);
    std::string const first = head(output.substr(0, end), reason_bytes);
    return json::View(Json::trusted(json::quote(first))).string_or("");
}

// A program that crashes often exits with 1 as well (Python, sh), but then it writes to standard
// error and not to standard output.
bool is_crash(ProcessEnd const& end) {
    return head(end.output, 1).empty() && !head(end.error, 1).empty();
}

CheckResult exited(ProcessEnd const& end) {
    using ValidationStatus = Validators::ValidationStatus;
    if (end.status == exit_valid) return {ValidationStatus::valid};
    if (end.status != exit_invalid)
        return {ValidationStatus::failed,
                {},
                "it ended with exit status " + std::to_string(end.status)};
    if (is_crash(end))
        return {ValidationStatus::failed,
                {},
                "it ended with exit status 1 and wrote only to standard error"};
    std::string reason = reason_of(end.output);
    if (reason.empty()) reason = "the tool's validator rejected it without a reason";
    return {ValidationStatus::invalid, std::move(reason)};
}

CheckResult decision_of(Validator const& validator, ProcessEnd const& end) {
    using ValidationStatus = Validators::ValidationStatus;
    switch (end.how) {
        case ProcessEnd::How::exited: break;
        case ProcessEnd::How::not_started:
            return {ValidationStatus::failed, {}, "it cannot be started", end.error};
        case ProcessEnd::How::flooded:
            return {ValidationStatus::failed, {}, "it exceeded its output limit of 64 KiB"};
        case ProcessEnd::How::timed_out:
            return {ValidationStatus::failed,
                    {},
                    "it took longer than its time limit of " + seconds_text(validator.time_limit)};
        case ProcessEnd::How::signalled:
            return {ValidationStatus::failed,
                    {},
                    "it was ended by signal " + std::to_string(end.status)};
    }
    return exited(end);
}

port::ValidationResult validated(CheckResult result) {
    switch (result.status) {
        case Validators::ValidationStatus::valid: return std::nullopt;
        case Validators::ValidationStatus::invalid: return std::move(result.reason);
        case Validators::ValidationStatus::failed:
        case Validators::ValidationStatus::rejected: break;
    }
    return std::unexpected(
        Error{Code::validator_unavailable,
              "The validator of the tool failed: " + result.why + "; the call still waits.",
              {},
              again_after_ms});
}

std::string input_of(port::OfferedResult const& what) {
    json::Writer out;
    out.begin_object().member("tool", what.tool).member("pendingID", what.pending.text());
    out.member("sessionID", what.pending.session.text());
    out.member("callID", "call_" + std::to_string(what.pending.call));
    out.member("arguments", what.arguments).member("output", what.output);
    return out.end_object().take() + "\n";
}

std::vector<std::string> environment_of(Validator const& validator, PendingId const& pending,
                                        std::string const& tool) {
    std::vector<std::string> out = validator.environment;
    out.push_back("DORMOUSE_PENDING_ID=" + pending.text());
    out.push_back("DORMOUSE_SESSION_ID=" + pending.session.text());
    out.push_back("DORMOUSE_CALL_ID=call_" + std::to_string(pending.call));
    out.push_back("DORMOUSE_TOOL=" + tool);
    return out;
}

}  // namespace

Validators::~Validators() {
    for (auto const& [number, question] : running_) processes_.stop(question.process);
}

agent::StopTool Validators::ask(std::shared_ptr<Validator const> validator,
                                port::OfferedResult what,
                                port::Fn<void(port::ValidationResult)> then) {
    Question question;
    question.number = ++last_;
    question.validator = std::move(validator);
    question.input = input_of(what);
    question.pending = what.pending;
    question.tool = std::move(what.tool);
    question.since = clock_.monotonic();
    question.then = std::move(then);
    Number const number = question.number;
    if (running_.size() < limits_.at_once) {
        start(std::move(question));
    } else if (waiting_.size() >= limits_.waiting ||
               waiting_bytes_ + question.input.size() > limits_.waiting_bytes) {
        refuse(std::move(question), "too many results wait already");
        return {};
    } else {
        waiting_bytes_ += question.input.size();
        waiting_.push_back(std::move(question));
    }
    return scope_.guard([this, number] { drop(number); });
}

void Validators::start(Question question) {
    Number const number = question.number;
    Validator const& validator = *question.validator;
    port::ProcessSpec spec;
    spec.argv = validator.argv;
    spec.cwd = validator.cwd;
    spec.environment = environment_of(validator, question.pending, question.tool);
    spec.input = std::exchange(question.input, {});
    spec.time_limit = validator.time_limit;
    spec.output_max = validator_output_max;
    auto const [place, is_new] = running_.emplace(number, std::move(question));
    CHECK(is_new);
    place->second.process = processes_.start(
        std::move(spec),
        scope_.guard([this, number](ProcessEnd const& end) { ended(number, end); }));
}

void Validators::ended(Number number, ProcessEnd const& end) {
    auto node = running_.extract(number);
    if (node.empty()) return;
    Question question = std::move(node.mapped());
    CheckResult result = decision_of(*question.validator, end);
    notify(question, result.status, result.why + (result.more.empty() ? "" : ": ") + result.more);
    next();
    question.then(validated(std::move(result)));
}

void Validators::next() {
    while (!waiting_.empty() && running_.size() < limits_.at_once) {
        Question question = std::move(waiting_.front());
        waiting_.pop_front();
        waiting_bytes_ -= question.input.size();
        bool const late = clock_.monotonic() - question.since > limits_.patience;
        if (!late) {
            start(std::move(question));
        } else {
            refuse(std::move(question), "it waited too long for its turn");
        }
    }
}

void Validators::refuse(Question question, std::string const& why) {
    notify(question, ValidationStatus::rejected, why);
    question.then(std::unexpected(
        Error{Code::overloaded,
              "Too many results wait for the validators of their tools; the call still waits.",
              {},
              again_after_ms}));
}

void Validators::drop(Number number) {
    if (auto const node = running_.extract(number); !node.empty()) {
        processes_.stop(node.mapped().process);
        return next();
    }
    auto const at = std::ranges::find(waiting_, number, &Question::number);
    if (at == waiting_.end()) return;
    waiting_bytes_ -= at->input.size();
    waiting_.erase(at);
}

// The values of the label of the metric dormouse_validations_total.
std::string_view text(Validators::ValidationStatus status) {
    switch (status) {
        case Validators::ValidationStatus::valid: return "fits";
        case Validators::ValidationStatus::invalid: return "misfit";
        case Validators::ValidationStatus::failed: return "failed";
        case Validators::ValidationStatus::rejected: return "refused";
    }
    return "failed";
}

namespace {

using Check = std::function<agent::StopTool(port::OfferedResult what,
                                            port::Fn<void(port::ValidationResult)> then)>;

// The work to stop: first the attempt, then the check of its result.
struct Stage {
    agent::StopTool stop = {};
};

agent::ToolResult unchecked(agent::ToolResult const* /*which*/, std::string const& why) {
    return agent::Failed{"the tool has ended, and its output could not be checked: " + why};
}

// A poll has no effects, so it is repeated.
agent::PollResult unchecked(agent::PollResult const* /*which*/, std::string const& why) {
    return agent::NotYet{"its output could not be checked: " + why};
}

template <class Outcome>
Outcome checked_outcome(agent::Done done, port::ValidationResult const& validated) {
    if (!validated)
        return unchecked(static_cast<Outcome const*>(nullptr), validated.error().detail);
    if (*validated) return agent::Failed{"the tool's validator refused its output: " + **validated};
    return Outcome(std::move(done));
}

// Wraps `begin`: a result is passed on only after it was checked.
template <class Call, class Outcome, class Begin>
std::function<agent::StopTool(Call, port::Fn<void(Outcome)>)> checking(Begin begin, Check check) {
    return [begin = std::move(begin), check = std::move(check)](
               Call call, port::Fn<void(Outcome)> done) -> agent::StopTool {
        auto const stage = std::make_shared<Stage>();
        port::OfferedResult what{call.pending, call.tool, call.input, {}};
        auto ended = [stage, check, what = std::move(what),
                      done = std::move(done)](Outcome outcome) mutable {
            auto* const output = std::get_if<agent::Done>(&outcome);
            if (!output) return done(std::move(outcome));
            what.output = output->output;
            auto then = [output = std::move(*output),
                         done = std::move(done)](port::ValidationResult const& validated) mutable {
                done(checked_outcome<Outcome>(std::move(output), validated));
            };
            stage->stop = check(std::move(what), std::move(then));
        };
        agent::StopTool attempt = begin(std::move(call), std::move(ended));
        if (!stage->stop) stage->stop = std::move(attempt);
        return [stage] {
            if (stage->stop) stage->stop();
        };
    };
}

}  // namespace

agent::Tool with_validator(agent::Tool tool, Validator validator, Validators& validators) {
    auto const shared = std::make_shared<Validator const>(std::move(validator));
    tool.check = [shared, &validators](port::OfferedResult what,
                                       port::Fn<void(port::ValidationResult)> then) {
        return validators.ask(shared, std::move(what), std::move(then));
    };
    if (tool.start)
        tool.start =
            checking<agent::ToolCall, agent::ToolResult>(std::move(tool.start), tool.check);
    if (tool.poll)
        tool.poll = checking<agent::PollCall, agent::PollResult>(std::move(tool.poll), tool.check);
    // The core's time limit must be longer than attempt and check together.
    tool.terms.time_limit += validators.longest(*shared);
    return tool;
}

}  // namespace dormouse::external
