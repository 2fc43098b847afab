#pragma once
// http and https URLs in parts, and addresses to listen on.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse {

inline constexpr std::size_t url_bytes_max = 2'048;

// An absolute URL. parse_url() accepts the part of RFC 3986 that all parsers read alike, because
// another parser (libcurl) calls what is checked here: at most url_bytes_max bytes of visible
// ASCII, no user, no fragment, no backslash; the host is a name of letters, digits and . - _ or an
// IPv6 address in brackets without a zone; the port is from 1 to 65535.
struct Url {
    bool secure = false;  // https
    std::string host;     // in lower case; an IPv6 address in its brackets
    std::optional<std::uint16_t> port = {};
    std::string target = {};  // path and query as written; may be empty

    [[nodiscard]] std::string authority() const;  // host[:port]
    [[nodiscard]] std::string origin() const;     // scheme://host[:port]
    [[nodiscard]] bool is_loopback() const;
};

// The error says what is wrong: "must name a host".
[[nodiscard]] std::expected<Url, std::string_view> parse_url(std::string_view text);
// The error of parse_url(); empty: none.
[[nodiscard]] std::string_view wrong_url(std::string_view text);

// "SCHEME://AUTHORITY" and the rest, of any scheme; what they contain is not checked.
struct UrlParts {
    std::string_view scheme;     // as written
    std::string_view authority;  // user, host and port; may be empty
    std::string_view target;     // path, query and fragment; may be empty
};
// nullopt: `text` does not begin with a scheme (RFC 3986, 3.1) and "://".
[[nodiscard]] std::optional<UrlParts> split_url(std::string_view text);

// RFC 3986, unreserved: letters, digits and - . _ ~
[[nodiscard]] bool is_unreserved(char c);
// Encodes a path segment or query value: every reserved byte that is not in `keep` becomes %XX.
[[nodiscard]] std::string percent_encode(std::string_view text, std::string_view keep = {});

// '+' means a space in queries and forms (URL Standard, application/x-www-form-urlencoded) and
// itself in paths.
enum class Plus : bool { itself, space };
// The bytes, possibly not UTF-8. nullopt: a '%' without two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text,
                                                        Plus plus = Plus::itself);

struct ListenAddress {
    std::string host;  // without brackets
    std::uint16_t port = 0;
    bool loopback = false;
    friend bool operator==(ListenAddress const&, ListenAddress const&) = default;
};

// "127.0.0.1:3676", "[::1]:0", "localhost:80"; nullopt: any other form.
[[nodiscard]] std::optional<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace dormouse
