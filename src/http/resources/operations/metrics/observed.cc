#include "http/resources/operations/metrics/observed.h"

#include "http/objects/html.h"
#include "http/objects/problem.h"

namespace dormouse::http {

using namespace dormouse::session;

namespace {

struct EventLine {
    io::Log& log;
    std::string const session;

    void operator()(SessionCreated const& event) const {
        log.info("session created",
                 {{"sessionID", session}, {"agent", event.agent}, {"project", event.project}});
    }
    void operator()(CallPaused const& event) const {
        log.info("call paused", {{"sessionID", session},
                                 {"pendingID", event.pending.text()},
                                 {"reason", text(event.terms->reason)}});
    }
    void operator()(GateAsked const& event) const {
        log.info("call paused", {{"sessionID", session},
                                 {"pendingID", event.pending.text()},
                                 {"reason", text(event.terms->reason)}});
    }
    void operator()(AgentAsked const& event) const {
        log.info("call paused", {{"sessionID", session},
                                 {"pendingID", event.pending.text()},
                                 {"reason", text(event.terms->reason)}});
    }
    void operator()(BudgetReached const& event) const {
        log.info("call paused", {{"sessionID", session},
                                 {"pendingID", event.pending.text()},
                                 {"reason", text(event.terms->reason)}});
    }
    void operator()(AgentAttached const& event) const {
        log.info("agent attached",
                 {{"sessionID", session}, {"acpSessionID", event.acp_session}, {"how", event.how}});
    }
    void operator()(AgentDetached const& event) const {
        log.warn(
            "agent detached",
            {{"sessionID", session}, {"code", event.error.code}, {"why", event.error.message}});
    }
    void operator()(Expired const& event) const {
        log.info("call expired",
                 {{"sessionID", session}, {"pendingID", event.receipt.pending.text()}});
    }
    void operator()(TurnEnded const& event) const {
        log.info("turn ended", {{"sessionID", session},
                                {"turn", event.turn},
                                {"finish", text(event.finish)},
                                {"error", event.error ? event.error->code : std::string()}});
    }
    void operator()(ModelFailed const& event) const {
        log.warn("model failed", {{"sessionID", session},
                                  {"code", event.error.code},
                                  {"retry", event.retry_at.has_value()}});
    }
    void operator()(CallInDoubt const& event) const {
        log.warn("a tool's outcome is in doubt",
                 {{"sessionID", session}, {"pendingID", event.pending.text()}});
    }
    void operator()(Reassigned const& event) const {
        log.info("call escalated", {{"sessionID", session}, {"pendingID", event.pending.text()}});
    }
    void operator()(DeadlineNear const& event) const {
        log.info("a deadline is near",
                 {{"sessionID", session}, {"pendingID", event.pending.text()}});
    }
    void operator()(Reminded const& event) const {
        log.info("people are reminded",
                 {{"sessionID", session}, {"pendingID", event.pending.text()}});
    }
    void operator()(Polled const& event) const {
        if (event.error.empty()) return;
        log.warn(
            "a poll failed",
            {{"sessionID", session}, {"pendingID", event.pending.text()}, {"why", event.error}});
    }
    void operator()(GateMissing const& event) const {
        log.warn("a call waits for a gate that is missing",
                 {{"sessionID", session}, {"call", event.call}, {"gate", event.gate}});
    }
    void operator()(SessionDeleted const&) const {
        log.info("session deleted", {{"sessionID", session}});
    }
    template <class Other> void operator()(Other const&) const {}
};

}  // namespace

Observed::Observed(std::shared_ptr<Responder> to, HttpRequest const& request,
                   Services const& services)
    : to_(std::move(to)),
      metrics_(services.metrics),
      log_(services.log),
      clock_(services.clock),
      id_(request.id),
      method_(request.method),
      begun_(clock_.monotonic()) {
    head_.id = request.id;
    if (wants_html(request)) head_.headers = {{"accept", "text/html"}};
}

void Observed::matched(std::string route, std::vector<std::string> const& params) {
    route_ = std::move(route);
    for (std::string const& param : params) {
        if (auto const session = SessionId::parse(param)) session_ = session->text();
        if (auto const pending = PendingId::parse(param)) pending_ = pending->text();
    }
}

void Observed::of(PrincipalPtr principal,
                  std::function<void(std::shared_ptr<EventStream> const&)> on_stream) {
    principal_ = std::move(principal);
    on_stream_ = std::move(on_stream);
}

void Observed::reply(HttpReply reply) {
    bool const reads = method_ == "GET" || method_ == "HEAD";
    if (reads && principal_ && principal_->revoked)
        reply = problem_reply({Code::unauthenticated, "This token was revoked meanwhile."}, head_);
    count_reply(reply.status);
    to_->reply(for_browser(std::move(reply), head_));
}

std::shared_ptr<EventStream> Observed::stream(
    std::vector<std::pair<std::string, std::string>> headers) {
    count_reply(200);
    auto stream = to_->stream(std::move(headers));
    if (on_stream_ && stream) on_stream_(stream);
    return stream;
}

void Observed::count_reply(int status) {
    metrics_.answered(method_, route_, status);
    auto const level = status >= 500 ? io::LogLevel::warn : io::LogLevel::debug;
    if (!log_.writes(level)) return;
    std::initializer_list<io::Field> const fields{{"requestID", id_},
                                                  {"method", method_},
                                                  {"route", route_},
                                                  {"status", status},
                                                  {"ms", (clock_.monotonic() - begun_).count()},
                                                  {"sessionID", session_},
                                                  {"pendingID", pending_}};
    if (level == io::LogLevel::warn) return log_.warn("request failed", fields);
    log_.debug("request", fields);
}

void log_appended(io::Log& log, SessionId session, std::vector<wire::RecordPtr> const& records) {
    if (!log.writes(io::LogLevel::warn)) return;
    EventLine const line{log, session.text()};
    for (wire::RecordPtr const& record : records) std::visit(line, record->event.body);
}

void log_submitted(io::Log& log, std::string_view request, PendingId const& pending,
                   Result<Answer> const& answer) {
    if (!log.writes(io::LogLevel::info)) return;
    std::string_view outcome = "applied";
    if (!answer) {
        outcome = info(answer.error().code).text;
    } else if (answer->outcome == Answer::Outcome::duplicate) {
        outcome = "duplicate";
    } else if (answer->outcome == Answer::Outcome::counted) {
        outcome = "counted";
    }
    log.info("outcome offered", {{"sessionID", pending.session.text()},
                                 {"pendingID", pending.text()},
                                 {"requestID", request},
                                 {"outcome", outcome}});
}

}  // namespace dormouse::http
