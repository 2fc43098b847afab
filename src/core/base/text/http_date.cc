#include "base/text/http_date.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <system_error>

namespace dormouse {

namespace {

std::optional<std::int64_t> digits(std::string_view text) {
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

std::optional<Time> parse_http_date(std::string_view text) {
    if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
    constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    auto const month = std::ranges::find(months, text.substr(8, 3));
    auto const day = digits(text.substr(5, 2));
    auto const year = digits(text.substr(12, 4));
    auto const hour = digits(text.substr(17, 2));
    auto const minute = digits(text.substr(20, 2));
    auto const second = digits(text.substr(23, 2));
    if (month == months.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
    auto const date = std::chrono::year(static_cast<int>(*year)) /
                      static_cast<unsigned>(month - months.begin() + 1) /
                      static_cast<unsigned>(*day);
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
           std::chrono::seconds(*second);
}

}  // namespace dormouse
