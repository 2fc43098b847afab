#include "http/transport/request_parser.h"

#include "base/check.h"
#include "base/text/chars.h"
#include "base/text/text.h"
#include "http/transport/target.h"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace dormouse::http {

namespace {

namespace beast_http = boost::beast::http;
using boost::beast::iequals;
using boost::beast::string_view;
using boost::system::error_code;

std::string_view plain(string_view text) { return {text.data(), text.size()}; }

// Headers on which a decision depends: if there were two, this server and a proxy might use
// different ones.
bool must_be_single(beast_http::field field) {
    switch (field) {
        case beast_http::field::host:
        case beast_http::field::content_length:
        case beast_http::field::transfer_encoding:
        case beast_http::field::authorization:
        case beast_http::field::content_type:
        case beast_http::field::origin:
        case beast_http::field::expect: return true;
        default: return false;
    }
}

std::unexpected<Error> bad(std::string detail) { return fail(Code::bad_value, std::move(detail)); }

}  // namespace

struct RequestParser::Impl final : beast_http::basic_parser<true> {
    explicit Impl(std::size_t header_bytes_max_) : header_bytes_max(header_bytes_max_) {
        header_limit(static_cast<std::uint32_t>(header_bytes_max + 1));
        body_limit(boost::none);  // set by limit_body(), when the route is known
    }

    Result<std::size_t> feed_head(std::string_view input);
    Result<std::size_t> feed_body(std::string_view input);
    Result<void> check_head();
    Result<std::size_t> put_checked(std::string_view input);
    [[nodiscard]] bool long_chunk_size(std::string_view input) const;
    [[nodiscard]] bool part_of_last_chunk(std::string_view input) const;

    void on_request_impl(beast_http::verb, string_view method, string_view target_, int version_,
                         error_code&) override {
        head_only = method == "HEAD";
        request.method = head_only ? "GET" : plain(method);
        target = plain(target_);
        version = version_;
    }

    void on_field_impl(beast_http::field field, string_view name, string_view value,
                       error_code& error) override {
        // Trailers arrive here too; no handler uses them, and they must not count as headers.
        if (head_done) return;
        if (request.headers.size() >= headers_max) error = beast_http::error::header_limit;
        if (must_be_single(field)) note_single(field, plain(value));
        request.headers.emplace_back(lower_case(plain(name)), plain(value));
    }

    void note_single(beast_http::field field, std::string_view value) {
        auto const seen = std::ranges::any_of(singles, [field](auto f) { return f == field; });
        if (seen)
            repeated = true;
        else
            singles[singles_count++] = field;
        if (field == beast_http::field::content_length) {
            plain_length = !value.empty() && std::ranges::all_of(value, dormouse::is_digit);
        }
        if (field == beast_http::field::transfer_encoding) {
            transfer_encoding = true;
            only_chunked = iequals(string_view(value.data(), value.size()), "chunked");
        }
        if (field == beast_http::field::expect) {
            expects_continue = iequals(string_view(value.data(), value.size()), "100-continue");
            expects_other = !expects_continue;
        }
    }

    void on_header_impl(error_code&) override { head_done = true; }
    void on_body_init_impl(boost::optional<std::uint64_t> const& length, error_code&) override {
        request.body.reserve(
            static_cast<std::size_t>(std::min<std::uint64_t>(length.value_or(0), 64 * 1024)));
    }
    std::size_t on_body_impl(string_view bytes, error_code&) override {
        request.body.append(bytes.data(), bytes.size());
        return bytes.size();
    }
    void on_chunk_header_impl(std::uint64_t size, string_view extensions,
                              error_code& error) override {
        // No client uses extensions, and servers disagree on where they end (CVE-2025-55315).
        if (!extensions.empty()) error = beast_http::error::bad_chunk_extension;
        chunk_left = size;
        first_chunk = false;
        last_chunk = size == 0;
    }
    std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code&) override {
        request.body.append(bytes.data(), bytes.size());
        chunk_left -= bytes.size();
        return bytes.size();
    }
    void on_finish_impl(error_code&) override {}
    void on_response_impl(int, string_view, int, error_code&) override {}

    std::size_t const header_bytes_max;
    HttpRequest request;
    std::string target;
    std::size_t head_bytes = 0;
    std::size_t searched = 0;  // no end of the head before this offset
    std::uint64_t chunk_left = 0;
    int version = 11;
    std::array<beast_http::field, 8> singles{};
    std::size_t singles_count = 0;
    bool head_done = false;
    bool first_chunk = true;
    bool last_chunk = false;  // its size has been read
    bool head_only = false;
    bool repeated = false;
    bool plain_length = true;
    bool transfer_encoding = false;
    bool only_chunked = false;
    bool expects_continue = false;
    bool expects_other = false;
};

Result<std::size_t> RequestParser::Impl::put_checked(std::string_view input) {
    error_code error;
    auto const taken = put(boost::asio::const_buffer(input.data(), input.size()), error);
    if (!error || error == beast_http::error::need_more) return taken;
    if (error == beast_http::error::header_limit) {
        return fail(Code::headers_too_large, "the request has too many headers");
    }
    if (error == beast_http::error::body_limit) {
        return fail(Code::too_large, "the request body is longer than this route takes");
    }
    return bad("not a valid HTTP/1.1 request: " + error.message());
}

