#include "external/http_answer.h"

#include "base/check.h"
#include "base/text/text.h"
#include "base/url.h"
#include "json/json.h"

#include <algorithm>

namespace dormouse::external {

using namespace dormouse::session;
using Kind = port::HttpFailure::Kind;

namespace {

constexpr std::size_t describe_body = 2'000;

std::string status_text(HttpAnswer const& answer) {
    return "the service answered " + std::to_string(answer.head.status);
}

// Includes the service's error text, because the model can read it.
std::string error_text(HttpAnswer const& answer) {
    std::string const text = valid_utf8(answer.body) ? head(answer.body, describe_body) : "";
    return status_text(answer) + (text.empty() ? "" : ": " + text);
}

bool says_json(port::HttpHead const& head) {
    std::string type = lower_case(head.header("content-type").value_or(""));
    type = type.substr(0, type.find(';'));
    while (type.ends_with(' ')) type.pop_back();
    return type == "application/json" || type.ends_with("+json");
}

// Accepts JSON with any content type, and text unless its content type is JSON. Other bytes are an
// error, because a model could not read them.
Result<Json> content_of(HttpAnswer const& answer) {
    if (answer.body.empty()) return Json::trusted("\"\"");
    auto json = json::check(answer.body);
    if (json || (!says_json(answer.head) && valid_utf8(answer.body))) return output_of(answer.body);
    if (says_json(answer.head))
        return fail(Code::bad_json, status_text(answer) +
                                        " with a JSON content type and a body that is not JSON: " +
                                        json.error().detail);
    return fail(Code::bad_value,
                status_text(answer) + " with a body that is neither JSON nor text");
}

// Reads {title?, output, metadata?} without other members; any other value is the output itself.
agent::Done done_of(Json content) {
    json::View const view(content);
    std::size_t known = 0;
    for (std::string_view const name : {"title", "output", "metadata"})
        known += view[name].exists() ? 1 : 0;
    bool const title_fits = !view["title"].exists() || view["title"].kind() == json::Kind::string;
    bool const form = view.kind() == json::Kind::object && view["output"].exists() &&
                      known == view.size() && title_fits;
    if (!form) return {std::move(content)};
    json::View const metadata = view["metadata"];
    return {view["output"].copy(), view["title"].string_or(""),
            metadata.exists() ? metadata.copy() : Json()};
}

std::string text_of(json::View value) {
    if (value.kind() == json::Kind::number) return std::string(value.raw());
    return value.string_or("");
}

// The job has started, whatever else the answer says: invalid parts of it are ignored.
PauseTerms pause_of(HttpTool const& tool, HttpAnswer const& answer) {
    auto const content = json::check(answer.body);
    json::View const body = content ? json::View(*content) : json::View();
    PauseTerms pause;
    if (tool.poll) pause.poll_every = tool.poll->every;
    pause.schema = tool.declared.result_schema;
    add_declared(pause, tool.declared);
    if (answer.head.status == 202 && body.kind() == json::Kind::object) {
        pause.external_ref = head(text_of(body["externalRef"]), 4'096);
        if (auto const ms = body["estimatedDuration"].integer(); ms && *ms >= 0)
            pause.estimated = Duration(*ms);
        if (body["placeholder"].exists())
            pause.placeholder = json::compact(body["placeholder"].copy());
        // The answer's address has priority over the configured one, if it is valid.
        std::string const url = body["webhookURL"].string_or("");
        if (!url.empty() && wrong_url(url).empty()) pause.webhook_url = url;
    }
    if (!tool.external_ref.empty() && content)
        pause.external_ref = head(text_of(body.at_pointer(tool.external_ref)), 4'096);
    return pause;
}

// Services say it in many ways: true, a time, a conclusion. Absent, null, false, 0 and "" mean no.
bool is_true(json::View value) {
    if (!value.exists() || value.is_null()) return false;
    std::string_view const raw = value.raw();
    return raw != "false" && raw != "0" && raw != "\"\"";
}

bool means_later(HttpTool const& tool, int status) {
    if (tool.later == Later::any_2xx) return status >= 200 && status < 300;
    return tool.later == Later::only_202 && status == 202;
}

bool may_pass(int status) {
    return status == 408 || status == 425 || status == 429 || status >= 500 || status < 200;
}

agent::ToolResult failed(HttpAnswer const& answer) {
    port::HttpFailure const& failure = *answer.failure;
    std::string const text = "the service gave no answer: " + failure.reason;
    if (failure.kind == Kind::bad_request) return agent::Failed{text};
    if (failure.kind == Kind::too_large && !may_pass(answer.head.status))
        return agent::Failed{status_text(answer) + " with more than 8 MiB; nothing of it was kept"};
    if (!failure.sent) return agent::Failed{text, true};
    return InDoubt{text};
}

}  // namespace

agent::ToolResult result_of(HttpTool const& tool, HttpAnswer const& answer, Time now) {
    if (answer.failure) return failed(answer);
    int const status = answer.head.status;
    if (may_pass(status)) return InDoubt{error_text(answer), port::retry_after(answer.head, now)};
    if (status >= 400) return agent::Failed{error_text(answer)};
    if (status >= 300)
        return agent::Failed{status_text(answer) + ", a redirect: those are not followed"};
    if (means_later(tool, status)) return pause_of(tool, answer);
    auto content = content_of(answer);
    if (!content) return agent::Failed{content.error().detail};
    return checked(tool.declared, done_of(std::move(*content)));
}

agent::PollResult poll_result_of(HttpTool const& tool, HttpAnswer const& answer, Time now) {
    CHECK(tool.poll);
    if (answer.failure)
        return agent::NotYet{"the service gave no answer: " + answer.failure->reason};
    agent::NotYet not_yet{{}, port::retry_after(answer.head, now)};
    if (answer.head.status < 200 || answer.head.status >= 300) {
        not_yet.error = error_text(answer);
        return not_yet;
    }
    if (answer.body.empty()) return not_yet;
    auto const body = json::check(answer.body);
    if (!body) {
        not_yet.error =
            status_text(answer) + " with a body that is not JSON: " + body.error().detail;
        return not_yet;
    }
    json::View const view(*body);
    if (!is_true(view.at_pointer(tool.poll->done))) return not_yet;
    std::string const& where = tool.poll->output;
    json::View const output = where.empty() ? view : view.at_pointer(where);
    if (!output.exists())
        return agent::Failed{
            "the service reported that it is done, but its answer has nothing at " + where};
    auto result = checked(tool.declared, {output.copy()});
    if (auto* failed = std::get_if<agent::Failed>(&result)) return std::move(*failed);
    return std::get<agent::Done>(std::move(result));
}

}  // namespace dormouse::external
