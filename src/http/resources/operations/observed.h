#pragma once
// Watches one answer on its way out: counts it and logs it, by the route's pattern, because a path
// may hold a capability. What happens in sessions is logged here too.

#include "http/access/tokens.h"
#include "http/resources/operations/metrics.h"
#include "http/transport/http.h"
#include "io/log.h"

#include <functional>

namespace dormouse::server {

class Observed final : public Responder {
public:
    // `metrics` and `log` outlive this.
    Observed(std::shared_ptr<Responder> to, HttpRequest const& request, Metrics& metrics,
             io::Log& log);

    // Who asks; one whose right ended meanwhile is not answered with what it asked to see.
    // `on_stream` hears of the stream that is opened.
    void of(PrincipalPtr principal,
            std::function<void(std::shared_ptr<EventStream> const&)> on_stream);
    // What the request turned out to be for: a pattern of the table and what it stands for.
    void matched(std::string route, std::vector<std::string> const& params);

    void reply(HttpReply reply) override;
    std::shared_ptr<EventStream> stream(
        std::vector<std::pair<std::string, std::string>> headers) override;
    [[nodiscard]] bool gone() const override { return to_->gone(); }

private:
    void tell(int status);

    std::shared_ptr<Responder> const to_;
    Metrics& metrics_;
    io::Log& log_;
    std::string const id_;
    std::string const method_;
    HttpRequest head_;  // what a page for a browser needs of the request
    Duration const begun_;
    PrincipalPtr principal_ = {};
    std::function<void(std::shared_ptr<EventStream> const&)> on_stream_ = {};
    std::string route_ = {};
    std::string session_ = {};
    std::string pending_ = {};
};

// One line for each thing of these that matters in a session's life.
void log_appended(io::Log& log, SessionId session, std::vector<wire::RecordPtr> const& records);
// One line for an outcome that was offered.
void log_submitted(io::Log& log, std::string_view request, PendingId const& pending,
                   Result<session::Answer> const& answer);

}  // namespace dormouse::server
