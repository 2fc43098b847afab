#include "webhook/kinds/email.h"

#include "base/text/cut.h"
#include "base/text/iso_time.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

namespace dormouse::webhook {

namespace email {
namespace {

constexpr std::size_t subject_max = 150;
constexpr std::size_t word_bytes = 42;  // of an encoded word, which has at most 75 characters
constexpr std::size_t line_bytes = 57;  // 76 characters of base64

std::string encoded(std::string_view text) {
    return base64(std::vector<std::uint8_t>(text.begin(), text.end()));
}

// RFC 2047, so that a subject holds any character and no line end.
std::string encoded_words(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        std::string_view const piece = piece_utf8(text, word_bytes);
        text.remove_prefix(piece.size());
        out += (out.empty() ? "" : "\r\n ") + std::string("=?utf-8?B?") + encoded(piece) + "?=";
    }
    return out;
}

std::string base64_lines(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += line_bytes)
        out += encoded(text.substr(at, line_bytes)) + "\r\n";
    return out;
}

// "Sun, 22 Nov 2026 14:01:00 +0000"
std::string date_of(Time at) {
    constexpr std::array<char const*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<char const*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    auto const day = std::chrono::floor<std::chrono::days>(at);
    std::chrono::year_month_day const date(day);
    auto const seconds = (at - day).count() / 1'000;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d +0000",
                  days[std::chrono::weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                  months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                  static_cast<int>(seconds / 3'600), static_cast<int>(seconds / 60 % 60),
                  static_cast<int>(seconds % 60));
    return text.data();
}

std::string crlf(std::string_view text) {
    std::string out;
    for (char const c : text) {
        if (c == '\n') out += '\r';
        if (c != '\r') out += c;
    }
    return out;
}

}  // namespace
}  // namespace email

std::string mail_content(MailText const& mail) {
    std::string const host = mail.from.substr(std::min(mail.from.find('@') + 1, mail.from.size()));
    return "Date: " + email::date_of(mail.at) + "\r\nFrom: Dormouse <" + mail.from + ">\r\nTo: <" +
           mail.to + ">\r\nSubject: " +
           email::encoded_words(cut_with_mark(mail.subject, email::subject_max)) +
           "\r\nMessage-ID: <" + mail.id + "@" + host +
           ">\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
           "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
           email::base64_lines(email::crlf(mail.body));
}

std::string mail_subject(Notification const& it) {
    std::string const what = it.question.empty() ? it.tool : it.question;
    return headline(it) + ": " + what.substr(0, what.find('\n'));
}

std::string mail_body(Notification const& it, std::string const& url, LeadsTo what) {
    std::string out = headline(it) + ".\n\n";
    if (!it.question.empty()) out += it.question + "\n\n";
    out += "Tool:      " + it.tool + "\nArguments: " + it.arguments + "\n";
    if (!it.digest.empty()) out += "Digest:    " + it.digest + "\n";
    if (!it.agent.empty()) out += "Agent:     " + it.agent + "\n";
    if (it.deadline) out += "Until:     " + utc_minute(*it.deadline) + "\n";
    if (what == LeadsTo::page)
        return out + "\nAnswer here, once you are signed in:\n\n" + url + "\n";
    out += "\nAnswer here:\n\n" + url +
           "\n\nThe link works once, signs you in on the browser that opens it, and is for you "
           "alone:\ndo not forward this mail.\n";
    return out;
}

}  // namespace dormouse::webhook
