#pragma once
// Parses HTTP/1.1 requests (RFC 9112) from pieces of any size. Boost.Beast reads the syntax; the
// parser refuses what Beast accepts but another server could read differently (request smuggling).

#include <dormouse/error.h>

#include "http/transport/http.h"

#include <cstddef>
#include <memory>
#include <string_view>

namespace dormouse::http {

// Reads one request; use a new parser for the next.
class RequestParser {
public:
    enum class Stage : std::uint8_t {
        head,      // the head is incomplete
        body,      // the head is complete, the body is not
        complete,  // request() is whole
    };
    static constexpr std::size_t headers_max = 100;

    explicit RequestParser(std::size_t header_bytes_max);
    ~RequestParser();
    RequestParser(RequestParser&&) noexcept;
    RequestParser& operator=(RequestParser&&) noexcept;

    // Consumes bytes from the front of `input` and returns how many; the caller offers the rest
    // again with more behind it. Stops at the end of the head and of the request: check stage() and
    // call again. Errors end the connection: headers_too_large, too_large (body), bad_value.
    [[nodiscard]] Result<std::size_t> feed(std::string_view input);

    [[nodiscard]] Stage stage() const;

    // Valid from Stage::body on. The body is complete at Stage::complete.
    [[nodiscard]] HttpRequest& request();
    // Returns the bytes of the request held in memory.
    [[nodiscard]] std::size_t buffered_bytes() const;
    [[nodiscard]] bool head_only() const;  // HEAD; request() has the method GET
    [[nodiscard]] bool keep_alive() const;
    [[nodiscard]] bool http_1_0() const;
    [[nodiscard]] bool expects_continue() const;
    // REQUIRES: Stage::body. Errors: too_large, when the head already announces more.
    [[nodiscard]] Result<void> limit_body(std::size_t bytes);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace dormouse::http
