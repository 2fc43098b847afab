#include "config/values.h"

#include "base/text/chars.h"
#include "base/text/text.h"
#include "base/url.h"
#include "json/json.h"

#include <algorithm>
#include <utility>

namespace dormouse::config {

namespace {

// HOST, HOST:PORT, [::1]:PORT
bool is_host(std::string_view text) {
    auto const url = parse_url("http://" + std::string(text));
    return url && url->target.empty();
}

bool is_url(std::string_view text) {
    return parse_url(text) && !text.contains('?') && !text.ends_with('/');
}

bool is_issuer(std::string_view text) {
    auto const url = parse_url(text);
    return url && !text.contains('?') && (url->secure || url->is_loopback());
}

bool is_origin(std::string_view text) {
    auto const url = parse_url(text);
    return url && url->target.empty();
}

// An IPv4 or IPv6 address, optionally with a number of bits; the server parses it exactly.
bool is_network(std::string_view text) {
    auto const slash = std::min(text.find('/'), text.size());
    std::string_view const address = text.substr(0, slash);
    bool const v6 = address.contains(':');
    bool const plain = std::ranges::all_of(
        address, [](char c) { return is_hex_digit(c) || c == ':' || c == '.'; });
    if (!plain || (!v6 && std::ranges::count(address, '.') != 3)) return false;
    if (slash == text.size()) return true;
    auto const bits = parse_number(text.substr(slash + 1));
    return bits && *bits <= (v6 ? 128U : 32U);
}

bool is_pointer(std::string_view text) {
    if (!text.empty() && text.front() != '/') return false;
    for (std::size_t at = text.find('~'); at != std::string_view::npos;
         at = text.find('~', at + 1)) {
        auto const next = text.substr(at + 1, 1);
        if (next != "0" && next != "1") return false;
    }
    return true;
}

// name@host, of visible ASCII: what mail servers take without quoting.
bool is_email(std::string_view text) {
    auto const at = text.find('@');
    if (at == 0 || at == text.npos || text.find('@', at + 1) != text.npos) return false;
    return is_made_of(text.substr(0, at), ".!#$%&'*+/=?^_`{|}~-") && is_host(text.substr(at + 1)) &&
           !text.substr(at).contains(':');
}

// Returns true if the text may be the `sub` of a VAPID token (RFC 8292, section 2.1).
bool is_contact(std::string_view text) {
    constexpr std::string_view mail = "mailto:";
    if (text.starts_with(mail)) return is_email(text.substr(mail.size()));
    return text.starts_with("https://") && is_url(text);
}

// Returns true if the URL of a database contains a password: before the host, or as a parameter,
// whose name may be percent-encoded.
bool has_password(std::string_view url) {
    auto const query = std::min(url.find('?'), url.size());
    auto rest = url.substr(0, query);
    rest.remove_prefix(std::min(rest.find("//") + 2, rest.size()));
    auto const at = rest.rfind('@');
    if (at != std::string_view::npos && rest.substr(0, at).contains(':')) return true;
    auto parameters = url.substr(query);
    while (!parameters.empty()) {
        parameters.remove_prefix(1);
        auto const end = std::min(parameters.find('&'), parameters.size());
        auto const name = parameters.substr(0, std::min(parameters.find('='), end));
        if (name.contains("password") || name.contains('%')) return true;
        parameters.remove_prefix(end);
    }
    return false;
}

bool is_store(std::string_view text) {
    if (text == "sqlite" || text == "memory") return true;
    bool const database = text.starts_with("postgres://") || text.starts_with("postgresql://");
    return database && !has_password(text);
}

// The layer that uses the address checks whether it can be read. Text before an @ may be a
// password.
bool is_redis(std::string_view text) {
    bool const address = text.starts_with("redis://") || text.starts_with("redis+unix://");
    return address && !text.contains('@');
}

bool fits(Form form, std::string_view text) {
    switch (form) {
        case Form::id: return !text.empty() && is_made_of(text, "_.-");
        case Form::tool: return !text.empty() && is_made_of(text, "_-");
        case Form::pattern: return !text.empty() && is_made_of(text, "_-*:/.");
        case Form::address: return parse_listen_address(text).has_value();
        case Form::url: return is_url(text);
        case Form::store: return is_store(text);
        case Form::index: return text == "files" || is_redis(text);
        case Form::redis: return is_redis(text);
        case Form::issuer: return is_issuer(text);
        case Form::template_url: return wrong_url(text).empty();
        case Form::origin: return is_origin(text);
        case Form::host: return is_host(text);
        case Form::pointer: return is_pointer(text);
        case Form::variable:
        case Form::variables: return is_variable_name(text);
        case Form::network: return is_network(text);
        case Form::email: return is_email(text);
        case Form::contact: return is_contact(text);
        case Form::currency: return text.size() == 3 && std::ranges::all_of(text, is_upper_letter);
        case Form::any:
        case Form::file: return !text.contains('\0');
    }
    return true;
}

std::string_view advice(Form form) {
    switch (form) {
        case Form::id: return "use letters, digits and _ . - only";
        case Form::tool: return "use letters, digits and _ - only: models take no other names";
        case Form::pattern: return "use letters, digits and _ - and * for any text";
        case Form::address: return "write HOST:PORT, for example \"127.0.0.1:3676\"";
        case Form::url:
            return "write a URL without a slash at its end, for example \"https://dm.example.org\"";
        case Form::store:
            return "write sqlite, memory or postgres://USER@HOST:PORT/DATABASE?schema=NAME; a "
                   "password is in the file that PGPASSFILE names, or the whole URL in the "
                   "variable that url_env names";
        case Form::index:
            return "write files, redis://HOST:PORT/DATABASE or redis+unix:///PATH (rediss:// is "
                   "not supported: use a Unix socket or a tunnel such as stunnel on this machine); "
                   "an address with a password is in the variable that index_url_env names";
        case Form::redis:
            return "write redis://HOST:PORT or redis+unix:///PATH (rediss:// is not supported: use "
                   "a Unix socket or a tunnel such as stunnel on this machine); an address with a "
                   "password is in the variable that signal_url_env names";
        case Form::issuer:
            return "write an https URL without a query, for example \"https://id.example.org\"; "
                   "http only on this machine";
        case Form::template_url: return "write a URL, for example \"https://example.org/jobs\"";
        case Form::origin:
            return "write scheme, host and port, for example \"https://app.example.org\"";
        case Form::host:
            return "write a host and perhaps a port, for example \"dm.example.org:8443\"";
        case Form::pointer:
            return "write a JSON pointer, for example \"/id\" (~0 is ~ and ~1 is / in it)";
        case Form::variable:
        case Form::variables:
            return "name a variable of the environment, for example \"GH_TOKEN\", not its value";
        case Form::network: return "write an IP address or a network, for example \"10.0.0.0/8\"";
        case Form::email: return "write an e-mail address, for example \"alice@example.org\"";
        case Form::currency: return "write its code of three capital letters, for example \"EUR\"";
        case Form::contact:
            return "write \"mailto:\" and an address, for example \"mailto:ops@example.org\", or "
                   "an https URL";
        case Form::any:
        case Form::file: return "leave out the zero byte";
    }
    return "";
}

}  // namespace

std::optional<std::string> misfit(Form form, std::string_view text) {
    if (fits(form, text)) return std::nullopt;
    return std::string(advice(form));
}

bool matches(std::string_view pattern, std::string_view name) {
    std::size_t p = 0, n = 0;
    std::optional<std::size_t> star;  // the last one found, and how much it matches so far
    std::size_t taken = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = n;
        } else if (p < pattern.size() && pattern[p] == name[n]) {
            ++p;
            ++n;
        } else if (star) {
            p = *star + 1;
            n = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace dormouse::config
