#pragma once
// HTTP/1.1 requests (RFC 9112), byte by byte or all at once. Boost.Beast reads the syntax; what it
// takes in good faith and another server could read otherwise (request smuggling) is refused here.

#include <dormouse/error.h>

#include "http/transport/http.h"

#include <cstddef>
#include <memory>
#include <string_view>

namespace dormouse::server {

// Reads one request; begin the next with a new parser.
class RequestParser {
public:
    enum class Stage : std::uint8_t {
        head,      // not all of the head has come
        body,      // the head has come, the body not yet
        complete,  // request() is whole
    };
    static constexpr std::size_t headers_max = 100;

    explicit RequestParser(std::size_t header_bytes_max);
    ~RequestParser();
    RequestParser(RequestParser&&) noexcept;
    RequestParser& operator=(RequestParser&&) noexcept;

    // Takes bytes from the front of `input` and returns how many; the others have to be offered
    // again, with more behind them. Never reads across the end of the head or of the request: look
    // at stage() and call again. Errors end the connection: headers_too_large, too_large (body),
    // bad_value.
    [[nodiscard]] Result<std::size_t> feed(std::string_view input);

    [[nodiscard]] Stage stage() const;

    // From Stage::body on. The body is whole at Stage::complete.
    [[nodiscard]] HttpRequest& request();
    // What it has in memory of the request, in bytes.
    [[nodiscard]] std::size_t held_bytes() const;
    [[nodiscard]] bool head_only() const;  // HEAD, which request() shows as GET
    [[nodiscard]] bool keep_alive() const;
    [[nodiscard]] bool http_1_0() const;
    [[nodiscard]] bool expects_continue() const;
    // REQUIRES: Stage::body. Errors: too_large, when the head announces more already.
    [[nodiscard]] Result<void> limit_body(std::size_t bytes);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace dormouse::server
