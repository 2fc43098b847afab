#include "http/transport/response.h"

#include "base/text/append.h"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/status.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace dormouse::http {

namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

void append_two_digits(std::string& out, unsigned number, char then) {
    out += static_cast<char>('0' + number / 10);
    out += static_cast<char>('0' + number % 10);
    out += then;
}

void append_status(std::string& out, int status) {
    if (status == 200) {
        out += "HTTP/1.1 200 OK\r\n";
        return;
    }
    auto const reason = boost::beast::http::obsolete_reason(
        boost::beast::http::int_to_status(static_cast<unsigned>(status)));
    out += "HTTP/1.1 ";
    append_number(out, static_cast<std::uint64_t>(status));
    out += ' ';
    out.append(reason.data(), reason.size());
    out += "\r\n";
}

constexpr std::array<bool, 256> in_line = [] {
    std::array<bool, 256> out{};
    for (std::size_t byte = 0x20; byte < out.size(); ++byte) out[byte] = byte != 0x7f;
    out['\t'] = true;
    return out;
}();

bool one_line(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return in_line[static_cast<unsigned char>(c)]; });
}

bool is_header_name(std::string_view name) {
    constexpr auto ends_it = [](char c) { return c == ':' || c == ' ' || c == '\t'; };
    return !name.empty() && std::ranges::none_of(name, ends_it) && one_line(name);
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
    if (!is_header_name(name) || !one_line(value)) return;
    out += name;
    out += ": ";
    out += value;
    out += "\r\n";
}

bool brings(Headers const& headers, std::string_view name) {
    return std::ranges::any_of(
        headers, [name](auto const& header) { return boost::beast::iequals(header.first, name); });
}

void append_common(std::string& out, Headers const& headers, std::string_view date) {
    if (!date.empty()) append_header(out, "Date", date);
    if (headers.empty()) {
        out += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
        return;
    }
    if (!brings(headers, "cache-control")) out += "Cache-Control: no-store\r\n";
    if (!brings(headers, "x-content-type-options")) out += "X-Content-Type-Options: nosniff\r\n";
    for (auto const& [name, value] : headers) append_header(out, name, value);
}

}  // namespace

void append_reply(std::string& out, HttpReply const& reply, Framing const& framing) {
    bool const bodiless = reply.status == 204 || reply.status == 304;
    bool const with_body = !bodiless && !framing.head_only;
    out.reserve(out.size() + 320 + (with_body ? reply.body.size() : 0));
    append_status(out, reply.status);
    if (!bodiless && !reply.content_type.empty()) {
        append_header(out, "Content-Type", reply.content_type);
    }
    append_common(out, reply.headers, framing.date);
    if (framing.close)
        out += "Connection: close\r\n";
    else if (framing.http_1_0)
        out += "Connection: keep-alive\r\n";
    if (!bodiless) {
        out += "Content-Length: ";
        append_number(out, reply.source ? reply.source->size() : reply.body.size());
        out += "\r\n";
    }
    out += "\r\n";
    if (with_body) out += reply.body;
}

std::string stream_head(Headers const& headers, std::string_view date) {
    std::string out = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    append_common(out, headers, date);
    out += "X-Accel-Buffering: no\r\nConnection: close\r\n\r\n";
    return out;
}

std::string http_date(Time time) {
    static constexpr std::array<char const*, 7> days{"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
    static constexpr std::array<char const*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    auto const day = std::chrono::floor<std::chrono::days>(time);
    std::chrono::year_month_day const date(day);
    std::chrono::hh_mm_ss const clock(std::chrono::floor<std::chrono::seconds>(time - day));
    std::string out = days[std::chrono::weekday(day).c_encoding()];
    out += ", ";
    append_two_digits(out, static_cast<unsigned>(date.day()), ' ');
    out += months[static_cast<unsigned>(date.month()) - 1];
    out += ' ';
    append_number(out, static_cast<std::uint64_t>(static_cast<int>(date.year())));
    out += ' ';
    append_two_digits(out, static_cast<unsigned>(clock.hours().count()), ':');
    append_two_digits(out, static_cast<unsigned>(clock.minutes().count()), ':');
    append_two_digits(out, static_cast<unsigned>(clock.seconds().count()), ' ');
    return out + "GMT";
}

}  // namespace dormouse::http
