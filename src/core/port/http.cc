#include "port/http.h"

#include "base/text/chars.h"
#include "base/text/http_date.h"

#include <algorithm>
#include <charconv>

namespace dormouse::port {

namespace {

bool same_name(std::string_view a, std::string_view b) {
    constexpr auto lower = [](char c) { return lower_case(c); };
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::optional<double> decimal(std::string_view text) {
    double value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool const whole = error == std::errc() && end == text.data() + text.size();
    return whole && value >= 0 && value < 1e9 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::string_view> HttpHead::header(std::string_view name) const {
    for (HttpHeader const& header : headers) {
        if (same_name(header.name, name)) return header.value;
    }
    return std::nullopt;
}

std::optional<Duration> retry_after(HttpHead const& head, Time now) {
    if (auto const text = head.header("retry-after-ms")) {
        if (auto const ms = decimal(*text)) return Duration(static_cast<std::int64_t>(*ms));
    }
    auto const text = head.header("retry-after");
    if (!text) return std::nullopt;
    if (auto const seconds = decimal(*text))
        return Duration(static_cast<std::int64_t>(*seconds * 1'000));
    auto const date = parse_http_date(*text);
    if (!date) return std::nullopt;
    // By the peer's own clock, if it sends a Date.
    auto const sent = parse_http_date(head.header("date").value_or(""));
    return std::max(*date - sent.value_or(now), Duration(0));
}

}  // namespace dormouse::port
