#include "http/resources/api.h"

#include "base/text/names.h"
#include "base/text/split.h"
#include "base/text/text.h"
#include "base/trace.h"
#include "http/objects/body.h"
#include "http/objects/html.h"
#include "http/resources/mcp/handlers.h"
#include "http/resources/mcp/mcp_sessions.h"
#include "http/resources/mcp/mcp_shared.h"
#include "http/resources/mcp/sign_in.h"
#include "http/resources/operations/doctor/readiness.h"
#include "http/resources/operations/metrics/metrics.h"
#include "http/resources/operations/metrics/observed.h"
#include "http/resources/shared_access.h"
#include "http/resources/tokens/oidc_sign_in.h"
#include "http/resources/waits.h"
#include "http/resources/webhooks/handlers.h"
#include "http/resources/webhooks/webhooks.h"
#include "http/streams/changes.h"
#include "http/streams/feed_streams.h"
#include "http/streams/streams.h"
#include "json/json.h"
#include "session/tracing.h"
#include "wire/admit.h"

#include <algorithm>
#include <set>

namespace dormouse::http {

namespace {

constexpr std::size_t default_body_max = std::size_t{1} << 20;

std::vector<std::string_view> split(std::string_view path) {
    std::vector<std::string_view> out;
    for (std::size_t at = 1; at <= path.size();) {
        std::size_t const end = std::min(path.find('/', at), path.size());
        out.push_back(path.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

template <class Segments> bool matches(Route const& route, Segments const& segments) {
    return std::ranges::equal(route.pattern, segments,
                              [](std::string_view pattern, std::string_view segment) {
                                  return pattern == "{}" ? !segment.empty() : pattern == segment;
                              });
}

// Returns a route as logs and metrics name it: "/api/sessions/{}".
std::string text_of(Route const& route) {
    std::string out;
    for (std::string_view const segment : route.pattern) out.append("/").append(segment);
    return out.empty() ? "/" : out;
}

bool has_node(std::vector<port::NodeRow> const& nodes, Epoch epoch) {
    return std::ranges::find(nodes, epoch, &port::NodeRow::epoch) != nodes.end();
}

// A refused parameter would otherwise be ignored; of one that is given twice, one value would be.
std::optional<Error> refuse_query(HttpRequest const& request, Route const& route) {
    constexpr std::size_t parameters_max = 100;
    if (request.query.size() > parameters_max)
        return bad_value("?",
                         "must have at most " + std::to_string(parameters_max) + " parameters");
    auto const known = split_list(route.query, ' ');
    bool const others = std::ranges::find(known, "*") != known.end();
    std::set<std::string_view> earlier;
    for (auto const& [name, value] : request.query) {
        bool const named = std::ranges::find(known, name) != known.end();
        if (!named && !others) return unknown_field("?", name, known);
        if (!earlier.insert(name).second) return bad_value("?" + name, "is given twice");
    }
    return std::nullopt;
}

std::string allowed_methods(std::vector<Route> const& routes,
                            std::vector<std::string> const& segments) {
    std::string methods;
    for (Route const& route : routes) {
        if (!matches(route, segments)) continue;
        methods += (methods.empty() ? "" : ", ") + std::string(route.method);
        if (route.method == "GET") methods += ", HEAD";
    }
    return methods;
}

}  // namespace

namespace {

std::string digest_of(Json const& body) {
    Sha256 const content = sha256(json::canonical(body));
    return hex(std::span(content).first(16));
}

std::string_view unquoted(std::string_view key) {
    bool const quoted = key.size() >= 2 && key.front() == '"' && key.back() == '"';
    return quoted ? key.substr(1, key.size() - 2) : key;
}

// A key of another form is refused: a client that sends it believes that it may repeat the request.
std::optional<Error> refuse_key(HttpRequest const& request) {
    constexpr std::size_t key_max = 1'024;
    if (is_webhook(request)) return std::nullopt;  // the sender's own, and not read
    std::size_t count = 0;
    for (auto const& [name, value] : request.headers) {
        if (name != "idempotency-key") continue;
        auto const key = unquoted(value);
        bool const odd = std::ranges::any_of(key, [](char c) {
            return c == '"' || c == 0x7f || static_cast<unsigned char>(c) < 0x20;
        });
        if (++count > 1) return bad_value("Idempotency-Key", "is given twice");
        if (key.empty()) return bad_value("Idempotency-Key", "must not be empty");
        if (key.size() > key_max)
            return bad_value("Idempotency-Key",
                             "must be at most " + std::to_string(key_max) + " bytes");
        if (odd)
            return bad_value("Idempotency-Key",
                             "must have no control character, and a quote only at both ends");
    }
    return std::nullopt;
}

// Returns the project in the path or the query if it is no name of a project.
std::optional<Error> refuse_project(HttpRequest const& request, Route const& route) {
    constexpr std::string_view form = "must match [A-Za-z0-9_.-]{1,64}";
    for (std::size_t i = 1; i < route.pattern.size(); ++i) {
        bool const names = route.pattern[i] == "{}" && route.pattern[i - 1] == "projects";
        if (names && !is_short_name(request.segments[i]))
            return bad_value("{project}", std::string(form));
    }
    auto const project = request.query_value("project");
    bool const odd = project && *project != "*" && !is_short_name(*project);
    return odd ? std::optional(bad_value("?project", std::string(form))) : std::nullopt;
}

}  // namespace

runner::Asker Exchange::asker() const {
    runner::Asker asker{by, {}, {}, rights_of(capability ? nullptr : principal.get())};
    asker.trace = session::read_trace(request.header("traceparent"), request.joined("tracestate"));
    std::string_view const key = unquoted(request.header("idempotency-key"));
    if (key.empty()) return asker;
    Sha256 const scope =
        sha256(by.name + "\n" + request.method + "\n" + request.path + "\n" + std::string(key));
    asker.idem_key = hex(std::span(scope).first(16));
    asker.idem_digest = body_digest.empty() ? digest_of(body) : body_digest;
    return asker;
}

Api::Api(Services services)
    : services_(services),
      streams_(std::make_unique<Streams>(services.runner, services.loop, services.publish)),
      feed_streams_(
          std::make_unique<FeedStreams>(services.loop, services.journal, services.runner)),
      waits_(std::make_unique<Waits>(services_)),
      changes_(std::make_unique<Changes>(services.runner.now())),
      webhooks_(std::make_unique<Webhooks>(services_)),
      shared_access_(std::make_unique<SharedAccess>(services_, [this] { close_revoked(); })),
      readiness_(std::make_unique<Readiness>(services_)),
      oidc_(services.oidc ? std::make_unique<OidcSignIn>(*services.oidc) : nullptr),
      mcp_sessions_(std::make_unique<McpSessions>()),
      mcp_shared_(
          std::make_unique<McpShared>(McpShared::Services{services.loop, services.journal,
                                                          services.shared_values, services.publish},
                                      *mcp_sessions_)),
      mcp_sign_ins_(std::make_unique<McpSignIns>(services.foreign_sign_in_key)),
      mail_(services.loop, services.journal, services.runner),
      cutter_(services.runner, services.loop, services.journal, services.keep,
              [this](SessionId session, runner::CutReport const& cut) { log_cut(session, cut); }),
      redactor_(services.runner, services.journal),
      web_page_(services.web_files),
      routes_(all_routes()) {}

void Api::log_cut(SessionId session, runner::CutReport const& cut) {
    services_.log.info("oldest messages removed", {{"session", session.text()},
                                                   {"messages", std::to_string(cut.messages)},
                                                   {"bytes", std::to_string(cut.bytes)}});
}

Api::~Api() = default;

void Api::delta(SessionId session, session::AskModel const& ask, port::Delta const& delta) {
    streams_->delta(session, ask, delta);
}

void Api::appended(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records) {
    changes_->note(lane.id(), lane.state().project, records, services_.runner.now());
    streams_->appended(lane.id(), records);
    feed_streams_->appended();
    webhooks_->appended(lane.state().project, records);
    services_.metrics.appended(lane.state(), records, services_.runner.now());
    log_appended(services_.log, lane.id(), records);
    cutter_.appended(lane, records);
}

std::vector<wire::RecordPtr> Api::appended_elsewhere(port::FeedRow const& row) {
    feed_streams_->appended();
    if (row.deleted) return {};
    // A damaged append is reported by those that read it.
    auto records = wire::unpack(row.session, row.frame.first, row.frame.bytes);
    if (!records) return {};
    changes_->note(row.session, row.project, *records, services_.runner.now());
    streams_->appended(row.session, *records);
    webhooks_->appended(row.project, *records);
    return *std::move(records);
}

void Api::missed_appends() {
    feed_streams_->appended();
    changes_->missed(services_.runner.now());
    webhooks_->offer_all();
}

void Api::on_signal(Epoch from, std::string_view text) {
    streams_->on_signal(from, text);
    mcp_shared_->on_signal(text);
}

bool Api::awaited() const {
    return streams_->count() > 0 || feed_streams_->count() > 0 || changes_->watched() ||
           waits_->some();
}

// When a process has left, every other process offers the deliveries that it had kept for calls not
// yet paused; the one that has the call takes them.
void Api::on_heartbeat(port::HeartbeatReply const& beat, Epoch self) {
    shared_access_->on_heartbeat(beat.access);
    auto const before = std::exchange(others_, beat.nodes);
    std::erase_if(others_, [&](port::NodeRow const& row) {
        if (row.epoch == self) known_format_ = row.format;
        return row.epoch == self;
    });
    store_format_ = beat.format;
    bool const left = std::ranges::any_of(
        before, [&](port::NodeRow const& row) { return !has_node(others_, row.epoch); });
    if (left) webhooks_->read_kept();
}

// Whether it needs no token.
bool Api::is_open(HttpRequest const& head) const {
    bool const reads = head.method == "GET" || head.method == "HEAD";
    return reads && (web_page_.has(head.path) || is_mcp_metadata(head.path));
}

// Routes without a token need no lookup in the database.
bool Api::needs_look_up(HttpRequest const& head) const {
    return !is_open(head) && !is_webhook(head) && shared_access_->is_unsure(head);
}

std::optional<HttpReply> Api::refuse(HttpRequest const& head) {
    // handle() looks its token up, and refuses it then if nobody has made it.
    if (needs_look_up(head)) {
        auto const error = services_.gate.refuse(head, true);
        return error ? std::optional(problem(*error, head)) : std::nullopt;
    }
    return refuse_asker(head, is_open(head));
}

std::optional<HttpReply> Api::refuse_asker(HttpRequest const& head, bool open) {
    auto error = services_.gate.refuse(head, open);
    if (!error) return has_body(head) ? refuse_before_body(head) : std::nullopt;
    auto reply = problem_reply(*error, head);
    if (reply.status == 401 && head.path == mcp_path) {
        for (auto& [name, value] : reply.headers)
            if (name == "WWW-Authenticate")
                value = mcp_challenge(services_.gate.base_url(), head.header("authorization"));
    }
    services_.metrics.answered(head.method, {}, reply.status);
    return for_browser(std::move(reply), head);
}

// Refuses by the head alone, before the body takes memory.
std::optional<HttpReply> Api::refuse_before_body(HttpRequest const& head) {
    // A body that is too long is reported as such on every path; the transport does that.
    auto const length = parse_number(head.header("content-length"));
    Route const* const route = find(head.method, head.segments);
    if (length && *length > (route ? route->body_max : default_body_max)) return std::nullopt;
    std::optional<HttpReply> reply;
    if (!route) {
        reply = no_route(head);
    } else {
        auto error = refuse_query(head, *route);
        if (!error && is_webhook(head)) error = refuse_webhook(*this, head);
        if (!error && !services_.gate.capability(head))
            error = refuse_role(services_.gate.principal(head).get(), route->right);
        if (error) reply = problem_reply(*error, head);
    }
    if (!reply) return std::nullopt;
    services_.metrics.answered(head.method, route ? text_of(*route) : "", reply->status);
    return for_browser(*std::move(reply), head);
}

bool Api::knows(HttpRequest const& head) const {
    return services_.gate.principal(head) || services_.gate.capability(head);
}

HttpReply Api::problem(Error const& error, HttpRequest const& head) {
    auto reply = problem_reply(error, head);
    services_.metrics.answered(head.method, {}, reply.status);
    return for_browser(std::move(reply), head);
}

std::size_t Api::body_limit(std::string_view method, std::string_view path) const {
    auto const segments = split(path);
    for (Route const& route : routes_) {
        if (route.method == method && matches(route, segments)) return route.body_max;
    }
    return default_body_max;
}

void Api::handle(HttpRequest request, std::shared_ptr<Responder> responder) {
    if (!services_.find_token || is_open(request) || is_webhook(request))
        return handle_known(std::move(request), std::move(responder));
    // The token may have become known since refuse() saw the head: all is checked again.
    auto const unknown = services_.gate.unknown(request);
    if (!unknown || !needs_look_up(request))
        return handle_checked(std::move(request), std::move(responder));
    auto const kept = std::make_shared<HttpRequest>(std::move(request));
    shared_access_->look_up(unknown->kind, unknown->secret,
                            [this, kept, responder](Result<void> const& done) {
                                if (!done) return responder->reply(problem(done.error(), *kept));
                                handle_checked(std::move(*kept), responder);
                            });
}

// Checks what refuse() has let pass because the token was to be looked up.
void Api::handle_checked(HttpRequest request, std::shared_ptr<Responder> responder) {
    if (auto const refused = refuse_asker(request, is_open(request)))
        return responder->reply(*refused);
    handle_known(std::move(request), std::move(responder));
}

void Api::handle_known(HttpRequest request, std::shared_ptr<Responder> responder) {
    auto exchange = std::make_shared<Exchange>();
    exchange->request = std::move(request);
    auto const observed =
        std::make_shared<Observed>(std::move(responder), exchange->request, services_);
    exchange->responder = observed;
    exchange->principal = services_.gate.principal(exchange->request);
    exchange->by = services_.gate.actor(exchange->request, exchange->principal.get());
    observed->of(exchange->principal,
                 scope_.guard([this, principal = exchange->principal](auto const& stream) {
                     keep_stream(principal, stream);
                 }));
    exchange->capability = services_.gate.capability(exchange->request);
    if (auto const error = refuse_key(exchange->request)) return exchange->fail(*error);
    route(exchange, *observed);
}

namespace {

// Passes the reply on. Only while the client of the original request waits.
class OwnResponder final : public Responder {
public:
    OwnResponder(ExchangePtr from, port::Fn<void(HttpReply)> done)
        : from_(std::move(from)), done_(std::move(done)) {}
    void reply(HttpReply reply) override { std::exchange(done_, {})(std::move(reply)); }
    // No request of this process asks for a stream.
    std::shared_ptr<EventStream> stream(std::vector<std::pair<std::string, std::string>>) override {
        return nullptr;
    }
    [[nodiscard]] bool gone() const override { return from_->responder->gone(); }
    void body_freed() override {}  // the connection counts that of the original request

private:
    ExchangePtr from_;
    port::Fn<void(HttpReply)> done_;
};

}  // namespace

void Api::handle_for(ExchangePtr const& from, HttpRequest request, port::Fn<void(HttpReply)> done) {
    auto exchange = std::make_shared<Exchange>();
    exchange->request = std::move(request);
    auto const observed = std::make_shared<Observed>(
        std::make_shared<OwnResponder>(from, std::move(done)), exchange->request, services_);
    exchange->responder = observed;
    exchange->principal = from->principal;
    exchange->by = from->by;
    observed->of(exchange->principal, {});
    route(exchange, *observed);
}

void Api::run_for_body(ExchangePtr const& x, port::Fn<void()> work, port::Fn<void()> then) {
    bool const large = std::max(x->body.size(), x->request.body.size()) >= wire::large_bytes;
    if (large) return run_on_body_thread(x, std::move(work), std::move(then));
    work();
    then();
}

void Api::run_on_body_thread(ExchangePtr const& x, port::Fn<void()> work, port::Fn<void()> then) {
    if (services_.workers == nullptr) {
        work();
        return then();
    }
    services_.workers->run(
        [work = std::move(work)](std::stop_token const&) mutable { work(); },
        scope_.guard([x, then = std::move(then)](bool ran) mutable {
            if (!ran) return x->fail({Code::overloaded, "Too many large bodies wait.", {}, 1'000});
            then();
        }));
}

// Reads the JSON body, except of a webhook, whose signature must be checked first.
void Api::read_body(ExchangePtr const& x, port::Fn<void()> then) {
    x->body = Json::trusted("{}");
    bool const own_form = is_webhook(x->request) || is_page_form(x->request) ||
                          x->request.path == mcp_path;  // answers in JSON-RPC
    if (x->request.body.empty() || own_form) return then();
    auto const failed = std::make_shared<std::optional<Error>>();
    auto check = [x, failed] {
        auto body = json::check(x->request.body);
        if (!body) {
            *failed = std::move(body.error());
            return;
        }
        x->body = std::move(*body);
        x->request.body = {};
        if (!x->request.header("idempotency-key").empty()) x->body_digest = digest_of(x->body);
    };
    run_for_body(x, std::move(check), [x, failed, then = std::move(then)]() mutable {
        if (*failed) return x->fail(**failed);
        then();
    });
}

void Api::keep_stream(PrincipalPtr const& principal, std::shared_ptr<EventStream> const& stream) {
    if (!principal) return;
    std::erase_if(opened_, [](Opened const& one) { return one.stream.expired(); });
    opened_.push_back({principal, stream});
    if (!std::exchange(watching_, true)) watch_streams();
}

void Api::watch_streams() {
    services_.loop.after(Duration(1'000), scope_.guard([this] {
        close_revoked();
        watching_ = !opened_.empty();
        if (watching_) watch_streams();
    }));
}

void Api::close_revoked() {
    static auto const bye =
        std::make_shared<std::string const>("event: bye\ndata: {\"reason\":\"revoked\"}\n\n");
    Time const now = services_.runner.now();
    std::erase_if(opened_, [&](Opened const& one) {
        auto const stream = one.stream.lock();
        if (!stream || !stream->open()) return true;
        if (one.principal->valid(now)) return false;
        (void)stream->send(bye);
        stream->close();
        return true;
    });
}

Route const* Api::find(std::string_view method, std::vector<std::string> const& segments) const {
    auto const asked = method == "HEAD" ? "GET" : method;
    auto const found = std::ranges::find_if(routes_, [&](Route const& route) {
        return route.method == asked && matches(route, segments);
    });
    return found == routes_.end() ? nullptr : &*found;
}

HttpReply Api::no_route(HttpRequest const& request) const {
    std::string const methods =
        web_page_.has(request.path) ? "GET, HEAD" : allowed_methods(routes_, request.segments);
    if (methods.empty()) return problem_reply({Code::not_found, "There is no such path."}, request);
    HttpReply reply =
        problem_reply({Code::method_not_allowed, "This path takes " + methods + "."}, request);
    reply.headers.emplace_back("Allow", methods);
    return reply;
}

// A file or a view of the web page, or nothing that is known here.
HttpReply Api::without_route(Exchange const& exchange, Observed& observed) const {
    HttpRequest const& request = exchange.request;
    bool const reads = request.method == "GET" || request.method == "HEAD";
    if (!reads || !web_page_.has(request.path)) return no_route(request);
    observed.matched("web page", {});
    auto page =
        web_page_.get(request, exchange.principal && !exchange.principal->session.has_value());
    if (page) return *std::move(page);
    return problem_reply({Code::not_found, "There is no such file."}, request);
}

void Api::route(ExchangePtr const& exchange, Observed& observed) {
    trace();
    HttpRequest const& request = exchange->request;
    Route const* const route = find(request.method, request.segments);
    if (!route) return exchange->responder->reply(without_route(*exchange, observed));
    for (std::size_t i = 0; i < route->pattern.size(); ++i) {
        if (route->pattern[i] == "{}") exchange->params.push_back(request.segments[i]);
    }
    observed.matched(text_of(*route), exchange->params);
    if (auto const error = refuse_query(request, *route)) return exchange->fail(*error);
    if (auto const error = refuse_project(request, *route)) return exchange->fail(*error);
    auto handle = [this, exchange, route] { route->handler(*this, exchange); };
    with_rights(*this, exchange, route->right,
                [this, exchange, handle] { read_body(exchange, handle); });
}

}  // namespace dormouse::http
