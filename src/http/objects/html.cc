#include "http/objects/html.h"

#include "base/sha256.h"
#include "base/text.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>

namespace dormouse::server {

namespace {

// Buttons are at least 44 px high, and so far apart that a thumb meets one of them.
constexpr std::string_view style =
    ":root{color-scheme:light dark;--yes:#1a6b34;--no:#b3261e;--line:#8888}"
    "@media(prefers-color-scheme:dark){:root{--no:#ff9a91}}"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:45rem;margin:auto;padding:1rem;"
    "overflow-wrap:anywhere}"
    "h1{font-size:1.4rem;line-height:1.3;white-space:pre-line;margin:.5rem 0 1rem}"
    "h2{font-size:1.1rem;margin-top:2rem}"
    ".said{white-space:pre-line}.dim{opacity:.75}"
    ".md ul{list-style:disc}.md ul,.md ol{padding-left:1.5rem}.md li{border:0;padding:0}"
    "del,ins{text-decoration:none;display:block}ins{font-weight:bold}"
    "nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center}"
    "nav a,li a{display:inline-block;min-height:44px;line-height:44px}"
    "summary{min-height:44px;line-height:44px;cursor:pointer}"
    "li a{line-height:1.5;padding:.6rem 0;box-sizing:border-box}"
    "ul{list-style:none;padding:0}li{border-top:1px solid var(--line);padding:.25rem 0}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);"
    "border-radius:.4rem;padding:.5rem;margin:.25rem 0}"
    "dl{display:grid;grid-template-columns:minmax(5rem,auto) 1fr;gap:.3rem 1rem}"
    "dt{font-weight:bold}dd{margin:0;min-width:0}dd dl{margin:0}"
    "textarea,input[type=text]{width:100%;font:inherit;box-sizing:border-box;padding:.5rem}"
    "input[type=text]{min-height:44px}"
    "button{font:inherit;min-height:44px;padding:.5rem 1.5rem;border-radius:.5rem;"
    "border:2px solid;background:Canvas;color:inherit;cursor:pointer}"
    "button.yes{background:var(--yes);border-color:var(--yes);color:#fff;font-weight:bold}"
    "button.no{border-color:var(--no);color:var(--no);font-weight:bold}"
    ".actions{display:flex;flex-wrap:wrap;gap:1rem 2rem;position:sticky;bottom:0;"
    "background:Canvas;padding:.75rem 0}"
    "@media(max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.6rem}}";

std::string distance(std::int64_t ms) {
    std::int64_t const minutes = (ms + 30'000) / 60'000;
    if (minutes < 1) return "less than a minute";
    if (minutes < 120) return std::to_string(minutes) + " min";
    std::int64_t const hours = (minutes + 30) / 60;
    if (hours < 48) return std::to_string(hours) + " h";
    return std::to_string((hours + 12) / 24) + " days";
}

// In plain words, for those who are not the ones that run the server.
std::string advice(int status) {
    switch (status) {
        case 401: return "Ask your administrator for a sign-in link, and open it on this device.";
        case 403: return "You are signed in, but this is not for you to do.";
        case 404: return "The link may be incomplete, or what it led to is gone.";
        case 405: return "This address is for programs.";
        case 410: return "It came too late: this is over.";
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
    if (text.size() <= most) return std::string(text);
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return std::string(text.substr(0, end)) + "…";
}

std::string utc_text(Time at) {
    std::time_t const seconds = to_ms(at) / 1000;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 64> out{};
    return {out.data(), std::strftime(out.data(), out.size(), "%Y-%m-%d %H:%M UTC", &parts)};
}

std::string time_html(Time at, Time now) {
    std::int64_t const ms = to_ms(at) - to_ms(now);
    std::string const words = ms >= 0 ? "in " + distance(ms) : distance(-ms) + " ago";
    return utc_text(at) + " <span class=\"dim\">(" + words + ")</span>";
}

HttpReply html_reply(int status, std::string_view title, std::string_view body) {
    // The policy hides the page's address from others, and not from our own form: without an Origin
    // that form would be refused.
    return {status,
            "text/html; charset=utf-8",
            {{"Content-Security-Policy",
              "default-src 'none'; style-src 'sha256-" + base64(sha256(style)) +
                  "'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
             {"X-Content-Type-Options", "nosniff"},
             {"Referrer-Policy", "same-origin"},
             {"Cache-Control", "no-store"}},
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\">"
            "<meta name=\"color-scheme\" content=\"light dark\"><title>" +
                html_text(title) + "</title><style>" + std::string(style) +
                "</style></head><body><main>\n" + std::string(body) + "</main></body></html>\n"};
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
    std::string body = "<h1>" + html_text(title) + "</h1>\n";
    if (auto const words = advice(reply.status); !words.empty())
        body += "<p>" + html_text(words) + "</p>\n";
    if (detail != title) body += "<p class=\"said\">" + html_text(detail) + "</p>\n";
    body += "<nav><a href=\"/\">What waits for me</a></nav>\n<p class=\"dim\">" +
            std::to_string(reply.status) + " " + html_text(view["code"].string_or("")) +
            ", request " + html_text(view["requestID"].string_or("")) + "</p>\n";
    HttpReply out = html_reply(reply.status, title, body);
    for (auto& header : reply.headers) {
        bool const has = std::ranges::any_of(
            out.headers, [&](auto const& own) { return own.first == header.first; });
        if (!has) out.headers.push_back(std::move(header));
    }
    return out;
}

// Browsers take '\' for '/', and leave tabs and line ends out: "/\t/evil" is another server.
std::string safe_next(std::string_view path) {
    constexpr std::size_t most = 512;
    constexpr std::string_view plain = "/-_.~?=&%";
    bool const own = path.starts_with('/') && !path.starts_with("//") && path.size() <= most;
    bool const simple = std::ranges::all_of(path, [&](char c) {
        bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return letter || (c >= '0' && c <= '9') || plain.find(c) != std::string_view::npos;
    });
    return own && simple ? std::string(path) : "/";
}

}  // namespace dormouse::server
