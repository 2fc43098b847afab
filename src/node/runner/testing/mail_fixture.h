#pragma once
// A runner whose sessions send mail to each other, also after a restart.

#include "runner/mail_service.h"
#include "runner/testing/runner_fixture.h"
#include "wire/journal/history.h"

namespace dormouse::runner::testing {

template <class Journal> class RunnerMailOn : public RunnerTestOn<Journal> {
protected:
    using Base = RunnerTestOn<Journal>;
    using Base::ann;
    using Base::answers;
    using Base::ask_for_session;
    using Base::created;
    using Base::demo;
    using Base::effects;
    using Base::journal;
    using Base::loop;
    using Base::observer;
    using Base::restart;
    using Base::runner;

    RunnerMailOn() { begin(); }

    void begin() {
        observer.on_delivered = [this](session::OutboxKey const& key,
                                       Result<session::Answer> const& answer) {
            if (mail_service) mail_service->delivered(key, answer);
        };
        mail_service = std::make_unique<MailService>(loop, journal, *runner);
        runner->start();
        loop.run();
    }
    // A new process with the same data.
    void restart_all() {
        mail_service.reset();
        restart();
        begin();
        loop.advance(Duration(1'000));
    }
    SessionId named(std::string const& alias) {
        session::Create create = demo();
        create.alias = alias;
        ask_for_session(std::move(create), ann());
        loop.run();
        return answers.back() == "applied" ? created.back() : SessionId();
    }
    void send(SessionId from, std::vector<std::string> to, std::string text, std::string key = {}) {
        port::MailDraft draft{std::move(to), std::move(text)};
        mail_service->send(from, std::move(draft), {{session::ActorType::agent, "demo"}, key, "d"},
                           Duration(2'000), [this](Result<port::MailSubmission> got) {
                               submitted.push_back(std::move(got));
                           });
    }
    // The deliveries of the newest mail, such as "delivered failed".
    [[nodiscard]] std::string deliveries() const {
        std::string out;
        if (submitted.empty() || !submitted.back()) return "none";
        for (port::MailDelivery const& delivery : submitted.back()->deliveries)
            out += (out.empty() ? "" : " ") + std::string(port::text(delivery.status));
        return out;
    }
    [[nodiscard]] wire::History history(SessionId session) {
        wire::History out(session);
        auto const records = read_records(*journal.store, session, 1, UINT32_MAX).value();
        for (auto const& record : records) out.add(*record);
        return out;
    }
    // The texts of received mail, in order.
    [[nodiscard]] std::string inbox(SessionId session) {
        std::string out;
        auto const mails = history(session).mails();
        for (auto const& [seq, mail] : mails)
            out += (out.empty() ? "" : " ") + mail.what.mail->text;
        return out;
    }
    [[nodiscard]] std::size_t rows() {
        return journal.store->due_messages("session", Time::max(), 100'000).value().size();
    }
    void answer_all() {
        for (int i = 0; i < 1'000 && !effects.requests.empty(); ++i) {
            effects.reply();
            loop.run();
        }
    }

    std::unique_ptr<MailService> mail_service;
    std::vector<Result<port::MailSubmission>> submitted;
};

}  // namespace dormouse::runner::testing
