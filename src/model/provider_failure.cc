#include "model/provider_failure.h"

#include "base/text.h"
#include "json/json.h"

#include <algorithm>
#include <utility>

namespace dormouse::model {

using agent::ModelTrouble;
using Kind = port::HttpFailure::Kind;

namespace {

constexpr std::size_t text_max = 600;

// At most `max` bytes, no character cut in two.
std::string_view cut(std::string_view text, std::size_t max) {
    if (text.size() <= max) return text;
    while (max > 0 && (text[max] & 0xC0) == 0x80) --max;
    return text.substr(0, max);
}

std::string without(std::string text, std::vector<std::string> const& secrets) {
    for (std::string const& secret : secrets) {
        if (secret.empty()) continue;
        for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos;)
            text.replace(at, secret.size(), "[secret]");
    }
    return text;
}

struct ErrorBody {
    std::string message;
    std::string type;
    std::string code;
    std::optional<std::int64_t> status;
};

// {"error": {"message", "type", "code"}}, {"error": "text"}, {"message"}, {"detail"}, or text.
ErrorBody read_body(std::string_view body) {
    auto const json = json::check(body);
    if (!json) return {std::string(body), {}, {}, {}};
    json::View const whole(*json);
    json::View const error = whole["error"];
    ErrorBody out;
    if (error.kind() == json::Kind::object) {
        out = {error["message"].string_or(""), error["type"].string_or(""),
               error["code"].string_or(""), error["code"].integer()};
    } else {
        for (json::View const text : {error, whole["message"], whole["detail"]}) {
            if (out.message.empty()) out.message = text.string_or("");
        }
    }
    if (out.message.empty()) out.message = body;
    return out;
}

bool may_pass(std::int64_t status) {
    return status == 408 || status == 409 || status == 429 || status >= 500;
}

std::string_view advice(std::uint16_t status) {
    switch (status) {
        case 401: return "; is the key that api_key_env names right?";
        case 404: return "; are base_url and model right?";
        default: return "";
    }
}

}  // namespace

ModelTrouble Provider::trouble(std::string_view text) const {
    // Secrets go before anything is cut, so that no part of one stays.
    std::string const line = escape_for_terminal(without(std::string(cut(text, 65'536)), secrets));
    return {{"model_failed", id + ": " + std::string(cut(line, text_max))}, false, std::nullopt};
}

ModelTrouble Provider::passing(std::string_view text) const {
    ModelTrouble out = trouble(text);
    out.may_retry = true;
    return out;
}

ModelTrouble Provider::refused(port::HttpHead const& head, std::string_view body, Time now) const {
    ErrorBody const error = read_body(body);
    std::string text = "the provider answered " + std::to_string(head.status);
    text += advice(head.status);
    ModelTrouble out = trouble(text + ": " + error.message);
    // A quota that is used up is told like a rate limit, and waiting does not help.
    bool const used_up = error.code == "insufficient_quota" || error.type == "insufficient_quota";
    out.may_retry = may_pass(head.status) && !used_up;
    if (auto const says = head.header("x-should-retry")) {
        if (*says == "true") out.may_retry = true;
        if (*says == "false") out.may_retry = false;
    }
    if (out.may_retry) out.retry_after = port::retry_after(head, now);
    if (error.code == "content_filter") out.error.code = "model_refused";
    return out;
}

ModelTrouble Provider::failed_midway(std::string_view body) const {
    ErrorBody const error = read_body(body);
    ModelTrouble out = trouble("the provider broke off: " + error.message);
    bool const ours = error.type == "invalid_request_error" || error.type == "insufficient_quota";
    out.may_retry = error.status ? may_pass(*error.status) : !ours;
    return out;
}

ModelTrouble Provider::unreachable(port::HttpFailure const& failure) const {
    ModelTrouble out = trouble("no answer from the provider: " + failure.reason);
    out.may_retry = failure.kind == Kind::no_route || failure.kind == Kind::lost ||
                    failure.kind == Kind::timed_out || failure.kind == Kind::overloaded;
    return out;
}

}  // namespace dormouse::model
