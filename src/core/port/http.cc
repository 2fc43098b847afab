#include "port/http.h"

#include "base/text/chars.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace dormouse::port {

namespace {

bool same_name(std::string_view a, std::string_view b) {
    constexpr auto lower = [](char c) { return lower_case(c); };
    return std::ranges::equal(a, b, {}, lower, lower);
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
    auto const date = http_date(*text);
    if (!date) return std::nullopt;
    // By the peer's own clock, if it sends a Date.
    auto const sent = http_date(head.header("date").value_or(""));
    return std::max(*date - sent.value_or(now), Duration(0));
}

}  // namespace dormouse::port
