#pragma once
// The HTTP API: request → command → reply. All routes are in one table (routes.cc); each handler
// reads its request, sends the runner a command or a read, and writes the answer as JSON. On the
// loop.

#include "base/scope.h"
#include "http/access/gate.h"
#include "http/access/people.h"
#include "http/objects/problem.h"
#include "http/resources/operations/doctor/facts.h"
#include "http/resources/operations/reload.h"
#include "http/resources/pages/web_page.h"
#include "http/resources/rights.h"
#include "http/transport/http.h"
#include "io/log.h"
#include "port/archiving.h"
#include "port/audit_ends.h"
#include "port/catalogue.h"
#include "port/copies.h"
#include "port/database.h"
#include "port/effects.h"
#include "port/exports.h"
#include "port/http.h"
#include "port/index.h"
#include "port/rewriter.h"
#include "port/shared_store.h"
#include "runner/lane/cut.h"
#include "runner/lane/redact/redact.h"
#include "runner/mail_service.h"
#include "runner/runner.h"
#include "webhook/kinds/web_push.h"
#include "webhook/source.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dormouse::port {
class ForeignSignIns;
}

namespace dormouse::http {

class Changes;
class FeedStreams;
class McpSessions;
class McpShared;
struct McpSignIns;
class Metrics;
class Observed;
struct OidcSettings;
struct OidcSignIn;
class Readiness;
class SharedAccess;
class Streams;
class Waits;
class Webhooks;

// The ages of [retention]; nullopt: nothing is deleted.
struct Ages {
    std::optional<Duration> completed = {};
    std::optional<Duration> audit = {};
    std::optional<Duration> given_up = {};  // given-up webhook deliveries
};

// The objects that handlers use. They outlive the API.
struct Services {
    port::Loop& loop;
    port::Journal& journal;
    port::Catalogue& catalogue;
    runner::Runner& runner;
    Gate& gate;
    Metrics& metrics;
    io::Log& log;
    port::Entropy& entropy;
    port::Clock& clock;
    std::vector<webhook::Source> sources = {};
    Ages ages = {};
    std::uint32_t waiting_calls = 10'000;  // of one project, at which POST /api/pending is refused
    runner::Keep keep = {};  // how much of each session's history is kept automatically
    // Runs work on large bodies off the loop; null: it runs on the loop.
    port::Workers* workers = nullptr;
    WebFiles web_files = {};  // none: there is no web page
    People people = {};
    port::HttpClient* client = nullptr;            // null: nothing is sent
    std::vector<std::string> webhook_hosts = {};   // see webhook::url_policy()
    std::optional<webhook::PushSender> push = {};  // nullopt: nothing is sent to devices
    ServerFacts facts = {};
    bool shared = false;                               // several processes can use the store
    std::shared_ptr<OidcSettings const> oidc = {};     // null: no sign-in with a provider
    port::ForeignSignIns* foreign_sign_ins = nullptr;  // to MCP servers; null: there are none
    // Signs what browsers keep of these sign-ins: the same at all processes of a store.
    std::string foreign_sign_in_key = {};
    // The token, link or cookie with this digest in a store that several processes use. Blocks.
    // Empty: no other process makes any.
    std::function<Result<std::optional<port::TokenRow>>(Sha256 const&)> find_token = {};
    // The indexes outside of the store. Empty: there are none.
    std::function<std::vector<port::IndexStatus>()> indexes = {};
    port::Database* database = nullptr;        // below the store; null: there is no server
    port::AuditEnds* audit_ends = nullptr;     // of the store; null: it loses no lines
    port::RemovedContents* removed = nullptr;  // of the store; null: it has no files
    // Sends a message to the other processes that use the store. Empty: there are none.
    std::function<void(std::string_view)> publish = {};
    port::SharedValues* shared_values = nullptr;  // of those processes; null: there are none
    // Returns why messages of those processes do not arrive; empty: they do, or there are none. May
    // be empty.
    std::function<std::string()> signal_failure = {};
    // Why the store takes no writes, although it can be read; nullopt: it does. May be empty.
    std::function<std::optional<Error>()> unwritable = {};
    // The status of the export of traces; nullopt: there is none. May be empty.
    std::function<std::optional<port::ExportStatus>()> exports = {};
    // The status of the continuous copy; nullopt: there is none. May be empty.
    std::function<std::optional<port::CopyStatus>()> copy = {};
    // The status of archiving; nullopt: nothing is archived. May be empty.
    std::function<std::optional<port::ArchiveStatus>()> archive = {};
    // Asks for an attempt to copy at once (CopyStatus::asked). Empty: nothing is copied.
    std::function<Result<std::uint64_t>()> copy_now = {};
    // Releases a restored copy that holds. Empty: it cannot be released here.
    std::function<void(port::Fn<void(Result<void>)> done)> release = {};
    // Reloads the configuration. Empty: there is none.
    std::function<void(port::Fn<void(Result<ReloadReport>)> done)> reload = {};
};

// One request and its answer. Handlers hold it (shared) until they have answered.
struct Exchange {
    HttpRequest request;
    std::vector<std::string> params;  // the path segments that match {}, in order
    session::Actor by;
    PrincipalPtr principal;               // null: a capability, or no token
    std::optional<PendingId> capability;  // the only call that the request may access
    std::shared_ptr<Responder> responder;
    Json body;                     // checked; {} when absent; not set for webhooks
    std::string body_digest = {};  // of the canonical body, when there is an Idempotency-Key

