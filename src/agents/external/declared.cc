#include "external/declared.h"

#include "base/text/cut.h"
#include "base/text/utf8.h"
#include "base/url.h"
#include "json/json.h"
#include "session/limits.h"

namespace dormouse::external {

using namespace dormouse::session;

namespace {

// A tool enforces its own time limit; the core's is longer, for a tool that fails to.
constexpr Duration slack{10'000};
constexpr std::size_t text_max = 4'096;

std::unexpected<Error> wrong(std::string_view member, std::string_view what) {
    return fail(Code::bad_value, std::string(member) + " " + std::string(what));
}

// Refuses unknown members: a misspelt one would silently lose the job that it names.
Result<void> check_members(json::View answer) {
    std::string unknown;
    answer.members([&](std::string_view key, json::View) {
        bool const known = key == "externalRef" || key == "estimatedDuration" ||
                           key == "placeholder" || key == "message" || key == "webhookURL";
        if (!known && unknown.empty()) unknown = key;
    });
    if (unknown.empty()) return {};
    return wrong(unknown,
                 "is not known; there are externalRef, estimatedDuration, placeholder, message "
                 "and webhookURL");
}

}  // namespace

agent::Tool declare(Declared const& declared) {
    agent::Tool tool;
    tool.name = declared.name;
    tool.description = declared.description;
    tool.schema = declared.input_schema;
    tool.result_schema = declared.result_schema;
    tool.terms.crash = declared.crash;
    if (declared.later) {
        tool.terms.may_pause = {PauseReason::tool_result};
        tool.terms.webhook_url = declared.webhook_url;
    }
    tool.terms.pause_timeout = declared.timeout;
    tool.terms.time_limit = declared.time_limit + slack;
    return tool;
}

agent::ToolResult checked(Declared const& declared, agent::Done done) {
    if (declared.result_schema.is_null()) return done;
    auto const violations = json::violations(declared.result_schema, done.output);
    if (violations.empty()) return done;
    std::string text = "the tool's output does not fit its result schema:";
    for (json::Violation const& one : violations)
        text += " " + one.pointer + " " + one.message + ";";
    text.pop_back();
    return agent::Failed{head(text, text_max)};
}

Json output_of(std::string_view text) {
    if (auto json = json::check(text)) return std::move(*json);
    return Json::trusted(json::quote(trimmed(text)));
}

Result<PauseTerms> read_pause(Declared const& declared, json::View answer) {
    PauseTerms pause;
    pause.schema = declared.result_schema;
    add_declared(pause, declared);
    if (answer.is_null()) return pause;
    if (answer.kind() != json::Kind::object) return wrong("it", "must be an object");
    if (auto known = check_members(answer); !known)
        return std::unexpected(std::move(known.error()));
    for (auto const& [name, text] :
         {std::pair("externalRef", &pause.external_ref), std::pair("message", &pause.message),
          std::pair("webhookURL", &pause.webhook_url)}) {
        json::View const member = answer[name];
        if (!member.exists() || member.is_null()) continue;
        auto value = member.string();
        if (!value || value->size() > text_max)
            return wrong(name, "must be a string of at most 4 KiB");
        *text = std::move(*value);
    }
    if (!pause.webhook_url.empty()) {
        if (auto const why = wrong_url(pause.webhook_url); !why.empty())
            return wrong("webhookURL", why);
    }
    if (json::View const time = answer["estimatedDuration"]; time.exists() && !time.is_null()) {
        auto const ms = time.integer();
        if (!ms || *ms < 0) return wrong("estimatedDuration", "must be a number of milliseconds");
        pause.estimated = Duration(*ms);
    }
    if (json::View const shown = answer["placeholder"]; shown.exists()) {
        pause.placeholder = json::compact(shown.copy());
        if (pause.placeholder.size() > limits::prompt_bytes_max)
            return wrong("placeholder", "must be at most 1 MiB");
    }
    return pause;
}

std::string tail(std::string_view text, std::size_t bytes) {
    text = trimmed(text);
    if (text.size() <= bytes) return std::string(text);
    return "…" + std::string(tail_utf8(text, bytes));
}

std::string head(std::string_view text, std::size_t bytes) {
    return cut_with_mark(trimmed(text), bytes);
}

void add_declared(PauseTerms& pause, Declared const& declared) {
    pause.estimated = declared.estimated;
    pause.warn_before = declared.warn_before;
    pause.webhook_url = declared.webhook_url;
    pause.webhook_secret = declared.webhook_secret;
}

}  // namespace dormouse::external
