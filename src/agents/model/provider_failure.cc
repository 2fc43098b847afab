#include "model/provider_failure.h"

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dormouse::model {

using agent::ModelTrouble;
using Kind = port::HttpFailure::Kind;

namespace {

constexpr std::size_t text_max = 600;

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
    std::string retry_after = {};  // seconds
};

// Reads Google's {"details": [{"retryDelay": "34.5s"}]}; empty: there is none.
std::string retry_delay(json::View error) {
    std::string out;
    error["details"].elements([&](json::View detail) {
        std::string text = detail["retryDelay"].string_or("");
        if (!text.ends_with('s')) return;
        text.pop_back();
        out = std::move(text);
    });
    return out;
}

// Reads {"error": {"message", "type", "code"}}, {"error": "text"}, {"message", "code"}, {"detail"},
// an array with one of them, or text.
ErrorBody read_body(std::string_view body) {
    auto const json = json::check(body);
    if (!json) return {std::string(body), {}, {}, {}};
    json::View const outer(*json);
    json::View const whole = outer.kind() == json::Kind::array ? outer.at_pointer("/0") : outer;
    json::View const error = whole["error"];
    ErrorBody out;
    if (error.kind() == json::Kind::object) {
        out = {error["message"].string_or(""), error["type"].string_or(""),
               error["code"].string_or(""), error["code"].integer(), retry_delay(error)};
    } else {
        out.code = whole["code"].string_or("");
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

// Returns whether an error without a status is permanent.
bool stays(ErrorBody const& error) {
    constexpr std::array<std::string_view, 8> words{
        "invalid_request_error", "authentication_error", "permission_error",   "not_found_error",
        "request_too_large",     "billing_error",        "insufficient_quota", "invalid_prompt"};
    return std::ranges::find(words, error.type) != words.end() ||
           std::ranges::find(words, error.code) != words.end();
}

std::string_view advice(std::uint16_t status) {
    switch (status) {
        case 401: return " (check the key that api_key_env names)";
        case 404: return " (check base_url and model)";
        default: return "";
    }
}

}  // namespace

ModelTrouble Provider::trouble(std::string_view text) const {
    // Removes secrets before anything is cut, so that no part of one remains.
    std::string const line =
        escape_for_terminal(without(std::string(cut_utf8(text, 65'536)), secrets));
    return {
        {"model_failed", id + ": " + std::string(cut_utf8(line, text_max))}, false, std::nullopt};
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
    // A used-up quota is reported like a rate limit, but waiting does not help.
    bool const used_up = error.code == "insufficient_quota" || error.type == "insufficient_quota";
    out.may_retry = may_pass(head.status) && !used_up;
    if (auto const should_retry = head.header("x-should-retry")) {
        if (*should_retry == "true") out.may_retry = true;
        if (*should_retry == "false") out.may_retry = false;
    }
    if (out.may_retry) {
        out.retry_after = port::retry_after(head, now);
        if (!out.retry_after)
            out.retry_after = port::retry_after({0, {{"Retry-After", error.retry_after}}}, now);
    }
    if (error.code == "content_filter") out.error.code = "model_refused";
    return out;
}

ModelTrouble Provider::failed_midway(std::string_view body) const {
    ErrorBody const error = read_body(body);
    ModelTrouble out = trouble("the provider broke off: " + error.message);
    out.may_retry = error.status ? may_pass(*error.status) : !stays(error);
    return out;
}

ModelTrouble Provider::unreachable(port::HttpFailure const& failure) const {
    ModelTrouble out = trouble("no answer from the provider: " + failure.reason);
    out.may_retry = failure.kind == Kind::no_route || failure.kind == Kind::lost ||
                    failure.kind == Kind::timed_out || failure.kind == Kind::overloaded;
    return out;
}

}  // namespace dormouse::model