    void json(int status, std::string text,
              std::vector<std::pair<std::string, std::string>> headers = {}) {
        responder->reply({status, "application/json", std::move(headers), std::move(text)});
    }
    void fail(Error const& error) { responder->reply(problem_reply(error, request)); }
    void empty(int status) { responder->reply({status, "", {}, ""}); }

    // The request only waits from now on: nothing reads its body again.
    void free_body() {
        request.body = std::string();
        body = Json();
        responder->body_freed();
    }

    // Returns the caller with the request's Idempotency-Key, if it has one.
    [[nodiscard]] runner::Asker asker() const;
};
using ExchangePtr = std::shared_ptr<Exchange>;

using Handler = void (*)(class Api&, ExchangePtr const&);

struct Route {
    std::string_view method;
    std::vector<std::string_view> pattern;  // segments; "{}" matches any one
    std::size_t body_max;
    Handler handler;
    // Names of the query parameters, separated by spaces; "*": others are ignored.
    std::string_view query = {};
    Right right = {};
};

class Api final : public HttpHandler {
public:
    explicit Api(Services services);
    ~Api() override;

    // Called by the runner's observer; these match runner::Observer.
    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta);
    void appended(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records);
    // Wakes requests that wait for this append of another process. That process counts and logs it.
    // Returns its records; empty: it has deleted the session, or is damaged.
    std::vector<wire::RecordPtr> appended_elsewhere(port::FeedRow const& row);
    // Others have made appends that were not reported: wakes readers and waiting requests, and
    // offers the kept deliveries again.
    void missed_appends();
    // Returns true if a request or reader waits here for appends.
    [[nodiscard]] bool awaited() const;
    // Handles a message of another process that uses the store.
    void on_signal(Epoch from, std::string_view text);
    // Handles the store's reply to a heartbeat of this process, whose epoch is `self`.
    void on_heartbeat(port::HeartbeatReply const& beat, Epoch self);
    // The other processes that use the store, at the newest heartbeat.
    [[nodiscard]] std::vector<port::NodeRow> const& others() const { return others_; }
    // The format of a shared store at the newest heartbeat, and the newest format that this process
    // writes; 0: the store is not shared.
    [[nodiscard]] port::StoreFormat store_format() const { return store_format_; }
    [[nodiscard]] std::int64_t known_format() const { return known_format_; }
    void delivered(session::OutboxKey const& key, Result<session::Answer> const& answer) {
        mail_.delivered(key, answer);
    }

    void handle(HttpRequest request, std::shared_ptr<Responder> responder) override;
    [[nodiscard]] std::size_t body_limit(std::string_view method,
                                         std::string_view path) const override;
    [[nodiscard]] std::optional<HttpReply> refuse(HttpRequest const& head) override;
    [[nodiscard]] bool knows(HttpRequest const& head) const override;
    [[nodiscard]] HttpReply problem(Error const& error, HttpRequest const& head) override;

