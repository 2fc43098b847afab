#pragma once
// Counts and logs one reply by the pattern of its route, because a path may contain a capability.
// Also logs what happens in sessions.

#include "http/access/tokens.h"
#include "http/resources/api.h"
#include "http/resources/operations/metrics/metrics.h"
#include "http/transport/http.h"
#include "io/log.h"

#include <functional>

namespace dormouse::http {

class Observed final : public Responder {
public:
    // Everything in `services` outlives this.
    Observed(std::shared_ptr<Responder> to, HttpRequest const& request, Services const& services);

    // Sets the caller. If its token is revoked meanwhile, the reply is withheld. `on_stream`
    // receives the stream that is opened.
    void of(PrincipalPtr principal,
            std::function<void(std::shared_ptr<EventStream> const&)> on_stream);
    // Sets the route: a pattern of the table and its parameters.
    void matched(std::string route, std::vector<std::string> const& params);

    void reply(HttpReply reply) override;
    std::shared_ptr<EventStream> stream(
        std::vector<std::pair<std::string, std::string>> headers) override;
    [[nodiscard]] bool gone() const override { return to_->gone(); }
    void body_freed() override { to_->body_freed(); }

private:
    void count_reply(int status);

    std::shared_ptr<Responder> const to_;
    Metrics& metrics_;
    io::Log& log_;
    port::Clock& clock_;
    std::string const id_;
    std::string const method_;
    HttpRequest head_;  // needed to render a problem as a page
    Duration const begun_;
    PrincipalPtr principal_ = {};
    std::function<void(std::shared_ptr<EventStream> const&)> on_stream_ = {};
    std::string route_ = {};
    std::string session_ = {};
    std::string pending_ = {};
};

// Logs one line for each important event of a session.
void log_appended(io::Log& log, SessionId session, std::vector<wire::RecordPtr> const& records);
// Logs one line for a submission.
void log_submitted(io::Log& log, std::string_view request, PendingId const& pending,
                   Result<session::Answer> const& answer);

}  // namespace dormouse::http
