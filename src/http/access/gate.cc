#include "http/access/gate.h"

#include "base/text/append.h"
#include "base/text/split.h"
#include "base/text/text.h"
#include "base/url.h"

#include "http/access/cookies.h"
#include "http/transport/address_count.h"

#include <algorithm>

namespace dormouse::http {

namespace {

constexpr std::string_view capability_path = "/c/";
constexpr std::string_view mail_path = "/sign-in/email";
constexpr std::string_view oidc_path = "/sign-in/oidc";
constexpr std::string_view oidc_back_path = "/sign-in/oidc/callback";
// One source accepts as many bad signatures in a second as this many addresses may send.
constexpr std::uint32_t bad_signatures_of_addresses = 10;
// E-mails with a sign-in link, of one client and to one address.
constexpr std::uint32_t mails_at_once = 5;
constexpr Duration mail_window{600'000};
// Test notifications of one person.
constexpr std::uint32_t tests_at_once = 5;
constexpr Duration test_window{60'000};

// Returns true for the routes that accept a capability as a token.
bool takes_capability(HttpRequest const& head) {
    return head.method == "POST" &&
           (head.path == "/async-tool/result" || head.path == "/async-tool/error" ||
            head.path == "/async-tool/progress");
}

std::string_view bearer(HttpRequest const& head) {
    std::string_view const value = head.header("authorization");
    constexpr std::string_view scheme = "bearer ";
    if (value.size() <= scheme.size() || !is_lower_case_of(scheme, value.substr(0, scheme.size())))
        return {};
    return value.substr(scheme.size());
}

bool is_json(std::string_view content_type) {
    std::string const type = lower_case(content_type.substr(0, content_type.find(';')));
    auto const end = type.find_last_not_of(" \t");
    std::string_view const bare =
        std::string_view(type).substr(0, end == std::string::npos ? 0 : end + 1);
    return bare == "application/json" ||
           (bare.starts_with("application/") && bare.ends_with("+json"));
}

bool is_form(std::string_view content_type) {
    constexpr std::string_view form = "application/x-www-form-urlencoded";
    return is_lower_case_of(form, content_type.substr(0, form.size()));
}

}  // namespace

bool has_body(HttpRequest const& head) {
    std::string_view const length = head.header("content-length");
    return (!length.empty() && length != "0") || !head.header("transfer-encoding").empty();
}

bool is_webhook(HttpRequest const& head) {
    constexpr std::string_view path = "/async-tool/webhook";
    return head.path == path || head.path.starts_with(std::string(path) + "/") || is_press(head);
}

bool is_press(HttpRequest const& head) { return head.path == "/async-tool/slack"; }

bool is_page_form(HttpRequest const& head) {
    if (head.method != "POST") return false;
    // The sign-in is JSON too, which its script sends.
    if (head.path == "/sign-in") return is_form(head.header("content-type"));
    return head.path.starts_with("/a/") || head.path == "/sign-out" || head.path == mail_path;
}

Gate::Gate(GateOptions options, port::Clock const& clock)
    : options_(std::move(options)),
      capabilities_(options_.capability_key),
      tokens_(clock),
      failures_(clock, options_.failed_auth_per_address_per_s),
      by_token_(clock, options_.submissions_per_token_per_s),
      by_call_(clock, options_.submissions_per_call_per_s),
      bad_by_address_(clock, options_.failed_auth_per_address_per_s),
      bad_by_source_(clock, bad_signatures_of_addresses * options_.failed_auth_per_address_per_s),
      mails_(clock, mails_at_once, mail_window),
      sign_ins_(clock, options_.failed_auth_per_address_per_s),
      tests_(clock, tests_at_once, test_window) {
    for (Token& token : options_.tokens) tokens_.add_built_in(token.name, token.secret);
    options_.tokens.clear();  // their digests suffice from here on
    options_.allowed_hosts = lower_cased(std::move(options_.allowed_hosts));
}

void Gate::apply(GateOptions next) {
    options_.allowed_hosts = lower_cased(std::move(next.allowed_hosts));
    options_.allowed_origins = std::move(next.allowed_origins);
    options_.programs = std::move(next.programs);
    std::uint32_t const failures = next.failed_auth_per_address_per_s;
    for (Rate* const rate : {&failures_, &bad_by_address_, &sign_ins_}) rate->set_limit(failures);
    bad_by_source_.set_limit(bad_signatures_of_addresses * failures);
    by_token_.set_limit(next.submissions_per_token_per_s);
    by_call_.set_limit(next.submissions_per_call_per_s);
}

bool Gate::host_allowed(std::string_view host) const {
    std::string const name = lower_case(host);
    std::string const port = ":" + std::to_string(options_.port);
    for (std::string_view const loopback : {"localhost", "127.0.0.1", "[::1]"}) {
        if (name == std::string(loopback) + port) return true;
        if (options_.port == 80 && name == loopback) return true;
    }
    return std::ranges::find(options_.allowed_hosts, name) != options_.allowed_hosts.end();
}

bool Gate::origin_allowed(std::string_view origin, bool secure) const {
    if (std::ranges::find(options_.allowed_origins, origin) != options_.allowed_origins.end())
        return true;
    std::string_view const scheme = secure ? "https://" : "http://";
    return origin.starts_with(scheme) && host_allowed(origin.substr(scheme.size()));
}

std::string Gate::base_url() const {
    if (!options_.public_url.empty()) return options_.public_url;
    return "http://127.0.0.1:" + std::to_string(options_.port);
}

// Returns true if the request comes from a page of this server.
bool Gate::own_origin(HttpRequest const& head) const {
    std::string const origin = lower_case(head.header("origin"));
    std::string const host = lower_case(head.header("host"));
    if (origin == (head.secure ? "https://" : "http://") + host) return true;
    auto const own = parse_url(options_.public_url);
    return own && origin == own->origin();
}

PrincipalPtr Gate::principal(HttpRequest const& head) const {
    if (!head.header("authorization").empty()) return tokens_.find("token", bearer(head));
    return tokens_.find("cookie", read_cookie(head, session_cookie));
}

std::optional<Gate::Unknown> Gate::unknown(HttpRequest const& head) const {
    bool const with_cookie = head.header("authorization").empty();
    Unknown out{with_cookie ? "cookie" : "token",
                std::string(with_cookie ? read_cookie(head, session_cookie) : bearer(head))};
    bool const probe = head.path == "/healthz" || head.path == "/readyz";
    if (probe || out.secret.empty() || out.secret.starts_with(Capabilities::prefix) ||
        tokens_.find(out.kind, out.secret))
        return std::nullopt;
    return out;
}

std::string Gate::form_token(HttpRequest const& head, PendingId const& pending) const {
    PrincipalPtr const who = principal(head);
    if (!who || !who->is_cookie()) return {};
    return hex(hmac_sha256(read_cookie(head, session_cookie), "answer " + pending.text()));
}

bool Gate::failed_too_often(HttpRequest const& head) const {
    return failures_.spent(network_of(head.peer_address));
}

Error Gate::failed_auth(HttpRequest const& head) {
    if (!failures_.take(network_of(head.peer_address))) {
        return Error{Code::rate_limited, "Too many requests without a valid token.", {}, 1000};
    }
    return Error{
        Code::unauthenticated,
        "Send `Authorization: Bearer TOKEN`. The first token is in the file `token` of the "
        "data directory."};
}

std::optional<Error> Gate::refuse_signature(HttpRequest const& head,
                                            std::string const& source) const {
    std::string const network = network_of(head.peer_address);
    bool const flooded = bad_by_source_.spent(source) && bad_by_address_.count(network) > 0;
    if (!flooded && !bad_by_address_.spent(network)) return std::nullopt;
    return Error{Code::rate_limited, "Too many webhooks with a bad signature.", {}, 1000};
}

void Gate::count_bad_signature(HttpRequest const& head, std::string const& source) {
    (void)bad_by_address_.take(network_of(head.peer_address));
    (void)bad_by_source_.take(source);
}

bool Gate::may_sign_in(HttpRequest const& head) {
    return sign_ins_.take(network_of(head.peer_address));
}

std::optional<Error> Gate::refuse_submission(HttpRequest const& head, Principal const* principal,
                                             PendingId const& pending) {
    if (principal && head.peer_is_loopback) return std::nullopt;
    bool const one_too_many =
        (principal && !by_token_.take(principal->row.id)) || !by_call_.take(pending.text());
    if (!one_too_many) return std::nullopt;
    return Error{Code::rate_limited, "Too many outcomes in one second.", {}, 1000};
}

std::optional<Error> Gate::refuse(HttpRequest const& head, bool open) {
    if (!host_allowed(head.header("host"))) {
        return Error{Code::wrong_host,
                     "This Host is not served here; add it to allowed_hosts if it should be."};
    }
    if (std::string_view const origin = head.header("origin");
        !origin.empty() && !origin_allowed(origin, head.secure)) {
        return Error{
            Code::origin_refused,
            "Pages of this origin may not call; add it to allowed_origins if they should."};
    }
    if (head.path == "/healthz" || head.path == "/readyz") return std::nullopt;
    // Without a token `/` and /a/ show how to sign in, and nothing else.
    bool const page = head.path == "/" || head.path.starts_with("/a/");
    open = open || (head.path == "/sign-in" && head.method != "DELETE") ||
           (head.path == mail_path && head.method == "POST") || head.path == "/sign-in/link" ||
           head.path == oidc_path || head.path == oidc_back_path || (page && head.method != "POST");
    if (!open && !is_webhook(head)) {
        if (auto error = refuse_asker(head)) return error;
    }
    bool const form = is_form(head.header("content-type"));
    bool const signs_in = head.path == "/sign-in" || head.path == mail_path;
    if (signs_in && is_page_form(head) && !own_origin(head)) {
        return Error{Code::origin_refused, "Only the page of this server itself may sign in."};
    }
    if (is_page_form(head) && has_body(head) && !form) {
        return Error{Code::unsupported_media_type,
                     "Send the form as `Content-Type: application/x-www-form-urlencoded`."};
    }
    bool const may_be_form = is_page_form(head) || is_webhook(head);
    if (has_body(head) && !(form && may_be_form) && !is_json(head.header("content-type"))) {
        return Error{Code::unsupported_media_type,
                     "Send the body as `Content-Type: application/json`."};
    }
    return std::nullopt;
}

std::optional<Error> Gate::refuse_asker(HttpRequest const& head) {
    bool const in_path = head.path.starts_with(capability_path);
    if (!in_path && !bearer(head).starts_with(Capabilities::prefix)) {
        PrincipalPtr const who = principal(head);
        if (!who) return failed_auth(head);
        // A browser sends the cookie with requests of any page.
        bool const reads = head.method == "GET" || head.method == "HEAD";
        if (!who->is_cookie() || reads || own_origin(head)) return std::nullopt;
        return Error{Code::origin_refused,
                     "With a cookie only pages of this server itself may change something."};
    }
    if (!capability(head)) {
        Error error = failed_auth(head);
        if (in_path && error.code == Code::unauthenticated)
            error = {Code::not_found, "This id was not found."};
        return error;
    }
    if (in_path || takes_capability(head)) return std::nullopt;
    return Error{
        Code::forbidden,
        "A capability allows only the result, the error and the progress of its own call."};
}

std::optional<PendingId> Gate::capability(HttpRequest const& head) const {
    if (head.path.starts_with(capability_path))
        return capabilities_.check(std::string_view(head.path).substr(capability_path.size()));
    return capabilities_.check(bearer(head));
}

session::Actor Gate::actor(HttpRequest const& head) const {
    return actor(head, principal(head).get());
}

session::Actor Gate::actor(HttpRequest const& head, Principal const* principal) const {
    if (capability(head)) return {session::ActorType::capability, "callback"};
    if (!principal) return {};
    return {session::ActorType::token, principal->row.name};
}

}  // namespace dormouse::http
