#pragma once
// The HTTP API: request → command → reply. Routes stand in one table (routes.cc); each handler
// reads its request, gives the runner a command or a question, and writes the answer as JSON. On
// the loop.

#include "http/access/gate.h"
#include "http/objects/problem.h"
#include "http/resources/rights.h"
#include "http/transport/http.h"
#include "io/log.h"
#include "port/catalogue.h"
#include "port/effects.h"
#include "runner/cut.h"
#include "runner/postmaster.h"
#include "runner/runner.h"
#include "webhook/source.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace dormouse::server {

class Changes;
class FeedStreams;
class Metrics;
class Observed;
class Readiness;
class Streams;
class Waits;
class Webhooks;

// What [retention] says; nullopt: such things are kept.
struct Ages {
    std::optional<Duration> completed = {};
    std::optional<Duration> audit = {};
    std::optional<Duration> given_up = {};  // webhooks out
};

// What handlers need; all outlive the API.
struct Services {
    port::Loop& loop;
    port::Journal& journal;
    port::Catalogue& catalogue;
    runner::Runner& runner;
    Gate& gate;
    Metrics& metrics;
    io::Log& log;
    port::Entropy& entropy;
    std::vector<webhook::Source> sources = {};
    Ages ages = {};
    runner::Keep keep = {};  // of each session, by itself
    // For work on large bodies, which would hold up everybody else; null: it is done on the loop.
    port::Workers* workers = nullptr;
};

// One request on its way. Handlers keep it (shared) until they have answered.
struct Exchange {
    HttpRequest request;
    std::vector<std::string> params;  // what the pattern's {} stood for, in order
    session::Actor by;
    PrincipalPtr principal;               // null: a capability, or nobody
    std::optional<PendingId> capability;  // all that it may ask about
    std::shared_ptr<Responder> responder;
    Json body;                     // checked; {} when there was none; not that of a webhook
    std::string body_digest = {};  // of its canonical form, when there is an Idempotency-Key

    void json(int status, std::string text,
              std::vector<std::pair<std::string, std::string>> headers = {}) {
        responder->reply({status, "application/json", std::move(headers), std::move(text)});
    }
    void fail(Error const& error) { responder->reply(problem_reply(error, request)); }
    void empty(int status) { responder->reply({status, "", {}, ""}); }

    // The asker with the request's Idempotency-Key, if it bears one.
    [[nodiscard]] runner::Asker asker() const;
};
using ExchangePtr = std::shared_ptr<Exchange>;

using Handler = void (*)(class Api&, ExchangePtr const&);

struct Route {
    std::string_view method;
    std::vector<std::string_view> pattern;  // segments; "{}" takes any one
    std::size_t body_max;
    Handler handler;
    std::string_view query = {};  // names of the query's parameters, a space between them
    Right right = {};
};

class Api final : public HttpHandler {
public:
    explicit Api(Services services);
    ~Api() override;

    // As those of runner::Observer: the runner's observer calls them.
    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta);
    void appended(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records);
    void delivered(session::PostKey const& key, Result<session::Answer> const& answer) {
        mail_.delivered(key, answer);
    }

    void handle(HttpRequest request, std::shared_ptr<Responder> responder) override;
    [[nodiscard]] std::size_t body_limit(std::string_view method,
                                         std::string_view path) const override;
    [[nodiscard]] std::optional<HttpReply> refuse(HttpRequest const& head) override;
    [[nodiscard]] bool knows(HttpRequest const& head) const override;
    [[nodiscard]] HttpReply problem(Error const& error, HttpRequest const& head) override;

    [[nodiscard]] Services& services() { return services_; }
    [[nodiscard]] Streams& streams() { return *streams_; }
    [[nodiscard]] FeedStreams& feed_streams() { return *feed_streams_; }
    [[nodiscard]] Waits& waits() { return *waits_; }
    [[nodiscard]] Changes& changes() { return *changes_; }
    [[nodiscard]] runner::Postmaster& mail() { return mail_; }
    [[nodiscard]] Webhooks& webhooks() { return *webhooks_; }
    [[nodiscard]] Readiness& readiness() { return *readiness_; }
    [[nodiscard]] runner::HistoryCutter& cutter() { return cutter_; }

    // Runs `work` and then `then`, on the loop; with a large body in `x`, `work` runs beside it. It
    // may use of `x` what does not change. `then` is dropped when the API has ended.
    void aside(ExchangePtr const& x, port::Fn<void()> work, port::Fn<void()> then);
    // The same with a body of any size: `work` takes time.
    void beside(ExchangePtr const& x, port::Fn<void()> work, port::Fn<void()> then);

    // Ends the streams of those who may not come in any more. Soon after each change, and every
    // second.
    void close_revoked();

private:
    void watch_streams();
    void keep_stream(PrincipalPtr const& principal, std::shared_ptr<EventStream> const& stream);
    void route(ExchangePtr const& exchange, Observed& observed);
    void read_body(ExchangePtr const& x, port::Fn<void()> then);
    // Null: there is none.
    [[nodiscard]] Route const* find(std::string_view method,
                                    std::vector<std::string> const& segments) const;
    [[nodiscard]] HttpReply no_route(HttpRequest const& request) const;
    [[nodiscard]] std::optional<HttpReply> refuse_before_body(HttpRequest const& head);

    struct Opened {
        PrincipalPtr principal;
        std::weak_ptr<EventStream> stream;
    };

    Services services_;
    std::vector<Opened> opened_;
    bool watching_ = false;  // close_revoked() will be called
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::unique_ptr<Streams> streams_;
    std::unique_ptr<FeedStreams> feed_streams_;
    std::unique_ptr<Waits> waits_;
    std::unique_ptr<Changes> changes_;
    std::unique_ptr<Webhooks> webhooks_;
    std::unique_ptr<Readiness> readiness_;
    runner::Postmaster mail_;
    runner::HistoryCutter cutter_;
    std::vector<Route> const routes_;
};

[[nodiscard]] std::vector<Route> all_routes();  // routes.cc

}  // namespace dormouse::server
