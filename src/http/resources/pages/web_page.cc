#include "http/resources/pages/web_page.h"

#include "base/text/cut.h"
#include "base/text/split.h"
#include "base/text/text.h"
#include "base/url.h"
#include "http/objects/etag.h"
#include "http/objects/html.h"

#include <algorithm>
#include <array>

namespace dormouse::http {

namespace {

constexpr std::string_view shell_path = "/index.html";
constexpr std::string_view assets_path = "/assets/";
constexpr std::string_view for_ever = "public, max-age=31536000, immutable";
constexpr std::array<std::string_view, 11> views{"/decided",
                                                 "/mail",
                                                 "/operate",
                                                 "/operate/access",
                                                 "/operate/audit",
                                                 "/operate/config",
                                                 "/operate/nodes",
                                                 "/operate/deliveries",
                                                 "/operate/rules",
                                                 "/tasks",
                                                 "/you"};
constexpr std::array<std::string_view, 5> session_views{"", "/calls", "/mail", "/tasks",
                                                        "/timeline"};

// Returns true for `/sessions`, `/sessions/ID` and the tabs of a session.
bool is_view(std::string_view path) {
    constexpr std::string_view sessions = "/sessions";
    if (std::ranges::find(views, path) != views.end() || path == sessions) return true;
    if (!path.starts_with(std::string(sessions) + "/")) return false;
    path.remove_prefix(sessions.size() + 1);
    auto const end = std::min(path.find('/'), path.size());
    return end > 0 && std::ranges::find(session_views, path.substr(end)) != session_views.end();
}

// Allows only the page's own script and style files; no element is made from a string. The names
// of the Trusted Types policies are those of Svelte and of web/src/main.ts.
constexpr std::string_view policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types svelte-trusted-html dormouse-worker";

// Returns true for "q=0", "q=0.00", which mark what is not acceptable (RFC 9110, 12.4.2).
bool is_refused(std::string_view parameters) {
    auto const at = parameters.find("q=");
    if (at == std::string_view::npos) return false;
    std::string_view const weight = trimmed(parameters.substr(at + 2));
    return weight.starts_with('0') && weight.find_first_of("123456789") == std::string_view::npos;
}

bool takes_brotli(std::string_view accepted) {
    bool any = false;
    for (std::string_view const one : split_list(accepted, ',')) {
        auto const name_end = std::min(one.find(';'), one.size());
        std::string const name = lower_case(trimmed(one.substr(0, name_end)));
        bool const refused = is_refused(one.substr(name_end));
        if (name == "br") return !refused;
        if (name == "*") any = !refused;
    }
    return any;
}

// Replaces the text between `begin` and `end`.
void replace_between(std::string& text, std::string_view begin, std::string_view end,
                     std::string_view with) {
    auto const from = text.find(begin);
    auto const to = from == std::string::npos ? from : text.find(end, from);
    if (to == std::string::npos) return;
    text.replace(from + begin.size(), to - from - begin.size(), with);
}

}  // namespace

WebFile const* WebPage::find(std::string_view path) const {
    auto const found = std::ranges::find(files_, path, &WebFile::path);
    return found == files_.end() ? nullptr : &*found;
}

WebPage::WebPage(WebFiles files) : files_(files), plain_(plain_files()) {}

PlainFile const* WebPage::find_plain(std::string_view path) const {
    auto const found = std::ranges::find(plain_, path, &PlainFile::path);
    return found == plain_.end() ? nullptr : &*found;
}

bool WebPage::has(std::string_view path) const {
    if (find_plain(path) != nullptr) return true;
    if (files_.empty()) return false;
    return path.starts_with(assets_path) || is_view(path) || find(path) != nullptr;
}

std::optional<HttpReply> WebPage::get(HttpRequest const& request, bool signed_in) const {
    if (PlainFile const* const plain = find_plain(request.path))
        return HttpReply{200,
                         std::string(plain->type),
                         {{"Cache-Control", std::string(for_ever)},
                          {"Content-Security-Policy", std::string(policy)}},
                         std::string(plain->bytes)};
    bool const view = is_view(request.path);
    if (view && !signed_in) return HttpReply{303, "", {{"Location", sign_in_path(request)}}, ""};
    WebFile const* const file = find(view ? shell_path : request.path);
    if (file == nullptr) return std::nullopt;
    bool const small = !file->brotli.empty() && takes_brotli(request.header("accept-encoding"));
    std::string const tag = "\"" + std::string(file->digest) + (small ? "-br" : "") + "\"";
    bool const named =
        file->path.starts_with(assets_path);  // a file with new content has a new name
    HttpReply out{200, std::string(file->type), {}, ""};
    out.headers = {{"Cache-Control", named ? std::string(for_ever) : "no-cache"},
                   {"ETag", tag},
                   {"Vary", "Accept-Encoding"}};
    if (none_match_names(request, tag)) {
        out.status = 304;
        return out;
    }
    out.headers.emplace_back("Content-Security-Policy", policy);
    out.headers.emplace_back("Referrer-Policy", "same-origin");
    if (small) out.headers.emplace_back("Content-Encoding", "br");
    out.body = small ? file->brotli : file->bytes;
    return out;
}

std::optional<HttpReply> WebPage::around(std::string_view title,
                                         std::string_view without_script) const {
    WebFile const* const shell = find(shell_path);
    if (shell == nullptr) return std::nullopt;
    std::string body(shell->bytes);
    std::string const plain =
        plain_style_link() + "<main>\n" + std::string(without_script) + "</main>";
    replace_between(body, "<title>", "</title>", html_text(title));
    replace_between(body, "<noscript>", "</noscript>", plain);
    return HttpReply{200,
                     "text/html; charset=utf-8",
                     {{"Cache-Control", "no-store"},
                      {"Content-Security-Policy", std::string(policy)},
                      {"Referrer-Policy", "same-origin"}},
                     std::move(body)};
}

std::string target_of(HttpRequest const& request) {
    std::string out = percent_encode(request.path, "/");
    for (auto const& [name, value] : request.query) {
        out += &name == &request.query.front().first ? '?' : '&';
        out += percent_encode(name) + "=" + percent_encode(value);
    }
    return out;
}

std::string sign_in_path(HttpRequest const& request) {
    std::string const target = target_of(request);
    return target == "/" ? "/sign-in" : "/sign-in?next=" + percent_encode(target, "/");
}

}  // namespace dormouse::http
