#include "model/provider_failure.h"

#include "base/text.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
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

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<double> decimal(std::string_view text) {
    double value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool const whole = error == std::errc() && end == text.data() + text.size();
    return whole && value >= 0 && value < 1e9 ? std::optional(value) : std::nullopt;
}

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::optional<Time> http_date(std::string_view text) {
    if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
    constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    auto const month = std::ranges::find(months, text.substr(8, 3));
    auto const day = number(text.substr(5, 2));
    auto const year = number(text.substr(12, 4));
    auto const hour = number(text.substr(17, 2));
    auto const minute = number(text.substr(20, 2));
    auto const second = number(text.substr(23, 2));
    if (month == months.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
    auto const date = std::chrono::year(static_cast<int>(*year)) /
                      static_cast<unsigned>(month - months.begin() + 1) /
                      static_cast<unsigned>(*day);
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
           std::chrono::seconds(*second);
}

}  // namespace

std::optional<Duration> retry_after(port::HttpHead const& head, Time now) {
    if (auto const text = head.header("retry-after-ms")) {
        if (auto const ms = decimal(*text)) return Duration(static_cast<std::int64_t>(*ms));
    }
    auto const text = head.header("retry-after");
    if (!text) return std::nullopt;
    if (auto const seconds = decimal(*text))
        return Duration(static_cast<std::int64_t>(*seconds * 1'000));
    auto const date = http_date(*text);
    if (!date) return std::nullopt;
    // By the provider's own clock, if it tells it.
    auto const sent = http_date(head.header("date").value_or(""));
    return std::max(*date - sent.value_or(now), Duration(0));
}

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
    if (out.may_retry) out.retry_after = retry_after(head, now);
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