    [[nodiscard]] Services& services() { return services_; }
    [[nodiscard]] Services const& services() const { return services_; }
    [[nodiscard]] Streams& streams() { return *streams_; }
    [[nodiscard]] FeedStreams& feed_streams() { return *feed_streams_; }
    [[nodiscard]] Waits& waits() { return *waits_; }
    [[nodiscard]] Changes& changes() { return *changes_; }
    [[nodiscard]] runner::MailService& mail() { return mail_; }
    [[nodiscard]] Webhooks& webhooks() { return *webhooks_; }
    [[nodiscard]] SharedAccess& shared_access() { return *shared_access_; }
    [[nodiscard]] Readiness& readiness() { return *readiness_; }
    [[nodiscard]] runner::HistoryCutter& cutter() { return cutter_; }
    [[nodiscard]] runner::Redactor& redactor() { return redactor_; }
    [[nodiscard]] McpSessions& mcp_sessions() { return *mcp_sessions_; }
    [[nodiscard]] McpShared& mcp_shared() { return *mcp_shared_; }
    [[nodiscard]] McpSignIns& mcp_sign_ins() { return *mcp_sign_ins_; }
    [[nodiscard]] OidcSignIn* oidc() { return oidc_.get(); }  // null: there is no provider
    [[nodiscard]] WebPage const& web_page() const { return web_page_; }

    // Handles a request that this process makes for the caller of `from`, with the same rights.
    // `done` gets the reply; it is dropped if the API has been destroyed.
    void handle_for(ExchangePtr const& from, HttpRequest request, port::Fn<void(HttpReply)> done);

    // Runs `work`, then `then` on the loop. With a large body in `x`, `work` runs on a worker
    // thread and may use only what does not change in `x`. `then` is dropped when the API has been
    // destroyed.
    void run_for_body(ExchangePtr const& x, port::Fn<void()> work, port::Fn<void()> then);
    // The same on a worker thread for a body of any size: `work` takes long.
    void run_on_body_thread(ExchangePtr const& x, port::Fn<void()> work, port::Fn<void()> then);

    // Closes the streams of revoked and expired tokens. Runs soon after each change and every
    // second.
    void close_revoked();

private:
    void watch_streams();
    void keep_stream(PrincipalPtr const& principal, std::shared_ptr<EventStream> const& stream);
    void log_cut(SessionId session, runner::CutReport const& cut);
    void route(ExchangePtr const& exchange, Observed& observed);
    void handle_known(HttpRequest request, std::shared_ptr<Responder> responder);
    [[nodiscard]] bool needs_look_up(HttpRequest const& head) const;
    void handle_checked(HttpRequest request, std::shared_ptr<Responder> responder);
    [[nodiscard]] bool is_open(HttpRequest const& head) const;
    [[nodiscard]] std::optional<HttpReply> refuse_asker(HttpRequest const& head, bool open);
    void read_body(ExchangePtr const& x, port::Fn<void()> then);
    // Returns null when there is no such route.
    [[nodiscard]] Route const* find(std::string_view method,
                                    std::vector<std::string> const& segments) const;
    [[nodiscard]] HttpReply without_route(Exchange const& exchange, Observed& observed) const;
    [[nodiscard]] HttpReply no_route(HttpRequest const& request) const;
    [[nodiscard]] std::optional<HttpReply> refuse_before_body(HttpRequest const& head);

    struct Opened {
        PrincipalPtr principal;
        std::weak_ptr<EventStream> stream;
    };

    Services services_;
    std::vector<Opened> opened_;
    bool watching_ = false;  // a call of close_revoked() is scheduled
    std::unique_ptr<Streams> streams_;
    std::unique_ptr<FeedStreams> feed_streams_;
    std::unique_ptr<Waits> waits_;
    std::unique_ptr<Changes> changes_;
    std::unique_ptr<Webhooks> webhooks_;
    std::unique_ptr<SharedAccess> shared_access_;
    std::vector<port::NodeRow> others_;
    port::StoreFormat store_format_ = {};
    std::int64_t known_format_ = 0;
    std::unique_ptr<Readiness> readiness_;
    std::unique_ptr<OidcSignIn> oidc_;
    std::unique_ptr<McpSessions> mcp_sessions_;
    std::unique_ptr<McpShared> mcp_shared_;
    std::unique_ptr<McpSignIns> mcp_sign_ins_;
    runner::MailService mail_;
    runner::HistoryCutter cutter_;
    runner::Redactor redactor_;
    WebPage const web_page_;
    std::vector<Route> const routes_;
    Scope scope_;
};

[[nodiscard]] std::vector<Route> all_routes();  // routes.cc

}  // namespace dormouse::http
