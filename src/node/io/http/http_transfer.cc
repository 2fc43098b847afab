#include "io/http/http_transfer.h"

#include "base/address.h"
#include "base/check.h"
#include "base/text/chars.h"
#include "base/text/names.h"
#include "base/text/text.h"
#include "io/http/http_transfers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

namespace dormouse::io {

using port::HttpFailure;
using Kind = HttpFailure::Kind;

namespace {

constexpr std::size_t head_max = 64U << 10U;

bool one_line(std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

// Returns true if the request has its own header instead of the one that libcurl would add.
bool has_header(port::HttpRequest const& request, std::string_view name) {
    return port::HttpHead{0, request.headers}.header(name).has_value();
}

std::optional<HttpFailure> refuse(port::HttpRequest const& request) {
    auto const bad = [](std::string reason) {
        return HttpFailure{Kind::bad_request, std::move(reason), false};
    };
    if (!request.url.starts_with("http://") && !request.url.starts_with("https://"))
        return bad("the URL must begin with http:// or https://");
    if (!one_line(request.url)) return bad("the URL contains a line break");
    if (!is_http_token(request.method)) return bad("the method is invalid");
    for (port::HttpHeader const& header : request.headers) {
        if (!is_http_token(header.name)) return bad("a header name is invalid");
        if (!one_line(header.value)) return bad("the header " + header.name + " has a line break");
    }
    return std::nullopt;
}

// The host of a URL that libcurl can parse; otherwise empty.
std::string host_of(std::string const& url) {
    std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> const parsed(curl_url(), curl_url_cleanup);
    char* host = nullptr;
    if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
        curl_url_get(parsed.get(), CURLUPART_HOST, &host, 0) != CURLUE_OK)
        return {};
    std::unique_ptr<char, decltype(&curl_free)> const owned(host, curl_free);
    return host;
}

Kind kind_of(CURLcode code) {
    switch (code) {
        case CURLE_URL_MALFORMAT: return Kind::bad_request;
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
        case CURLE_COULDNT_CONNECT: return Kind::no_route;
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_CIPHER:
        case CURLE_SSL_CERTPROBLEM: return Kind::tls;
        default: return Kind::lost;
    }
}

long milliseconds(Duration limit) {
    return static_cast<long>(std::clamp<std::int64_t>(limit.count(), 0, 1'000'000'000));
}

}  // namespace

HttpTransfer::HttpTransfer(port::HttpRequest request, HttpClientOptions const& options, Sink sink)
    : request_(std::move(request)), sink_(std::move(sink)), broken_(refuse(request_)) {
    if (broken_) return;
    easy_.reset(curl_easy_init());
    CHECK(easy_ != nullptr);
    set_up(options);
    set_headers();
    set_limits();
}

void HttpTransfer::set_up(HttpClientOptions const& options) {
    CURL* const easy = easy_.get();
    curl_easy_setopt(easy, CURLOPT_URL, request_.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    // A thread of its own blocks signals; otherwise libcurl must ignore SIGPIPE while it writes.
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, options.own_thread ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    // Otherwise the end of the client waits for a name that is being resolved.
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_.data());
    curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
    if (!options.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, options.ca_file.c_str());
    if (!options.ca_folder.empty())
        curl_easy_setopt(easy, CURLOPT_CAPATH, options.ca_folder.c_str());
    if (!options.proxies || is_loopback(host_of(request_.url)))
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    if (request_.public_only) keep_public();
    if (request_.redirects_max > 0) {
        curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
        curl_easy_setopt(easy, CURLOPT_MAXREDIRS, static_cast<long>(request_.redirects_max));
    }
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &HttpTransfer::on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &HttpTransfer::on_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, &HttpTransfer::on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, this);
}

// Called for each address that is tried, after name resolution: the address cannot change in
// between.
curl_socket_t HttpTransfer::on_socket(void* self, curlsocktype /*purpose*/,
                                      curl_sockaddr* address) {
    auto& transfer = *static_cast<HttpTransfer*>(self);
    std::optional<Address> to;
    if (address->family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &address->addr, sizeof v4);
        std::array<std::uint8_t, 4> bytes{};
        std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
        to = ipv4_address(bytes);
    } else if (address->family == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, &address->addr, sizeof v6);
        to.emplace();
        std::memcpy(to->data(), &v6.sin6_addr, to->size());
    }
    if (!to || !is_public(*to)) {
        transfer.forbidden_ = true;
        return CURL_SOCKET_BAD;
    }
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

void HttpTransfer::keep_public() {
    CURL* const easy = easy_.get();
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &HttpTransfer::on_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
    // A proxy would resolve the name itself; a kept connection was opened for another request.
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
}

void HttpTransfer::set_headers() {
    CURL* const easy = easy_.get();
    bool const has_body = !request_.body.empty() || request_.method == "POST" ||
                          request_.method == "PUT" || request_.method == "PATCH";
    if (request_.method == "HEAD") {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (has_body) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         static_cast<curl_off_t>(request_.body.size()));
        if (!request_.send_once) curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request_.body.data());
    }
    // libcurl resends only what it can rewind: not a body that it reads here.
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, &HttpTransfer::on_read);
    curl_easy_setopt(easy, CURLOPT_READDATA, this);
    bool const fresh = request_.public_only || (request_.send_once && request_.body.empty());
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request_.method.c_str());

    auto const add = [this](std::string const& line) {
        curl_slist* const longer = curl_slist_append(headers_.get(), line.c_str());
        CHECK(longer != nullptr);
        static_cast<void>(headers_.release());
        headers_.reset(longer);
    };
    // For libcurl, a name with only a colon removes a header; with a semicolon, it sends an empty
    // one.
    for (port::HttpHeader const& header : request_.headers)
        add(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
    for (std::string const name : {"Expect", "Content-Type"}) {
        if (!has_header(request_, name)) add(name + ":");
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_.get());
}

