#include "http/transport/target.h"

#include "base/text/chars.h"
#include "base/text/text.h"
#include "base/url.h"

#include <boost/beast/core/string.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace dormouse::http {

namespace {

std::unexpected<Error> bad_target(std::string detail) {
    return fail(Code::bad_value, std::move(detail));
}

// `part`: "path" or "query", for the error.
Result<std::string> decode(std::string_view text, Plus plus, std::string const& part) {
    auto out = percent_decode(text, plus);
    if (!out) return bad_target("the " + part + " has a bad percent-escape");
    if (!valid_utf8(*out)) return bad_target("the " + part + " is not UTF-8");
    if (out->contains('\0')) return bad_target("the " + part + " has a zero byte");
    return *std::move(out);
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool clean_target(std::string_view target) {
    return std::ranges::none_of(target, [](char c) {
        return static_cast<unsigned char>(c) > 0x7e || is_control(c) || c == ' ' || c == '#' ||
               c == '\\';
    });
}

Result<void> read_path(std::string_view path, HttpRequest& request) {
    request.path.clear();
    request.segments.clear();
    if (path == "/") {
        request.path = "/";
        return {};
    }
    while (!path.empty()) {
        path.remove_prefix(1);  // the '/' before each segment
        auto const end = std::min(path.find('/'), path.size());
        auto segment = decode(path.substr(0, end), Plus::itself, "path");
        if (!segment) return std::unexpected(segment.error());
        if (std::ranges::any_of(*segment, is_control))
            return bad_target("the path has a control character");
        // Refused: a proxy that resolves them would see another path.
        if (*segment == "." || *segment == "..")
            return bad_target("the path has a '.' or '..' segment");
        request.path += '/';
        request.path += *segment;
        request.segments.push_back(std::move(*segment));
        path.remove_prefix(end);
    }
    return {};
}

Result<void> read_query(std::string_view query, HttpRequest& request) {
    request.query.clear();
    while (!query.empty()) {
        auto const end = std::min(query.find('&'), query.size());
        auto const pair = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (pair.empty()) continue;
        auto const equals = std::min(pair.find('='), pair.size());
        auto name = decode(pair.substr(0, equals), Plus::space, "query");
        auto value = decode(pair.substr(std::min(equals + 1, pair.size())), Plus::space, "query");
        if (!name) return std::unexpected(name.error());
        if (!value) return std::unexpected(value.error());
        request.query.emplace_back(std::move(*name), std::move(*value));
    }
    return {};
}

// Returns what follows the authority of an absolute target ("http://host:1/x" → "/x"), which
// proxies may send.
Result<std::string_view> strip_authority(std::string_view target, std::string_view host) {
    namespace beast = boost::beast;
    auto const url = split_url(target);
    if (!url || !(beast::iequals(url->scheme, "http") || beast::iequals(url->scheme, "https")))
        return bad_target("the request target must begin with '/'");
    if (host.empty() || !beast::iequals(url->authority, host))
        return bad_target("the request target names another host than the Host header");
    return url->target;
}

}  // namespace

bool valid_host(std::string_view host) {
    if (host.empty() || host.size() > 300) return false;
    return is_made_of(host, ".-_:[]");
}

Result<void> read_target(std::string_view target, std::string_view host, HttpRequest& request) {
    if (!clean_target(target))
        return bad_target("the request target contains an invalid character");
    if (target == "*") {  // OPTIONS *: the server as a whole
        request.path = "*";
        return {};
    }
    if (!target.starts_with('/')) {
        auto const rest = strip_authority(target, host);
        if (!rest) return std::unexpected(rest.error());
        target = *rest;
    }
    auto const mark = std::min(target.find('?'), target.size());
    auto const path = mark == 0 ? std::string_view("/") : target.substr(0, mark);
    if (auto read = read_path(path, request); !read) return read;
    return read_query(target.substr(std::min(mark + 1, target.size())), request);
}

}  // namespace dormouse::http
