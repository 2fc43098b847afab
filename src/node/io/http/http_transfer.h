#pragma once
// One request on libcurl. Used by io/http/http_transfers.cc only; no other header names libcurl.

#include "port/http.h"

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::io {

struct HttpClientOptions;

class HttpTransfer {
public:
    using Instant = std::chrono::steady_clock::time_point;
    // Receives what comes.
    struct Sink {
        port::Fn<void(port::HttpHead)> head;
        port::Fn<void(std::string_view)> data;
    };

    HttpTransfer(port::HttpRequest request, HttpClientOptions const& options, Sink sink);

    // Returns why the request cannot be sent at all; nullopt: handle() is ready for a multi handle.
    [[nodiscard]] std::optional<port::HttpFailure> const& broken() const { return broken_; }
    [[nodiscard]] CURL* handle() const { return easy_.get(); }
    // Returns when the transfer fails because nothing was received; max(): never.
    [[nodiscard]] Instant idle_end() const;
    // Returns the transfer's failure; nullopt: it succeeded.
    [[nodiscard]] std::optional<port::HttpFailure> failure_of(CURLcode code) const;
    [[nodiscard]] port::HttpFailure idled() const;

private:
    struct FreeEasy {
        void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
    };
    struct FreeList {
        void operator()(curl_slist* list) const { curl_slist_free_all(list); }
    };

    void set_up(HttpClientOptions const& options);
    void keep_public();
    void set_headers();
    void set_limits();
    bool take_header(std::string_view line);
    bool take_data(std::string_view bytes);
    void moved() { last_moved_ = std::chrono::steady_clock::now(); }
    [[nodiscard]] bool will_follow() const;
    [[nodiscard]] bool sent() const;
    [[nodiscard]] std::string reason_of(CURLcode code) const;

    static std::size_t on_header(char* bytes, std::size_t, std::size_t size, void* self);
    static std::size_t on_data(char* bytes, std::size_t, std::size_t size, void* self);
    static std::size_t on_read(char* to, std::size_t, std::size_t size, void* self);
    static int on_progress(void* self, curl_off_t, curl_off_t down, curl_off_t, curl_off_t up);
    static curl_socket_t on_socket(void* self, curlsocktype purpose, curl_sockaddr* address);

    port::HttpRequest request_;
    Sink sink_;
    // Declared before the handle, which refers to these until it is freed.
    std::array<char, CURL_ERROR_SIZE> error_{};
    std::unique_ptr<curl_slist, FreeList> headers_;
    std::unique_ptr<CURL, FreeEasy> easy_;
    std::optional<port::HttpFailure> broken_;

    port::HttpHead head_;
    bool head_out_ = false;
    std::size_t head_bytes_ = 0;
    std::size_t body_bytes_ = 0;
    bool too_large_ = false;
    bool forbidden_ = false;
    curl_off_t progress_ = 0;
    std::size_t read_ = 0;  // bytes of the body that libcurl has read
    Instant last_moved_ = std::chrono::steady_clock::now();
};

}  // namespace dormouse::io
