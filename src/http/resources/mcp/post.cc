// POST /mcp: a message, or a batch of them, is answered as JSON, or as a stream if an answer may
// take long.

#include "http/resources/mcp/handlers.h"
#include "http/resources/mcp/mcp_sessions.h"
#include "http/resources/mcp/mcp_shared.h"
#include "http/resources/mcp/own_requests.h"

#include "base/text/text.h"
#include "mcp/face.h"

#include <algorithm>
#include <utility>

namespace dormouse::http {
namespace {

using Kind = rpc::Message::Kind;

constexpr std::string_view session_id_header = "Mcp-Session-Id";
constexpr std::size_t id_bytes_max = 256;

// The answers to the messages of one request.
class McpAnswer : public std::enable_shared_from_this<McpAnswer> {
public:
    McpAnswer(Api& api, ExchangePtr x) : api_(api), x_(std::move(x)) {}

    void begin(rpc::Received received);

private:
    [[nodiscard]] bool refuse();
    [[nodiscard]] bool has_requests() const;
    void withdraw_named();
    void process();
    void begin_session();
    void take_response();
    void begin_stream();
    [[nodiscard]] bool gone() const;
    void answer(rpc::Message const& message);
    void answered(Json const& id, mcp::Era era, mcp::Face::Answer answer);
    void add(std::string line);
    void finish();
    void fail(int status, Json const& id, rpc::Fault const& fault);
    [[nodiscard]] mcp::FaceSettings settings() const;

