#include "store/redis/address.h"

#include "base/url.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace dormouse::store::redis {

namespace {

constexpr std::string_view tcp = "redis://";
constexpr std::string_view unix_socket = "redis+unix://";
constexpr std::uint32_t database_max = 65'535;

std::unexpected<Error> wrong(std::string const& todo) {
    return fail(Code::bad_value, "the address of Redis " + todo);
}

template <class Number> bool read_number(std::string_view text, Number& out) {
    auto const [at, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && at == text.data() + text.size();
}

// Takes what follows the last or first `mark` off the text.
std::optional<std::string_view> take_after(std::string_view& text, char mark) {
    auto const at = text.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    auto const rest = text.substr(at + 1);
    text = text.substr(0, at);
    return rest;
}

Result<void> read_parameters(std::string_view text, Address& out) {
    while (!text.empty()) {
        auto rest = take_after(text, '&');
        auto const value = take_after(text, '=').value_or("");
        auto const plain = percent_decode(value);
        if (text == "prefix" && plain && plain->size() <= 100)
            out.prefix = *plain;
        else if (text != "db" || !read_number(value, out.database))
            return wrong("takes ?prefix=TEXT (100 bytes) and, of a socket, db=N");
        text = rest.value_or("");
    }
    return out.database <= database_max ? Result<void>() : wrong("names no database");
}

Result<void> read_user(std::string_view text, Address& out) {
    auto const password = take_after(text, ':');
    auto const user = percent_decode(text);
    auto const secret = percent_decode(password.value_or(""));
    if (!user || !secret || secret->empty()) return wrong("needs USER:PASSWORD before the @");
    out.user = *user;
    out.password = *secret;
    return {};
}

Result<void> read_host(std::string_view text, Address& out) {
    std::string_view port;
    if (text.starts_with('[')) {
        auto const rest = take_after(text, ']');
        text.remove_prefix(1);
        bool const good = rest && (rest->empty() || rest->starts_with(':'));
        if (!good) return wrong("has a malformed host");
        port = rest->empty() ? "" : rest->substr(1);
    } else {
        port = take_after(text, ':').value_or("");
    }
    out.host = text;
    if (out.host.empty()) return wrong("needs a host: redis://HOST:PORT");
    if (!port.empty() && !read_number(port, out.port)) return wrong("has a malformed port");
    return {};
}

Result<Address> read_socket(std::string_view path) {
    Address out;
    auto const parameters = take_after(path, '?').value_or("");
    if (!path.starts_with('/'))
        return wrong("needs an absolute path: redis+unix:///run/redis.sock");
    out.socket = path;
    if (auto read = read_parameters(parameters, out); !read) return std::unexpected(read.error());
    return out;
}

}  // namespace

Result<Address> parse_address(std::string_view url) {
    if (url.contains('\0')) return wrong("must not have a zero byte");
    if (url.starts_with("rediss://"))
        return wrong(
            "must not be rediss://: this release has no TLS to Redis; use a Unix socket "
            "(redis+unix:///PATH) or a tunnel such as stunnel on this machine");
    if (url.starts_with(unix_socket)) return read_socket(url.substr(unix_socket.size()));
    if (!url.starts_with(tcp)) return wrong("must be redis://HOST:PORT or redis+unix:///PATH");
    url.remove_prefix(tcp.size());
    Address out;
    auto const parameters = take_after(url, '?').value_or("");
    auto const database = take_after(url, '/').value_or("");
    if (!database.empty() && !read_number(database, out.database))
        return wrong("has a malformed database: redis://HOST:PORT/0");
    if (auto const at = url.rfind('@'); at != std::string_view::npos) {
        if (auto read = read_user(url.substr(0, at), out); !read)
            return std::unexpected(read.error());
        url.remove_prefix(at + 1);
    }
    if (auto read = read_host(url, out); !read) return std::unexpected(read.error());
    if (auto read = read_parameters(parameters, out); !read) return std::unexpected(read.error());
    return out;
}

std::string shown(Address const& address) {
    if (!address.socket.empty()) return std::string(unix_socket) + address.socket;
    bool const v6 = address.host.contains(':');
    return std::string(tcp) + (v6 ? "[" + address.host + "]" : address.host) + ":" +
           std::to_string(address.port) + "/" + std::to_string(address.database);
}

}  // namespace dormouse::store::redis
