#include "http/objects/problem.h"

#include "json/json.h"

namespace dormouse::http {

namespace {

std::int64_t retry_after_ms(Error const& error, CodeInfo const& about) {
    if (error.retry_after_ms > 0) return error.retry_after_ms;
    bool const waits = about.http == 429 || (about.http == 503 && about.next == Next::retry);
    return waits ? 1'000 : 0;
}

// A prompt with `reopen` reopens a completed session.
Next next_of(Error const& error, CodeInfo const& about) {
    json::View const extra(error.extra);
    // A retry does not repair data on disk.
    if (error.code == Code::internal && extra["unreadable"].boolean_or(false)) return Next::stop;
    bool const reopens = error.code == Code::wrong_state &&
                         extra["from"].string_or("") == "completed" &&
                         extra["move"].string_or("") == "prompt";
    return reopens ? Next::reopen : about.next;
}

}  // namespace

namespace {

// Problems are logged: the capability in the path must not be.
std::string shown_path(HttpRequest const& request) {
    return request.path.starts_with("/c/") ? "/c/…" : request.path;
}

}  // namespace

HttpReply problem_reply(Error const& error, HttpRequest const& request) {
    CodeInfo const& about = info(error.code);
    std::int64_t const wait = retry_after_ms(error, about);
    json::Writer out;
    out.begin_object()
        .member("type", "/errors/" + std::string(about.text))
        .member("title", about.title);
    out.member("status", static_cast<int>(about.http)).member("code", about.text);
    out.member("detail", error.detail.empty() ? std::string(about.title) : error.detail);
    out.member("instance", shown_path(request)).member("next", text(next_of(error, about)));
    out.member("retryAfter", wait > 0 ? std::optional(wait) : std::nullopt)
        .member("requestID", request.id);
    json::View(error.extra).members([&](std::string_view name, json::View value) {
        out.member_raw(name, value.raw());
    });
    HttpReply reply;
    reply.status = about.http;
    reply.content_type = "application/problem+json";
    reply.body = out.end_object().take();
    if (wait > 0) reply.headers.emplace_back("Retry-After", std::to_string((wait + 999) / 1000));
    if (about.http == 401)
        reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"dormouse\"");
    return reply;
}

}  // namespace dormouse::http
