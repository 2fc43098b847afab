#include "runtime/engine/entrance.h"

#include "base/text/chars.h"
#include "base/text/names.h"
#include "base/text/text.h"
#include "json/json.h"
#include "session/limits.h"
#include "wire/admit.h"
#include "wire/submission.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace dormouse::runtime {

namespace {

constexpr std::size_t title_max = 1'000;

bool is_json(Json const& value) { return json::check(value.text()).has_value(); }

}  // namespace

Result<void> check_utf8(std::string_view name, std::string_view text) {
    if (valid_utf8(text)) return {};
    return fail(Code::bad_value, std::string(name) + " is not UTF-8");
}

Result<void> check_prompt(std::string_view text) {
    if (text.size() > session::limits::prompt_bytes_max)
        return fail(Code::too_large, "the prompt must be at most 1 MiB");
    return check_utf8("the prompt", text);
}

Result<void> check(NewSession const& session) {
    if (!is_short_name(session.project))
        return fail(Code::bad_value, "project must match [A-Za-z0-9_.-]{1,64}");
    if (session.title.size() > title_max)
        return fail(Code::bad_value, "title must be at most 1000 bytes");
    if (auto fits = check_prompt(session.prompt); !fits) return fits;
    for (auto const& [name, text] : {std::pair("agent", &session.agent),
                                     {"title", &session.title},
                                     {"key", &session.key},
                                     {"by", &session.by}}) {
        if (auto fits = check_utf8(name, *text); !fits) return fits;
    }
    for (auto const& [name, value] : session.labels) {
        if (!valid_utf8(name) || !valid_utf8(value))
            return fail(Code::bad_value, "labels are not UTF-8");
    }
    return {};
}

Result<void> check(WaitingFilter const& filter) {
    if (auto fits = check_utf8("project", filter.project); !fits) return fits;
    return check_utf8("tool", filter.tool);
}

session::Submission result_of(Json output) {
    if (is_json(output)) return wire::submitted_result(std::move(output));
    session::Submission out;
    out.output = std::move(output);
    return out;
}

session::Submission error_of(std::string text) {
    if (valid_utf8(text)) return wire::submitted_error(std::move(text));
    session::Submission out;
    out.kind = session::SubmissionKind::error;
    out.error = std::move(text);
    return out;
}

session::Submission decision_of(bool approved, std::string reason, Json arguments, Json content) {
    if (is_json(arguments) && is_json(content))
        return wire::submitted_decision(approved, std::move(reason), std::move(arguments),
                                        std::move(content));
    session::Submission out;
    out.kind = session::SubmissionKind::decision;
    out.arguments = std::move(arguments);
    out.content = std::move(content);
    return out;
}

namespace {

Result<session::Submit> submit_of(PendingId const& pending, Offered offered) {
    session::Command command;
    command.by.name = std::move(offered.by);
    command.body = session::Submit{pending,       std::move(offered.what),
                                   "library",     std::move(offered.delivery_id),
                                   offered.shown, {}};
    if (auto admitted = wire::admit(command); !admitted)
        return std::unexpected(std::move(admitted.error()));
    return std::get<session::Submit>(std::move(command.body));
}

}  // namespace

Entering entering(PendingId const& pending, Offered offered) {
    std::string by = offered.by;
    std::string tool = offered.tool;
    return {pending, submit_of(pending, std::move(offered)), std::move(by), std::move(tool)};
}

}  // namespace dormouse::runtime
