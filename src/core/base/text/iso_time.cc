#include "base/text/iso_time.h"

#include "base/text/chars.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace dormouse {

namespace {

// Takes `digits` digits, and `after` unless it is NUL, from the front of `text`.
bool take_number(std::string_view& text, std::size_t digits, char after, int& into) {
    if (text.size() < digits) return false;
    auto const [end, error] = std::from_chars(text.data(), text.data() + digits, into);
    if (error != std::errc() || end != text.data() + digits || into < 0) return false;
    text.remove_prefix(digits);
    if (after == '\0') return true;
    if (!text.starts_with(after)) return false;
    text.remove_prefix(1);
    return true;
}

// In milliseconds; finer digits are ignored.
bool take_fraction(std::string_view& text, int& ms) {
    if (!text.starts_with('.')) return true;
    text.remove_prefix(1);
    int scale = 100;
    bool any = false;
    while (!text.empty() && is_digit(text.front())) {
        ms += (text.front() - '0') * scale;
        scale /= 10;
        any = true;
        text.remove_prefix(1);
    }
    return any;
}

// Returns the minutes to subtract for "Z" or an offset such as "+01:00".
std::optional<int> offset_of(std::string_view text) {
    if (text == "Z" || text == "z") return 0;
    bool const west = text.starts_with('-');
    if (!west && !text.starts_with('+')) return std::nullopt;
    text.remove_prefix(1);
    int hours = 0;
    int minutes = 0;
    bool const fits = take_number(text, 2, ':', hours) && take_number(text, 2, '\0', minutes);
    if (!fits || !text.empty() || hours > 23 || minutes > 59) return std::nullopt;
    return (west ? -1 : 1) * (hours * 60 + minutes);
}

}  // namespace

std::string iso_time(Time at) {
    auto const day = std::chrono::floor<std::chrono::days>(at);
    std::chrono::year_month_day const date(day);
    std::chrono::hh_mm_ss const clock(at - day);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                  static_cast<int>(clock.minutes().count()),
                  static_cast<int>(clock.seconds().count()),
                  static_cast<int>(clock.subseconds().count()));
    return text.data();
}

std::string utc_minute(Time at) {
    std::string out = iso_time(at).substr(0, 16);
    out[10] = ' ';
    return out + " UTC";
}

std::optional<Time> parse_iso_time(std::string_view text) {
    int year = 0;
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    int ms = 0;
    bool const fits = take_number(text, 4, '-', year) && take_number(text, 2, '-', month) &&
                      take_number(text, 2, 'T', day) && take_number(text, 2, ':', hour) &&
                      take_number(text, 2, ':', minute) && take_number(text, 2, '\0', second) &&
                      take_fraction(text, ms);
    std::chrono::year_month_day const date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    auto const offset = fits ? offset_of(text) : std::nullopt;
    if (!offset || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    return Time(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
           std::chrono::minutes(minute - *offset) + std::chrono::seconds(second) + Duration(ms);
}

}  // namespace dormouse
