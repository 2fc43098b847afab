#include "store/postgres/address.h"

#include "base/text/chars.h"
#include "base/text/text.h"

#include <libpq-fe.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace dormouse::store::postgres {
namespace {

constexpr std::size_t url_max = 4'096;
constexpr std::size_t schema_max = 63;  // PostgreSQL cuts longer names
constexpr std::string_view our_parameter = "schema=";

bool is_name(std::string_view text) {
    auto const fits = [](char c) { return is_lower_letter(c) || is_digit(c) || c == '_'; };
    return !text.empty() && text.size() <= schema_max && !is_digit(text.front()) &&
           std::ranges::all_of(text, fits) && !text.starts_with("pg_");
}

// Removes our parameter from the query of the URL and returns its value.
std::string take_schema(std::string& url) {
    auto const query = url.find('?');
    if (query == std::string::npos) return {};
    std::string schema;
    std::string rest;
    std::string_view left = std::string_view(url).substr(query + 1);
    while (!left.empty()) {
        auto const end = std::min(left.find('&'), left.size());
        auto const one = left.substr(0, end);
        if (one.starts_with(our_parameter))
            schema = one.substr(our_parameter.size());
        else
            rest += (rest.empty() ? "?" : "&") + std::string(one);
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    url.resize(query);
    url += rest;
    return schema;
}

using Options = std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)>;

// Null: libpq does not understand the URL.
Options options_of(std::string const& url) {
    char* why = nullptr;
    Options read(PQconninfoParse(url.c_str(), &why), PQconninfoFree);
    PQfreemem(why);  // it may repeat the password
    return read;
}

// "" if the URL does not have it.
std::string value_of(Options const& options, std::string_view name) {
    for (auto const* one = options.get(); one != nullptr && one->keyword != nullptr; ++one)
        if (one->keyword == name) return one->val == nullptr ? std::string() : one->val;
    return {};
}

// Several hosts have a list of ports; an empty one is the default.
bool are_ports(std::string_view text) {
    while (!text.empty()) {
        auto const end = std::min(text.find(','), text.size());
        auto const one = text.substr(0, end);
        auto const number = parse_number(one);
        if (!one.empty() && (!number || *number < 1 || *number > 65'535)) return false;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return true;
}

// Whether libpq takes a part of the password for something else, because a character in it is not
// percent-encoded: '/' ends the authority, and the first '@' the password.
bool is_torn(std::string const& url, Options const& options) {
    auto const begin = url.find("://") + 3;
    auto const path = std::min(url.find('/', begin), url.size());
    auto const query = std::min(url.find('?', path), url.size());
    bool const in_path = std::string_view(url).substr(path, query - path).contains('@');
    return in_path || value_of(options, "host").contains('@') ||
           !are_ports(value_of(options, "port"));
}

}  // namespace

Result<Address> parse_address(std::string const& url) {
    Address out{url, "dormouse"};
    bool const ours = url.starts_with("postgres://") || url.starts_with("postgresql://");
    bool const asked =
        url.find(std::string("?") + std::string(our_parameter)) != std::string::npos ||
        url.find(std::string("&") + std::string(our_parameter)) != std::string::npos;
    auto const schema = take_schema(out.url);
    auto const options = options_of(out.url);
    if (!ours || url.size() > url_max || url.contains('\0') || !options)
        return fail(Code::bad_value,
                    "The URL of the store is invalid: expected "
                    "postgres://USER@HOST:PORT/DATABASE?schema=NAME, at most 4096 bytes.");
    if (is_torn(out.url, options))
        return fail(Code::bad_value,
                    "The URL of the store is invalid: write / as %2F and @ as %40 in its user and "
                    "password, and a port as a number from 1 to 65535.");
    if (!asked) return out;
    if (!is_name(schema))
        return fail(Code::bad_value,
                    "The schema in the URL of the store must have 1 to 63 of a-z, 0-9 and _, and "
                    "must not begin with a digit or pg_.");
    out.schema = schema;
    return out;
}

std::string shown(Address const& address) {
    auto const options = options_of(address.url);
    auto host = value_of(options, "host");
    if (host.empty()) host = value_of(options, "hostaddr");
    auto const port = value_of(options, "port");
    return "postgres://" + host + (port.empty() ? "" : ":" + port) + "/" +
           value_of(options, "dbname") + "?schema=" + address.schema;
}

}  // namespace dormouse::store::postgres
