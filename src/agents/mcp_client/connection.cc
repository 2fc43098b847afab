#include "mcp_client/connection.h"

#include "base/check.h"
#include "json/json.h"
#include "mcp/versions.h"
#include "mcp_client/library.h"
#include "mcp_client/requests/sampling.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dormouse::mcp_client {
namespace {

constexpr Duration list_pause{1'000};  // between two lists
constexpr Duration list_lifetime_min{60'000};
constexpr Duration list_lifetime_max{3'600'000};
constexpr Duration listen_pause{5'000};  // before a stream that ended is opened again

// Refusals of `initialize` by a server that may know only versions without it.
bool knows_no_initialize(int code) {
    return code == rpc::code::method_not_found || code == rpc::code::invalid_request ||
           code == rpc::code::invalid_params || code == mcp::code::header_mismatch ||
           code == mcp::code::unsupported_version;
}

bool knows_stateless(json::View discovered) {
    bool found = false;
    discovered["supportedVersions"].elements(
        [&](json::View version) { found = found || version.string() == mcp::stateless_version; });
    return found;
}

}  // namespace

Connection::Connection(ServerSettings settings, ConnectionServices services,
                       ConnectionEvents events)
    : settings_(std::move(settings)),
      services_(std::move(services)),
      events_(std::move(events)),
      progress_(services_.loop, events_.progress),
      tasks_(settings_, services_.loop, *this, progress_),
      calls_(settings_, services_.loop, *this, tasks_, progress_, services_.ask_model) {
    if (settings_.oauth)
        own_tokens_ = std::make_unique<TokenSource>(settings_, services_.http, services_.clock);
    if (settings_.sign_in)
        sign_in_ =
            std::make_unique<SignIn>(settings_, services_.http, services_.loop, services_.clock,
                                     services_.sign_ins, [this] { sign_in_changed(); });
}

Connection::~Connection() { scope_.end(); }

std::string Connection::named(std::string const& what) const {
    return "MCP server '" + settings_.name + "': " + what;
}

void Connection::warn(std::string const& what) const { events_.warn(named(what)); }

void Connection::start() {
    if (state_.begin()) connect();
}

void Connection::connect() {
    ++attempt_;
    failing_ = lists_ = list_again_ = false;
    skipped_ = 0;
    awaited_.clear();
    peer_ = std::make_unique<rpc::Peer>(listener(), settings_.message_max);
    Tokens* const tokens = sign_in_ ? static_cast<Tokens*>(sign_in_.get()) : own_tokens_.get();
    link_ = settings_.url.empty()
                ? make_stdio_link(settings_, services_.processes, link_events())
                : make_http_link(settings_, services_.http, tokens, link_events());
    initialize();
    auto too_late = [this, attempt = attempt_] {
        bool const starts =
            state_.phase() == Phase::initializing || state_.phase() == Phase::listing;
        if (attempt == attempt_ && starts)
            fail("it has not listed its tools within " +
                 std::to_string(settings_.start_limit.count() / 1'000) + " s");
    };
    services_.loop.after(settings_.start_limit, scope_.guard(std::move(too_late)));
}

port::ForeignServer Connection::shown() const {
    using State = port::ForeignServerState;
    using SignInState = port::ForeignSignInState;
    port::ForeignServer out{.name = settings_.name, .why = last_failure_};
    if (state_.ready()) out.state = State::ready;
    if (!state_.ready() && !last_failure_.empty()) out.state = State::failing;
    if (own_tokens_)
        out.sign_in = own_tokens_->token().empty() ? SignInState::unasked : SignInState::good;
    if (sign_in_) out.sign_in = sign_in_->state();
    return out;
}

std::string Connection::sign_in_page() const {
    return sign_in_ && sign_in_->needed() ? sign_in_->page() : "";
}

// Calls that wait for the connection ask people instead; after a sign-in it connects at once.
void Connection::sign_in_changed() {
    services_.loop.post(scope_.guard([this] {
        if (sign_in_->needed()) return calls_.need_sign_in();
        start();
    }));
}

LinkEvents Connection::link_events() {
    return {
        .received = [this](std::string_view bytes, std::string_view id) { received(bytes, id); },
        .lost = [this](std::string_view id,
                       std::string const& why) { answer_for(id, code_lost, why); },
        .refused = [this](std::string_view id,
                          std::string const& why) { answer_for(id, code_refused, why); },
        .unheard =
            [this] {
                auto again = [this, attempt = attempt_] {
                    if (attempt == attempt_ && link_) link_->initialized(abilities_.version);
                };
                services_.loop.after(listen_pause, scope_.guard(std::move(again)));
            },
        .closed = [this](std::string const& why) { fail_soon(why); }};
}

rpc::Peer::Listener Connection::listener() {
    return {.send = [this](std::string const& line) { send(line); },
            .request =
                [this](std::string const& method, Json const& id, Json const& params) {
                    if (!floods()) request(method, id, params);
                },
            .notification =
                [this](std::string const& method, Json const& params) {
                    if (!floods()) notification(method, json::View(params));
                }};
}

void Connection::request(std::string const& method, Json const& id, Json const& params) {
    if (method == "ping") return respond(id, Json::trusted("{}"));
    if (method == "elicitation/create")
        return calls_.asked(id, read_question(json::View(params)), json::View(params), inside_);
    if (method == sampling_method && settings_.sampling)
        return calls_.asked(id, read_sample(json::View(params)), json::View(params), inside_);
    refuse(id, rpc::code::method_not_found, "this client does not offer " + method);
}

void Connection::notification(std::string const& method, json::View params) {
    if (method == "notifications/tools/list_changed") changed();
    if (method == "notifications/progress") calls_.progressed(params);
    if (method == "notifications/tasks/status" || method == "notifications/tasks")
        tasks_.changed(params);
}

void Connection::respond(Json const& id, Json const& result) {
    if (peer_ && !failing_) peer_->respond(id, result);
}

void Connection::refuse(Json const& id, int code, std::string const& why) {
    if (peer_ && !failing_) peer_->refuse(id, code, why);
}

ForeignTool const* Connection::tool(std::string const& name) const {
    auto const at = std::ranges::find(tools_, name, &ForeignTool::name);
    return at == tools_.end() ? nullptr : &*at;
}

void Connection::send(std::string const& line) {
    json::View const message{std::string_view(line)};
    bool const request = message["method"].exists() && message["id"].exists();
    std::string const id = request ? std::string(message["id"].raw()) : "";
    if (link_) link_->send(line, id);
}

std::string Connection::ask(Ask const& what, rpc::Peer::Done done) {
    CHECK(peer_ != nullptr);
    auto const id = std::make_shared<std::string>();
    auto answered = [this, id, done = std::move(done)](rpc::Peer::Answer answer) mutable {
        awaited_.erase(*id);
        done(std::move(answer));
    };
    Json const params =
        with_meta(what.params, abilities_.era, what.progress, what.trace, settings_.sampling);
    *id = std::to_string(peer_->call(what.method, params, std::move(answered)));
    awaited_.insert(*id);
    if (what.limit != Duration::max()) limit(*id, what.limit);
    return *id;
}

void Connection::limit(std::string const& id, Duration time) {
    auto over = [this, attempt = attempt_, id, time] {
        if (attempt != attempt_ || !link_ || !awaited_.contains(id)) return;
        link_->forget(id);
        answer_for(id, code_lost,
                   "it did not answer within " + std::to_string(time.count() / 1'000) + " s");
    };
    services_.loop.after(time, scope_.guard(std::move(over)));
}

void Connection::cancel(std::string const& id, std::string_view why) {
    if (!peer_ || failing_ || !awaited_.contains(id)) return;
    json::Writer params;
    params.begin_object().member_raw("requestId", id).member("reason", why).end_object();
    peer_->notify("notifications/cancelled", params.json());
    link_->forget(id);
}

// More than messages_per_second_max messages in a second that answer nothing end the connection.
bool Connection::floods() {
    auto const second = Duration(services_.clock.monotonic().count() / 1'000);
    if (std::exchange(second_, second) != second) messages_ = 0;
    if (++messages_ <= messages_per_second_max) return false;
    fail_soon("it sends more than " + std::to_string(messages_per_second_max) +
              " messages in a second");
    return true;
}

void Connection::received(std::string_view bytes, std::string_view id) {
    if (failing_ || !peer_) return;
    inside_ = id;
    if (!peer_->receive(bytes))
        return fail_soon("it sent a message of more than " + std::to_string(settings_.message_max) +
                         " bytes");
    if (skipped_ == 0 && peer_->skipped() > 0 && !peer_->skipped_line().empty())
        warn("it sent a line that is not JSON-RPC: " + peer_->skipped_line());
    skipped_ = peer_->skipped();
    if (skipped_ > skipped_max) fail_soon("it sent more than 100 lines that are not JSON-RPC");
}

// Answers a request of ours in place of the server, unless it was answered.
void Connection::answer_for(std::string_view id, int code, std::string const& why) {
    if (failing_ || !peer_) return;
    if (!awaited_.contains(std::string(id))) return;
    std::string const line =
        rpc::refusal(Json::trusted(std::string(id)), {.code = code, .message = why});
    (void)peer_->receive(line);
}

// Later, because the peer and the link may be in use.
void Connection::fail_soon(std::string why) {
    if (std::exchange(failing_, true)) return;
    services_.loop.post(scope_.guard([this, attempt = attempt_, why = std::move(why)] {
        if (attempt == attempt_) fail(why);
    }));
}

void Connection::fail(std::string const& why) {
    failing_ = true;
    bool const was_ready = state_.ready();
    bool const first = !state_.settled();
    Duration const now = services_.clock.monotonic();
    Duration const rest = state_.failed(was_ready ? now - ready_since_ : Duration(0));
    if (why != last_failure_ || was_ready) warn(why);
    last_failure_ = why;
    link_.reset();
    if (peer_) peer_->close();  // ends the calls that were sent
    tasks_.lost();
    peer_.reset();
    services_.loop.after(rest, scope_.guard([this] { start(); }));
    if (first) events_.settled();
}

void Connection::initialize() {
    abilities_ = {};
    (void)ask({.method = "initialize",
               .params = initialize_params(settings_.sampling),
               .limit = Duration::max()},
              [this](rpc::Peer::Answer const& answer) { initialized(answer); });
}

void Connection::initialized(rpc::Peer::Answer const& answer) {
    if (failing_) return;
    if (!answer) {
        std::string const why = "initialize failed: " + answer.error().message;
        return knows_no_initialize(answer.error().code) ? discover(why) : fail_soon(why);
    }
    abilities_ = read_abilities(mcp::Era::with_initialize, json::View(*answer));
    if (!mcp::is_session_version(abilities_.version)) {
        std::string const why =
            "it answered with the unknown protocol version '" + abilities_.version + "'";
        return abilities_.version == mcp::stateless_version ? discover(why) : fail_soon(why);
    }
    if (!state_.initialized()) return;
    peer_->notify("notifications/initialized", Json::trusted("{}"));
    link_->initialized(abilities_.version);
    list("", {}, 0);
}

// A server that does not know `initialize` may know 2026-07-28 only. `why`: what is reported if
// not.
void Connection::discover(std::string const& why) {
    abilities_ = {.era = mcp::Era::stateless};
    link_->stateless();
    (void)ask(
        {.method = "server/discover", .params = Json::trusted("{}"), .limit = Duration::max()},
        [this, why](rpc::Peer::Answer const& answer) {
            if (failing_) return;
            if (!answer || !knows_stateless(json::View(*answer))) return fail_soon(why);
            if (!state_.initialized()) return;
            abilities_ = read_abilities(mcp::Era::stateless, json::View(*answer));
            list("", {}, 0);
        });
}

void Connection::list(std::string const& cursor, std::vector<ForeignTool> found,
                      std::size_t pages) {
    lists_ = true;
    json::Writer params;
    params.begin_object();
    if (!cursor.empty()) params.member("cursor", cursor);
    // Until it is ready, the start as a whole has the limit.
    Duration const time = state_.ready() ? settings_.start_limit : Duration::max();
    (void)ask({.method = "tools/list", .params = params.end_object().json(), .limit = time},
              [this, found = std::move(found), pages](rpc::Peer::Answer const& answer) mutable {
                  list_page(answer, std::move(found), pages);
              });
}

void Connection::list_page(rpc::Peer::Answer const& answer, std::vector<ForeignTool> found,
                           std::size_t pages) {
    if (failing_) return;
    if (!answer) return fail_soon("tools/list failed: " + answer.error().message);
    auto page = read_tools(settings_, json::View(*answer));
    if (!page) return fail_soon(page.error());
    for (std::string const& why : page->left_out) warn(why);
    list_lifetime_ = std::clamp(page->lifetime, list_lifetime_min, list_lifetime_max);
    for (ForeignTool& tool : page->tools) {
        bool const twice = std::ranges::find(found, tool.name, &ForeignTool::name) != found.end();
        if (!twice) found.push_back(std::move(tool));
    }
    bool const endless = !page->next.empty() && pages + 1 >= pages_max;
    if (found.size() > tools_max || endless)
        return fail_soon("it has more than 500 tools, or more than 50 pages of them");
    if (page->next.empty()) return listed(found);
    list(page->next, std::move(found), pages + 1);
}

void Connection::listed(std::vector<ForeignTool> const& found) {
    lists_ = false;
    tools_ = found;
    std::ranges::move(library_tools(abilities_), std::back_inserter(tools_));
    events_.listed(tools_);
    if (state_.phase() == Phase::listing) {
        bool const first = !state_.settled();
        (void)state_.listed();
        ready_since_ = services_.clock.monotonic();
        last_failure_.clear();
        calls_.ready();
        tasks_.ready();
        listen(false);
        if (first) events_.settled();
    }
    if (std::exchange(list_again_, false)) changed();
    if (abilities_.era == mcp::Era::stateless) read_again();
}

// A server of 2026-07-28 says for how long its list holds.
void Connection::read_again() {
    services_.loop.after(list_lifetime_, scope_.guard([this, attempt = attempt_] {
        if (attempt == attempt_ && state_.ready() && !lists_) changed();
    }));
}

// In 2026-07-28 the changes of the list come as the answer to a request. `again`: such an answer
// has ended, and changes may have been missed.
void Connection::listen(bool again) {
    bool const tells = abilities_.era == mcp::Era::stateless && abilities_.tells_changes;
    if (!tells || !state_.ready() || failing_) return;
    (void)ask({.method = listen_method, .params = listen_params(), .limit = Duration::max()},
              [this](rpc::Peer::Answer const& answer) {
                  bool const unknown = !answer && answer.error().code != code_lost;
                  if (unknown || failing_) return;
                  auto then = [this, attempt = attempt_] {
                      if (attempt == attempt_) listen(true);
                  };
                  services_.loop.after(listen_pause, scope_.guard(std::move(then)));
              });
    if (again) changed();
}

// At most one list in a second, however often the server says that it has changed.
void Connection::changed() {
    if (!state_.ready() || lists_) {
        list_again_ = true;
        return;
    }
    lists_ = true;
    services_.loop.after(list_pause, scope_.guard([this, attempt = attempt_] {
        if (attempt != attempt_ || !state_.ready()) return;
        list_again_ = false;
        list("", {}, 0);
    }));
}

}  // namespace dormouse::mcp_client
