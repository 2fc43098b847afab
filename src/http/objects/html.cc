#include "http/objects/html.h"

#include "base/text/chars.h"
#include "base/text/cut.h"
#include "base/text/iso_time.h"
#include "base/text/text.h"
#include "http/objects/card_page.h"
#include "http/objects/plain_files.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>

namespace dormouse::http {

namespace {

std::string distance(std::int64_t ms) {
    std::int64_t const minutes = (ms + 30'000) / 60'000;
    if (minutes < 1) return "less than a minute";
    if (minutes < 120) return std::to_string(minutes) + " min";
    std::int64_t const hours = (minutes + 30) / 60;
    if (hours < 48) return std::to_string(hours) + " h";
    return std::to_string((hours + 12) / 24) + " days";
}

// Advice in plain words for users who do not run the server.
std::string advice(int status) {
    switch (status) {
        case 401: return "Ask your administrator for a sign-in link, and open it on this device.";
        case 403: return "You are signed in, but your role does not allow this.";
        case 404: return "The link is incomplete, or its target was deleted.";
        case 405: return "This address is for programs.";
        case 409: return "Nothing was changed. Load the page again to see what happened meanwhile.";
        case 413: return "What you sent is too large. Send less, and try again.";
        case 421: return "Open the server by the address that you were given.";
        case 410: return "Too late: this call is already settled.";
        case 429: return "Wait a moment, then load the page again.";
        default: return status >= 500 ? "Load the page again in a moment." : "";
    }
}

}  // namespace

std::string html_text(std::string_view text) {
    std::string out;
    for (char const c : escape_for_terminal(text, true)) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string title_text(std::string_view text) {
    auto const begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return "Dormouse";
    text.remove_prefix(begin);
    constexpr std::size_t most = 80;
    text = text.substr(0, text.find('\n'));
    return cut_with_mark(text, most);
}

std::string time_html(Time at, Time now) {
    std::int64_t const ms = to_ms(at) - to_ms(now);
    std::string const words = ms >= 0 ? "in " + distance(ms) : distance(-ms) + " ago";
    return utc_minute(at) + " <span class=\"dim\">(" + words + ")</span>";
}

HttpReply html_reply(int status, std::string_view title, std::string_view body,
                     std::string_view look) {
    std::string const opening =
        look.empty() ? "<body>" : "<body class=\"" + std::string(look) + "\">";
    // The policy hides the page's address from other sites, but not from its own form: without an
    // Origin that form would be refused.
    return {status,
            "text/html; charset=utf-8",
            {{"Content-Security-Policy",
              "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; "
              "frame-ancestors 'none'"},
             {"X-Content-Type-Options", "nosniff"},
             {"Referrer-Policy", "same-origin"},
             {"Cache-Control", "no-store"}},
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\">"
            "<meta name=\"color-scheme\" content=\"light dark\"><title>" +
                html_text(title) + "</title>" + plain_style_link() + "</head>" + opening +
                "<main>\n" + std::string(body) + "</main></body></html>\n"};
}

bool wants_html(HttpRequest const& request) {
    return request.header("accept").find("text/html") != std::string_view::npos;
}

HttpReply for_browser(HttpReply reply, HttpRequest const& request) {
    if (reply.content_type != "application/problem+json" || !wants_html(request)) return reply;
    auto const problem = json::check(reply.body);
    if (!problem) return reply;
    json::View const view(*problem);
    std::string const title = view["title"].string_or("This did not work");
    std::string const detail = view["detail"].string_or("");
    CardPage page{.title = title, .about = advice(reply.status)};
    if (detail != title) page.card = "<p class=\"said\">" + html_text(detail) + "</p>\n";
    page.card += "<p><a class=\"btn\" href=\"/\">What waits for me</a></p>\n";
    page.notes = "<p class=\"note\">" + std::to_string(reply.status) + " " +
                 html_text(view["code"].string_or("")) + ", request " +
                 html_text(view["requestID"].string_or("")) + "</p>\n";
    HttpReply out = card_reply(reply.status, page);
    for (auto& header : reply.headers) {
        bool const has = std::ranges::any_of(
            out.headers, [&](auto const& own) { return own.first == header.first; });
        if (!has) out.headers.push_back(std::move(header));
    }
    return out;
}

// Browsers treat '\' as '/' and remove tabs and line ends: "/\t/evil" is another server.
std::string safe_next(std::string_view path) {
    constexpr std::size_t most = 512;
    constexpr std::string_view plain = "/-_.~?=&%";
    bool const own = path.starts_with('/') && !path.starts_with("//") && path.size() <= most;
    return own && is_made_of(path, plain) ? std::string(path) : "/";
}

}  // namespace dormouse::http
