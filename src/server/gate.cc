#include "server/gate.h"

#include "base/sha256.h"

#include <algorithm>

namespace dormouse::server {

namespace {

// What /a/ shows without a token tells nothing.
bool is_open_path(std::string_view path) {
    return path == "/healthz" || path == "/readyz" || path.starts_with("/a/");
}

constexpr std::string_view capability_path = "/c/";

// What a capability is good for, when it comes as a token.
bool takes_capability(HttpRequest const& head) {
    return head.method == "POST" &&
           (head.path == "/async-tool/result" || head.path == "/async-tool/error" ||
            head.path == "/async-tool/progress");
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

std::string_view bearer(HttpRequest const& head) {
    std::string_view const value = head.header("authorization");
    constexpr std::string_view scheme = "bearer ";
    if (value.size() <= scheme.size() || lower(value.substr(0, scheme.size())) != scheme) return {};
    return value.substr(scheme.size());
}

bool has_body(HttpRequest const& head) {
    std::string_view const length = head.header("content-length");
    return (!length.empty() && length != "0") || !head.header("transfer-encoding").empty();
}

bool is_json(std::string_view content_type) {
    std::string const type = lower(content_type.substr(0, content_type.find(';')));
    auto const end = type.find_last_not_of(" \t");
    std::string_view const bare =
        std::string_view(type).substr(0, end == std::string::npos ? 0 : end + 1);
    return bare == "application/json" ||
           (bare.starts_with("application/") && bare.ends_with("+json"));
}

bool is_form(std::string_view content_type) {
    return lower(content_type).starts_with("application/x-www-form-urlencoded");
}

}  // namespace

bool is_webhook(HttpRequest const& head) {
    constexpr std::string_view path = "/async-tool/webhook";
    return head.path == path || head.path.starts_with(std::string(path) + "/");
}

Gate::Gate(GateOptions options, port::Clock const& clock)
    : options_(std::move(options)), capabilities_(options_.capability_key), clock_(clock) {
    for (Token const& token : options_.tokens) secrets_.push_back(sha256(token.secret));
    for (std::string& host : options_.allowed_hosts) host = lower(host);
}

bool Gate::host_allowed(std::string_view host) const {
    std::string const name = lower(host);
    std::string const port = ":" + std::to_string(options_.port);
    for (std::string_view const loopback : {"localhost", "127.0.0.1", "[::1]"}) {
        if (name == std::string(loopback) + port) return true;
        if (options_.port == 80 && name == loopback) return true;
    }
    return std::ranges::find(options_.allowed_hosts, name) != options_.allowed_hosts.end();
}

bool Gate::origin_allowed(std::string_view origin) const {
    if (std::ranges::find(options_.allowed_origins, origin) != options_.allowed_origins.end())
        return true;
    constexpr std::string_view scheme = "http://";
    return origin.starts_with(scheme) && host_allowed(origin.substr(scheme.size()));
}

Token const* Gate::token_of(HttpRequest const& head) const {
    std::string_view const secret = bearer(head);
    if (secret.empty()) return nullptr;
    Sha256 const digest = sha256(secret);
    Token const* found = nullptr;
    for (std::size_t i = 0; i < secrets_.size(); ++i) {
        if (same_digest(secrets_[i], digest)) found = &options_.tokens[i];
    }
    return found;
}

std::optional<Error> Gate::failed_auth(std::string const& address) {
    std::int64_t const second = clock_.monotonic().count() / 1000;
    if (second != failures_second_ || failures_.size() > 10'000) failures_.clear();
    failures_second_ = second;
    if (++failures_[address] > options_.failed_auth_per_address_per_s) {
        return Error{Code::rate_limited, "Too many requests without a valid token.", {}, 1000};
    }
    return Error{Code::unauthenticated,
                 "Send `Authorization: Bearer TOKEN`; the first token stands in the data "
                 "directory's file `token`."};
}

std::optional<Error> Gate::refuse(HttpRequest const& head) {
    if (!host_allowed(head.header("host"))) {
        return Error{Code::wrong_host,
                     "This Host is not served here; add it to allowed_hosts if it should be."};
    }
    if (std::string_view const origin = head.header("origin");
        !origin.empty() && !origin_allowed(origin)) {
        return Error{
            Code::origin_refused,
            "Pages of this origin may not call; add it to allowed_origins if they should."};
    }
    if (is_open_path(head.path)) return std::nullopt;
    if (!is_webhook(head)) {
        if (auto error = refuse_asker(head)) return error;
    }
    bool const form = is_webhook(head) && is_form(head.header("content-type"));
    if (has_body(head) && !form && !is_json(head.header("content-type"))) {
        return Error{Code::unsupported_media_type,
                     "Send the body as `Content-Type: application/json`."};
    }
    return std::nullopt;
}

std::optional<Error> Gate::refuse_asker(HttpRequest const& head) {
    bool const in_path = head.path.starts_with(capability_path);
    if (!in_path && !bearer(head).starts_with(Capabilities::prefix))
        return token_of(head) ? std::nullopt : failed_auth(head.peer_address);
    if (!capability(head)) {
        Error error = *failed_auth(head.peer_address);
        if (in_path && error.code == Code::unauthenticated)
            error = {Code::not_found, "There is nothing with this id."};
        return error;
    }
    if (in_path || takes_capability(head)) return std::nullopt;
    return Error{Code::forbidden,
                 "A capability is for the result, the error and the progress of its own call."};
}

std::optional<PendingId> Gate::capability(HttpRequest const& head) const {
    if (head.path.starts_with(capability_path))
        return capabilities_.check(std::string_view(head.path).substr(capability_path.size()));
    return capabilities_.check(bearer(head));
}

session::Actor Gate::actor(HttpRequest const& head) const {
    if (capability(head)) return {session::ActorType::capability, "callback"};
    Token const* const token = token_of(head);
    if (!token) return {};
    return {session::ActorType::token, token->name};
}

}  // namespace dormouse::server