    Api& api_;
    ExchangePtr const x_;
    rpc::Received received_ = {};
    std::string session_;      // of MCP; empty: none
    std::uint64_t after_ = 0;  // the newest withdrawal before this request (McpMarks)
    std::vector<std::pair<std::string, std::string>> headers_;
    std::shared_ptr<mcp::Face> face_;
    std::shared_ptr<EventStream> stream_;  // null: the answer is one JSON text
    McpStreamPtr kept_;  // the stream, if the client may continue it; null: it may not
    std::vector<std::string> lines_;
    std::size_t open_ = 1;  // answers that are missing, and begin() itself
    int status_ = 200;
};

mcp::FaceSettings McpAnswer::settings() const {
    auto const named = x_->request.query_value("session");
    std::string session(named.value_or(""));
    if (!named && x_->principal && x_->principal->session)
        session = x_->principal->session->text();  // an external agent's
    return {.session = std::move(session),
            .project = std::string(x_->request.query_value("project").value_or("")),
            .version = api_.services().facts.release,
            .elicits = {.client = McpSessions::client_of(session_),
                        .base_url = api_.services().gate.base_url()}};
}

void McpAnswer::fail(int status, Json const& id, rpc::Fault const& fault) {
    x_->json(status, rpc::refusal(id, fault));
}

bool McpAnswer::has_requests() const {
    return std::ranges::any_of(received_.messages, [](rpc::Message const& message) {
        return message.kind == Kind::request || message.kind == Kind::refused;
    });
}

// Answers what cannot be handled at all; returns true if it was.
bool McpAnswer::refuse() {
    auto const& first = received_.messages.front();
    if (!received_.batch && first.kind == Kind::refused) {
        fail(400, first.id, *first.fault);
        return true;
    }
    auto const version = x_->request.header("mcp-protocol-version");
    bool const takes_batches = version.empty() || version == mcp::version_without_header;
    if (received_.batch && !takes_batches) {
        fail(400, Json(),
             {.code = rpc::code::invalid_request, .message = "this version has no batches"});
        return true;
    }
    auto const header = [this](std::string_view name) { return x_->request.header(name); };
    for (rpc::Message const& message : received_.messages) {
        // It is kept until the answer, which may come after hours.
        if (message.id.size() > id_bytes_max) {
            fail(400, Json(),
                 {.code = rpc::code::invalid_request,
                  .message = "the id must be at most 256 bytes"});
            return true;
        }
        auto const wrong = message.kind == Kind::refused || message.kind == Kind::response
                               ? std::nullopt
                               : mcp::wrong_headers(header, message);
        if (!wrong) continue;
        fail(mcp::http_status_of(*wrong, mcp::Era::stateless), message.id, *wrong);
        return true;
    }
    return false;
}

// The session of `initialize` begins here; its id is in the header of the answer.
void McpAnswer::begin_session() {
    auto const hello = std::ranges::find(received_.messages, "initialize", &rpc::Message::method);
    if (hello == received_.messages.end()) return;
    auto const client = mcp::abilities_in(json::View(hello->params)["capabilities"]);
    session_ =
        api_.mcp_sessions().begin(x_->by.name, base64url(api_.services().entropy.random()), client);
    headers_.emplace_back(session_id_header, session_);
}

// Handles the answer of the client's user to elicitation/create; other responses and notifications
// need no answer.
void McpAnswer::take_response() {
    auto const& first = received_.messages.front();
    bool const elicited = first.kind == Kind::response && !mcp::elicited_call(first.id).empty();
    if (!elicited) return x_->empty(202);
    mcp::take_elicited(api_of(api_, x_), first, [x = x_](std::optional<rpc::Fault> wrong) {
        if (!wrong) return x->empty(202);
        x->json(400, rpc::refusal(Json(), *wrong));
    });
}

// With a session the stream is kept, so that a client which lost it continues it.
void McpAnswer::begin_stream() {
    bool const waits = std::ranges::any_of(received_.messages, mcp::Face::may_wait);
    if (!waits || !x_->request.header("accept").contains("text/event-stream")) return;
    stream_ = x_->responder->stream(headers_);
    if (!stream_ || session_.empty()) return;
    kept_ = api_.mcp_sessions().streams().begin(
        session_, base64url(api_.services().entropy.random()),
        [&runner = api_.services().runner] { return runner.now(); });
    kept_->attach(stream_, 0);
    // Clients of earlier versions read each event as a message.
    if (x_->request.header("mcp-protocol-version") == mcp::newest_session_version) kept_->prime();
}

bool McpAnswer::gone() const { return kept_ ? kept_->given_up() : x_->responder->gone(); }

// Withdraws the requests that notifications/cancelled names, then handles the other messages.
void McpAnswer::withdraw_named() {
    std::vector<std::string> requests;
    for (rpc::Message const& message : received_.messages) {
        if (message.kind != Kind::notification || message.method != "notifications/cancelled")
            continue;
        json::View const params(message.params);
        requests.emplace_back(params["requestId"].raw());
    }
    if (session_.empty() || requests.empty()) return process();
    api_.mcp_shared().cancel(session_, requests,
                             [self = shared_from_this()](Result<void> const& stored) {
                                 if (!stored) return self->x_->fail(stored.error());
                                 self->process();
                             });
}

void McpAnswer::begin(rpc::Received received) {
    received_ = std::move(received);
    if (refuse()) return;
    session_ = x_->request.header("mcp-session-id");
    if (session_.empty()) return process();
    api_.mcp_shared().use(
        x_->by.name, session_, [self = shared_from_this()](Result<std::uint64_t> const& after) {
            if (!after && after.error().code == Code::not_found)
                return self->fail(
                    404, Json(),
                    {.code = -32001, .message = "Session not found: initialize again"});
            if (!after) return self->x_->fail(after.error());
            self->after_ = *after;
            self->withdraw_named();
        });
}

void McpAnswer::process() {
    if (!has_requests()) return take_response();
    begin_session();
    begin_stream();
    auto const of = kept_ ? staying(x_, [kept = kept_] { return kept->given_up(); }) : x_;
    face_ = std::make_shared<mcp::Face>(settings(), api_of(api_, of));
    for (rpc::Message const& message : received_.messages) {
        if (message.kind == Kind::refused) add(rpc::refusal(message.id, *message.fault));
        if (message.kind == Kind::request) answer(message);
    }
    received_.messages = {};  // an answer may take long
    finish();
}

void McpAnswer::answer(rpc::Message const& message) {
    auto const ticket = std::make_shared<mcp::Ticket>();
    ticket->gone = [self = shared_from_this()] { return self->gone(); };
    std::string const id(message.id.text());
    if (auto const why = api_.mcp_sessions().open(session_, id, ticket, after_); !why.empty())
        return add(rpc::refusal(message.id, {.code = rpc::code::invalid_request, .message = why}));
    api_.mcp_shared().follow();
    auto const token = mcp::progress_token(message);
    if (stream_ && !token.is_null())
        ticket->progress = [self = weak_from_this(), token,
                            count = std::int64_t{0}](std::string const& text) mutable {
            if (auto const answer = self.lock())
                answer->add(mcp::progress_line(token, ++count, text));
        };
    if (stream_)
        ticket->send = [self = weak_from_this()](std::string const& line) {
            if (auto const answer = self.lock()) answer->add(line);
        };
    ++open_;
    face_->answer(message, mcp::era_of(message), ticket,
                  [self = shared_from_this(), id = message.id,
                   era = mcp::era_of(message)](mcp::Face::Answer answer) {
                      self->api_.mcp_sessions().close(self->session_, std::string(id.text()));
                      self->answered(id, era, std::move(answer));
                      self->finish();
                  });
}

void McpAnswer::answered(Json const& id, mcp::Era era, mcp::Face::Answer answer) {
    if (answer) return add(rpc::response(id, *answer));
    if (!received_.batch) status_ = mcp::http_status_of(answer.error(), era);
    add(rpc::refusal(id, answer.error()));
}

void McpAnswer::add(std::string line) {
    if (kept_) return kept_->send(line);
    if (!stream_) return lines_.push_back(std::move(line));
    (void)stream_->send(
        std::make_shared<std::string const>("event: message\ndata: " + line + "\n"));
}

void McpAnswer::finish() {
    if (--open_ > 0) return;
    if (kept_) {
        kept_->end();
        return api_.mcp_sessions().streams().trim(api_.services().runner.now());
    }
    if (stream_) return stream_->close();
    x_->responder->reply({status_, "application/json", headers_,
                          received_.batch ? rpc::batch(lines_) : lines_.front()});
}

}  // namespace

void post_mcp(Api& api, ExchangePtr const& x) {
    auto const received = std::make_shared<rpc::Received>();
    auto read = [x, received] {
        *received = rpc::read({.text = std::exchange(x->request.body, {})});
    };
    api.run_for_body(x, std::move(read), [&api, x, received] {
        std::make_shared<McpAnswer>(api, x)->begin(std::move(*received));
    });
}

}  // namespace dormouse::http
