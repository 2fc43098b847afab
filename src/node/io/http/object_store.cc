#include "io/http/object_store.h"

#include "base/check.h"
#include "base/crypto/sha256.h"
#include "base/text/chars.h"
#include "base/text/text.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

namespace dormouse::io {

namespace {

constexpr long connect_limit_ms = 10'000;
// Slower than this for so long, a request has stalled.
constexpr long slow_bytes = 1'024, slow_s = 20;
constexpr long request_limit_s = 300;
constexpr std::size_t error_body_max = 16'384;

struct CurlLibrary {
    CurlLibrary() { CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); }
};

// The content of <Code> in an error document; nothing else of it is shown.
std::string error_code(std::string_view body) {
    auto const begin = body.find("<Code>");
    if (begin == std::string_view::npos) return {};
    body.remove_prefix(begin + 6);
    std::string_view const word = body.substr(0, std::min(body.find('<'), std::size_t{64}));
    return is_made_of(word, "") ? std::string(word) : std::string();
}

}  // namespace

struct ObjectStore::Easy {
    Easy() : handle(curl_easy_init()) { CHECK(handle != nullptr); }
    ~Easy() { curl_easy_cleanup(handle); }
    Easy(Easy const&) = delete;
    Easy& operator=(Easy const&) = delete;
    CURL* const handle;
    std::optional<std::chrono::steady_clock::time_point> stopping_since = {};
};

// One request and its answer.
class ObjectStore::Request {
public:
    Request(ObjectStore& store, std::string method, std::string const& name,
            std::uint64_t bytes_max)
        : options_(store.options_),
          stopping_since_(store.easy_->stopping_since),
          easy_(store.easy_->handle),
          method_(std::move(method)),
          url_(options_.url + "/" + name),
          bytes_max_(bytes_max) {}
    ~Request() { curl_slist_free_all(headers_); }
    Request(Request const&) = delete;
    Request& operator=(Request const&) = delete;

    [[nodiscard]] Result<std::string> run(std::string_view body) {
        curl_easy_reset(easy_);
        set_up();
        set_body(body);
        CURLcode const code = curl_easy_perform(easy_);
        curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status_);
        curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, nullptr);
        if (too_large_) return fail(Code::too_large, what() + "the object is too large");
        if (code != CURLE_OK) return failed(code);
        if (status_ / 100 != 2) return refused();
        return std::move(answer_);
    }

private:
    void set_up() {
        std::string const signer = "aws:amz:" + options_.region + ":s3";
        std::string const keys = options_.access_key + ":" + options_.secret_key;
        curl_easy_setopt(easy_, CURLOPT_URL, url_.c_str());
        curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, method_.c_str());
        curl_easy_setopt(easy_, CURLOPT_PATH_AS_IS, 1L);
        curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
        curl_easy_setopt(easy_, CURLOPT_USERAGENT, options_.user_agent.c_str());
        curl_easy_setopt(easy_, CURLOPT_AWS_SIGV4, signer.c_str());
        curl_easy_setopt(easy_, CURLOPT_USERPWD, keys.c_str());
        curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, connect_limit_ms);
        curl_easy_setopt(easy_, CURLOPT_LOW_SPEED_LIMIT, slow_bytes);
        curl_easy_setopt(easy_, CURLOPT_LOW_SPEED_TIME, slow_s);
        curl_easy_setopt(easy_, CURLOPT_TIMEOUT, request_limit_s);
        curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_.data());
        curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Request::on_data);
        curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
        curl_easy_setopt(easy_, CURLOPT_NOPROGRESS, 0L);
        curl_easy_setopt(easy_, CURLOPT_XFERINFOFUNCTION, &Request::on_progress);
        curl_easy_setopt(easy_, CURLOPT_XFERINFODATA, this);
    }

    void set_body(std::string_view body) {
        // Only headers that are sent: libcurl would sign one that is removed, too, such as
        // "Expect:".
        add_header("x-amz-content-sha256: " + hex(sha256(body)));
        if (method_ == "PUT") {
            add_header("Content-Type: application/octet-stream");
            curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                             static_cast<curl_off_t>(body.size()));
            curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, body.data());
        }
        curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
    }

    void add_header(std::string const& line) {
        curl_slist* const longer = curl_slist_append(headers_, line.c_str());
        CHECK(longer != nullptr);
        headers_ = longer;
    }

    static std::size_t on_data(char const* data, std::size_t /*one*/, std::size_t count,
                               void* self) {
        auto& request = *static_cast<Request*>(self);
        long status = 0;
        curl_easy_getinfo(request.easy_, CURLINFO_RESPONSE_CODE, &status);
        bool const fine = status / 100 == 2;
        if (!fine && request.answer_.size() + count > error_body_max) return count;
        if (fine && request.answer_.size() + count > request.bytes_max_) {
            request.too_large_ = true;
            return CURL_WRITEFUNC_ERROR;
        }
        request.answer_.append(data, count);
        return count;
    }

    static int on_progress(void* self, curl_off_t /*total*/, curl_off_t /*now*/, curl_off_t /*up*/,
                           curl_off_t /*up_now*/) {
        auto& request = *static_cast<Request*>(self);
        if (request.options_.stop == nullptr || !*request.options_.stop) return 0;
        auto const now = std::chrono::steady_clock::now();
        if (!request.stopping_since_) request.stopping_since_ = now;
        return now - *request.stopping_since_ >= request.options_.stop_after ? 1 : 0;
    }

    [[nodiscard]] std::string what() const { return method_ + " " + url_ + ": "; }

    [[nodiscard]] std::unexpected<Error> failed(CURLcode code) const {
        std::string const why = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
        return fail(Code::store_unavailable, what() + why);
    }

    [[nodiscard]] std::unexpected<Error> refused() const {
        std::string const code = error_code(answer_);
        std::string const shown =
            "status " + std::to_string(status_) + (code.empty() ? "" : " " + code);
        if (code == "NoSuchBucket")
            return fail(Code::wrong_state, what() + "the bucket does not exist: create it");
        if (status_ == 404) return fail(Code::not_found, what() + "not found");
        if (status_ == 401 || status_ == 403)
            return fail(Code::forbidden, what() +
                                             "the access key was rejected, or may not do "
                                             "this: " +
                                             shown);
        return fail(Code::store_unavailable, what() + shown);
    }

    Options const& options_;
    std::optional<std::chrono::steady_clock::time_point>& stopping_since_;
    CURL* const easy_;
    std::string const method_;
    std::string const url_;
    std::uint64_t const bytes_max_;
    curl_slist* headers_ = nullptr;
    std::array<char, CURL_ERROR_SIZE> error_{};
    std::string answer_;
    long status_ = 0;
    bool too_large_ = false;
};

ObjectStore::ObjectStore(Options options) : options_(std::move(options)) {
    static CurlLibrary const library;
    easy_ = std::make_unique<Easy>();
}

ObjectStore::~ObjectStore() = default;

Result<void> ObjectStore::put(std::string const& name, std::string_view bytes) {
    auto const answer = Request(*this, "PUT", name, error_body_max).run(bytes);
    if (!answer) return std::unexpected(answer.error());
    return {};
}

Result<std::string> ObjectStore::get(std::string const& name, std::uint64_t bytes_max) {
    return Request(*this, "GET", name, bytes_max).run({});
}

Result<void> ObjectStore::remove(std::string const& name) {
    auto const answer = Request(*this, "DELETE", name, error_body_max).run({});
    if (!answer && answer.error().code != Code::not_found) return std::unexpected(answer.error());
    return {};
}

}  // namespace dormouse::io
