#pragma once
// SMTP on libcurl: one connection and one mail at a time, on a thread of its own.

#include "base/scope.h"
#include "io/threads/worker.h"
#include "port/mail.h"

#include <atomic>
#include <deque>
#include <memory>
#include <string>

namespace dormouse::io {

struct MailServer {
    std::string host;  // HOST:PORT
    enum class Tls : std::uint8_t { starttls, tls, none } tls = Tls::starttls;
    std::string user = {};  // empty: no login
    std::string password = {};
};

class SmtpClient final : public port::MailClient {
public:
    SmtpClient(port::Loop& loop, MailServer server);
    ~SmtpClient() override;  // a mail in progress is cut off
    SmtpClient(SmtpClient const&) = delete;
    SmtpClient& operator=(SmtpClient const&) = delete;

    void send(port::Mail mail, port::Fn<void(Result<void>)> done) override;

    static constexpr std::size_t waiting_max = 1'000;
    static constexpr Duration time_limit{30'000};

private:
    struct Waiting {
        port::Mail mail;
        port::Fn<void(Result<void>)> done;
    };

    void send_next();

    port::Loop& loop_;
    MailServer const server_;
    std::shared_ptr<std::atomic<bool>> const stopping_ = std::make_shared<std::atomic<bool>>(false);
    std::deque<Waiting> waiting_;
    bool sending_ = false;
    Worker worker_{"mail"};
    Scope scope_;
};

}  // namespace dormouse::io
