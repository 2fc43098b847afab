#include "io/http/mail_client.h"

#include "base/check.h"
#include "base/text/text.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>

namespace dormouse::io {

namespace {

struct FreeEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// One mail on its way.
struct Sending {
    std::string content;
    std::size_t read = 0;
    std::atomic<bool> const* stopping = nullptr;
};

std::size_t on_read(char* to, std::size_t size, std::size_t count, void* self) {
    auto& sending = *static_cast<Sending*>(self);
    std::size_t const taken = sending.content.copy(to, size * count, sending.read);
    sending.read += taken;
    return taken;
}

int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Sending*>(self)->stopping->load() ? 1 : 0;
}

std::size_t drop(char* /*bytes*/, std::size_t size, std::size_t count, void* /*self*/) {
    return size * count;
}

void set_server(CURL* easy, MailServer const& server) {
    using Tls = MailServer::Tls;
    std::string const url = (server.tls == Tls::tls ? "smtps://" : "smtp://") + server.host;
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(easy, CURLOPT_USE_SSL,
                     static_cast<long>(server.tls == Tls::none ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    if (server.user.empty()) return;
    curl_easy_setopt(easy, CURLOPT_USERNAME, server.user.c_str());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, server.password.c_str());
}

void set_limits(CURL* easy, Sending& sending) {
    long const limit = static_cast<long>(SmtpClient::time_limit.count());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, limit);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, limit);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, &on_read);
    curl_easy_setopt(easy, CURLOPT_READDATA, &sending);
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &drop);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, &on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &sending);
}

Result<void> failure(CURL* easy, CURLcode code, char const* text) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    std::string why = "the mail server answered " + std::to_string(status);
    if (status < 400) why = escape_for_terminal(*text != '\0' ? text : curl_easy_strerror(code));
    // A refused login may be the configuration's fault, which can be corrected.
    bool const login = code == CURLE_LOGIN_DENIED;
    return fail(status >= 500 && !login ? Code::bad_value : Code::store_unavailable, why);
}

// Blocks.
Result<void> deliver(MailServer const& server, port::Mail mail, std::atomic<bool> const& stopping) {
    std::unique_ptr<CURL, FreeEasy> const easy(curl_easy_init());
    CHECK(easy != nullptr);
    Sending sending{.content = std::move(mail.content), .stopping = &stopping};
    std::array<char, CURL_ERROR_SIZE> error{};
    curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, error.data());
    set_server(easy.get(), server);
    set_limits(easy.get(), sending);
    std::string const from = "<" + mail.from + ">";
    std::string const to = "<" + mail.to + ">";
    curl_easy_setopt(easy.get(), CURLOPT_MAIL_FROM, from.c_str());
    std::unique_ptr<curl_slist, FreeList> const receivers(curl_slist_append(nullptr, to.c_str()));
    curl_easy_setopt(easy.get(), CURLOPT_MAIL_RCPT, receivers.get());
    CURLcode const code = curl_easy_perform(easy.get());
    if (code != CURLE_OK) return failure(easy.get(), code, error.data());
    return {};
}

}  // namespace

SmtpClient::SmtpClient(port::Loop& loop, MailServer server)
    : loop_(loop), server_(std::move(server)) {}

SmtpClient::~SmtpClient() {
    stopping_->store(true);
    worker_.stop();
}

void SmtpClient::send(port::Mail mail, port::Fn<void(Result<void>)> done) {
    auto then = scope_.guard(std::move(done));
    if (waiting_.size() >= waiting_max) {
        return loop_.post([then = std::move(then)]() mutable {
            then(fail(Code::overloaded, "too many mails wait"));
        });
    }
    waiting_.push_back({std::move(mail), std::move(then)});
    if (!sending_) send_next();
}

void SmtpClient::send_next() {
    while (!waiting_.empty()) {
        Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        if (next.mail.wanted && !next.mail.wanted()) {
            loop_.post([done = std::move(next.done)]() mutable {
                done(fail(Code::conflict, "the mail is not wanted any more"));
            });
            continue;
        }
        sending_ = true;
        auto then = scope_.guard([this, done = std::move(next.done)](Result<void> result) mutable {
            sending_ = false;
            send_next();
            done(std::move(result));
        });
        port::Fn<void()> job = [this, mail = std::move(next.mail), then = std::move(then),
                                stopping = stopping_]() mutable {
            auto result = deliver(server_, std::move(mail), *stopping);
            loop_.post([then = std::move(then), result = std::move(result)]() mutable {
                then(std::move(result));
            });
        };
        (void)worker_.run(job);
        return;
    }
}

}  // namespace dormouse::io