void HttpTransfer::set_limits() {
    // Zero means libcurl's default of 300 s: use a day, so that the total limit decides.
    bool const connects_within = request_.connect_limit > Duration(0);
    curl_easy_setopt(easy_.get(), CURLOPT_CONNECTTIMEOUT_MS,
                     milliseconds(connects_within ? request_.connect_limit : Duration(86'400'000)));
    curl_easy_setopt(easy_.get(), CURLOPT_TIMEOUT_MS, milliseconds(request_.total_limit));
}

HttpTransfer::Instant HttpTransfer::idle_end() const {
    if (request_.idle_limit <= Duration(0)) return Instant::max();
    return last_moved_ + request_.idle_limit;
}

bool HttpTransfer::sent() const {
    long bytes = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_REQUEST_SIZE, &bytes);
    return bytes > 0;
}

HttpFailure HttpTransfer::idled() const {
    return {Kind::timed_out,
            "nothing was received for " + std::to_string(request_.idle_limit.count()) + " ms",
            sent()};
}

// libcurl's text; if it only says that it could not connect, the system's reason.
std::string HttpTransfer::reason_of(CURLcode code) const {
    std::string text = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
    long system_error = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &system_error);
    std::string_view const unspecific = curl_easy_strerror(CURLE_COULDNT_CONNECT);
    if (code == CURLE_COULDNT_CONNECT && system_error != 0 && text.ends_with(unspecific)) {
        text.resize(text.size() - unspecific.size());
        text += std::generic_category().message(static_cast<int>(system_error));
    }
    return escape_for_terminal(text);
}

std::optional<HttpFailure> HttpTransfer::failure_of(CURLcode code) const {
    if (code == CURLE_OK) return std::nullopt;
    if (too_large_) {
        return HttpFailure{Kind::too_large,
                           "the answer is larger than " +
                               std::to_string(head_out_ ? request_.response_max : head_max) +
                               " bytes",
                           true};
    }
    if (forbidden_ && !sent())
        return HttpFailure{Kind::forbidden, "the address is not a public one", false};
    std::string const reason = reason_of(code);
    if (code == CURLE_OPERATION_TIMEDOUT) {
        curl_off_t connected = 0;  // 0: never connected
        curl_easy_getinfo(easy_.get(), CURLINFO_PRETRANSFER_TIME_T, &connected);
        return HttpFailure{connected > 0 ? Kind::timed_out : Kind::no_route, reason, sent()};
    }
    return HttpFailure{kind_of(code), reason, sent()};
}

bool HttpTransfer::will_follow() const {
    return request_.redirects_max > 0 && head_.status / 100 == 3 && head_.header("Location");
}

// A line with its line break. Drops lines of interim responses, of followed redirects, and
// trailers.
bool HttpTransfer::take_header(std::string_view line) {
    moved();
    head_bytes_ += line.size();
    too_large_ = head_bytes_ > head_max;
    if (too_large_) return false;
    if (head_out_) return true;
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {
        head_ = {};
        long status = 0;
        curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
        head_.status = static_cast<std::uint16_t>(status);
    } else if (line.empty()) {
        head_out_ = head_.status >= 200 && !will_follow();
        if (head_out_) sink_.head(std::move(head_));
    } else if (auto const colon = line.find(':'); colon != std::string_view::npos) {
        auto value = line.substr(colon + 1);
        value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
        value = value.substr(0, value.find_last_not_of(" \t") + 1);
        head_.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
    }
    return true;
}

bool HttpTransfer::take_data(std::string_view bytes) {
    moved();
    if (!head_out_) return true;  // of a redirect that is followed
    body_bytes_ += bytes.size();
    too_large_ = body_bytes_ > request_.response_max;
    if (!too_large_) sink_.data(bytes);
    return !too_large_;
}

std::size_t HttpTransfer::on_header(char* bytes, std::size_t, std::size_t size, void* self) {
    return static_cast<HttpTransfer*>(self)->take_header({bytes, size}) ? size : size + 1;
}

std::size_t HttpTransfer::on_data(char* bytes, std::size_t, std::size_t size, void* self) {
    return static_cast<HttpTransfer*>(self)->take_data({bytes, size}) ? size : size + 1;
}

std::size_t HttpTransfer::on_read(char* to, std::size_t, std::size_t size, void* self) {
    auto& transfer = *static_cast<HttpTransfer*>(self);
    std::size_t const taken = transfer.request_.body.copy(to, size, transfer.read_);
    transfer.read_ += taken;
    return taken;
}

int HttpTransfer::on_progress(void* self, curl_off_t, curl_off_t down, curl_off_t, curl_off_t up) {
    auto& transfer = *static_cast<HttpTransfer*>(self);
    if (std::exchange(transfer.progress_, down + up) != down + up) transfer.moved();
    return 0;
}

}  // namespace dormouse::io