// Passes the head to Beast in one piece, so that the search for its end stays linear, however small
// the pieces are.
Result<std::size_t> RequestParser::Impl::feed_head(std::string_view input) {
    std::size_t skipped = 0;
    // RFC 9112 §2.2: skip an empty line before the request line.
    if (input.starts_with("\r\n")) skipped = 2;
    auto const head = input.substr(skipped);
    auto const end = head.find("\r\n\r\n", searched);
    if ((end == std::string_view::npos ? head.size() : end + 4) > header_bytes_max) {
        return fail(Code::headers_too_large, "the head of the request is longer than " +
                                                 std::to_string(header_bytes_max) + " bytes");
    }
    if (end == std::string_view::npos) {
        searched = head.size() < 3 ? 0 : head.size() - 3;
        return 0;
    }
    // A folded line (RFC 9112 §5.2): Beast would unfold it, other servers take it as another
    // header.
    auto const lines = head.substr(0, end);
    if (lines.find("\n ") != std::string_view::npos ||
        lines.find("\n\t") != std::string_view::npos) {
        return bad("the request has a folded header line, which is not supported");
    }
    auto const taken = put_checked(head.substr(0, end + 4));
    if (!taken) return taken;
    head_bytes = *taken;
    if (!head_done) return bad("the request has a line that does not end in CRLF");
    if (auto checked = check_head(); !checked) return std::unexpected(checked.error());
    return skipped + *taken;
}

Result<void> RequestParser::Impl::check_head() {
    if (repeated) return bad("the request repeats a header that must occur only once");
    if (!plain_length) return bad("Content-Length is not a plain number");
    if (transfer_encoding && (!only_chunked || version < 11)) {
        return bad("the only transfer encoding taken is chunked, in HTTP/1.1");
    }
    if (expects_other) return bad("the only expectation met is 100-continue");
    auto const host = request.header("host");
    if (host.empty() ? version >= 11 : !valid_host(host))
        return bad("the Host header is missing or bad");
    return read_target(target, host, request);
}

// RFC 9112 §7.1 allows any number of leading zeros; 16 digits hold every possible size.
bool RequestParser::Impl::long_chunk_size(std::string_view input) const {
    if (!chunked() || chunk_left > 0) return false;
    if (!first_chunk)
        input.remove_prefix(std::min<std::size_t>(input.size(), 2));  // the CRLF after a chunk
    auto const digits = std::ranges::find_if_not(input, is_hex_digit) - input.begin();
    return digits > 16;
}

// Beast needs the last chunk in one piece: its size of zero, the trailers and the empty line.
bool RequestParser::Impl::part_of_last_chunk(std::string_view input) const {
    if (!chunked() || chunk_left > 0 || last_chunk) return false;
    if (!first_chunk) input.remove_prefix(std::min<std::size_t>(input.size(), 2));
    if (!input.starts_with('0')) return false;
    input.remove_prefix(std::min(input.find_first_not_of('0'), input.size()));
    bool const ends_line = std::string_view("\r\n").starts_with(input.substr(0, 2));
    return ends_line && input.find("\r\n\r\n") == std::string_view::npos;
}

Result<std::size_t> RequestParser::Impl::feed_body(std::string_view input) {
    std::size_t taken = 0;
    while (!is_done() && taken < input.size()) {
        auto const rest = input.substr(taken);
        if (long_chunk_size(rest)) return bad("the size of a chunk has too many digits");
        auto const more = part_of_last_chunk(rest) ? 0 : put_checked(rest);
        if (!more) return more;
        taken += *more;
        if (*more > 0) continue;
        // Unfinished chunk lines and trailers stay in the caller's buffer, up to this limit.
        if (rest.size() > header_bytes_max) {
            return fail(Code::headers_too_large, "the trailers of the request are too long");
        }
        break;
    }
    return taken;
}

RequestParser::RequestParser(std::size_t header_bytes_max)
    : impl_(std::make_unique<Impl>(header_bytes_max)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

Result<std::size_t> RequestParser::feed(std::string_view input) {
    return stage() == Stage::head ? impl_->feed_head(input) : impl_->feed_body(input);
}

RequestParser::Stage RequestParser::stage() const {
    if (!impl_->head_done) return Stage::head;
    return impl_->is_done() ? Stage::complete : Stage::body;
}

HttpRequest& RequestParser::request() { return impl_->request; }
std::size_t RequestParser::buffered_bytes() const {
    return impl_->head_bytes + impl_->request.body.capacity();
}
bool RequestParser::head_only() const { return impl_->head_only; }
bool RequestParser::http_1_0() const { return impl_->version < 11; }
bool RequestParser::expects_continue() const { return impl_->expects_continue && !http_1_0(); }
bool RequestParser::keep_alive() const { return impl_->keep_alive(); }

Result<void> RequestParser::limit_body(std::size_t bytes) {
    CHECK(stage() == Stage::body);
    impl_->body_limit(bytes);
    auto const announced = impl_->content_length();
    if (announced && *announced > bytes) {
        return fail(Code::too_large, "the request body is longer than the " +
                                         std::to_string(bytes) + " bytes that this route takes");
    }
    return {};
}

}  // namespace dormouse::http
