// A server that speaks MCP over streamable HTTP. Each message is a POST, which is answered as JSON
// or as a stream of events; a GET brings the server's own messages.

#include "base/scope.h"
#include "base/sse.h"
#include "base/text/text.h"
#include "json/json.h"
#include "mcp/versions.h"
#include "mcp_client/abilities.h"
#include "mcp_client/link.h"
#include "mcp_client/sign_in/token_source.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace dormouse::mcp_client {
namespace {

constexpr std::size_t small_answer = 65'536;
constexpr Duration acceptance_limit{60'000};  // of messages that are no requests
// The stream that answers a request has this many of the largest messages; each is bounded itself.
constexpr std::size_t messages_in_stream = 16;
constexpr std::size_t stream_max = std::size_t{1} << 40;  // of events that are bounded one by one

// Returns the error of the head of an answer; empty: none.
std::string wrong_head(port::HttpHead const& head) {
    std::string const status = std::to_string(head.status);
    if (head.status >= 300 && head.status < 400)
        return "it answered with a redirect (" + status + "), which is not followed";
    if (head.status == 401 || head.status == 403)
        return "it refused the request (" + status + "); check the token in headers, or client_id";
    if (head.status < 200 || head.status > 299) return "it answered with status " + status;
    return {};
}

bool has_type(port::HttpHead const& head, std::string_view type) {
    return lower_case(head.header("content-type").value_or("")).starts_with(type);
}

// Line breaks in JSON are white space, but here they would end the message.
std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    std::ranges::replace(text, '\r', ' ');
    return text + "\n";
}

// An answer whose body may be the refusal of JSON-RPC.
bool is_fault(port::HttpHead const& head) {
    return (head.status == 400 || head.status == 404) && has_type(head, "application/json");
}

// Returns true if the body is the refusal of this request.
bool answers(std::string const& body, std::string const& id) {
    auto const read = json::check(body);
    return read && !id.empty() && json::View(*read)["id"].raw() == id &&
           json::View(*read)["error"].kind() == json::Kind::object;
}

// As 2026-07-28 writes a value that is no visible ASCII.
std::string header_value(std::string const& text) {
    bool const plain = !text.empty() && text.front() != ' ' && text.back() != ' ' &&
                       std::ranges::all_of(text, [](char c) { return c >= 0x20 && c <= 0x7e; });
    if (plain) return text;
    return "=?base64?" + base64({reinterpret_cast<std::uint8_t const*>(text.data()), text.size()}) +
           "?=";
}

// The headers that repeat what a message says: 2026-07-28 needs them, and others ignore them.
void add_names(std::vector<port::HttpHeader>& headers, json::View message) {
    auto const method = message["method"].string_or("");
    if (method.empty()) return;
    headers.push_back({"Mcp-Method", method});
    for (std::string_view const name : {"name", "uri", "taskId"})
        if (auto const value = message["params"][name].string())
            return headers.push_back({"Mcp-Name", header_value(*value)});
}

class HttpLink final : public Link {
public:
    HttpLink(ServerSettings const& server, port::HttpClient& client, Tokens* tokens,
             LinkEvents events)
        : server_(server), client_(client), events_(std::move(events)), tokens_(tokens) {}
    ~HttpLink() override {
        for (auto const& [number, exchange] : open_)
            if (exchange.sent != 0) client_.cancel(exchange.sent);
    }
    HttpLink(HttpLink const&) = delete;
    HttpLink& operator=(HttpLink const&) = delete;

    void send(std::string const& line, std::string_view id) override;
    void forget(std::string_view id) override;
    void initialized(std::string_view version) override;
    void stateless() override {
        stateless_ = true;
        version_ = mcp::stateless_version;
        session_.clear();
    }

private:
    // One request and what has come of its answer.
    struct Exchange {
        std::string id;  // of the message; empty: it is no request
        bool listens = false;
        port::HttpRequest request = {};  // without a token
        std::string token = {};          // with which it was sent
        bool renewed = false;            // it was refused once for lack of a token
        port::HttpId sent = 0;           // 0: it waits for a token
        port::HttpHead head = {};
        std::string wrong = {};
        std::string body = {};
        SseParser events;
        bool overflow = false;
    };

    [[nodiscard]] port::HttpRequest request_of(std::string method, std::string body) const;
    void begin(port::HttpRequest request, std::string id, bool listens);
    void renew(std::uint64_t number, std::string const& challenge);
    void start(std::uint64_t number);
    [[nodiscard]] bool wants_token(std::uint64_t number);
    void take_head(Exchange& exchange, port::HttpHead head);
    void take_data(Exchange& exchange, std::string_view chunk);
    void take_end(std::uint64_t number, std::optional<port::HttpFailure> const& failure);
    void fail(Exchange const& exchange, std::optional<port::HttpFailure> const& failure);

    ServerSettings const server_;
    port::HttpClient& client_;
    LinkEvents events_;
    std::map<std::uint64_t, Exchange> open_;
    std::uint64_t last_ = 0;
    Tokens* tokens_;  // null: the server gets no token of this kind
    std::string session_;
    std::string version_;
    bool stateless_ = false;
    Scope scope_;
};

port::HttpRequest HttpLink::request_of(std::string method, std::string body) const {
    port::HttpRequest out;
    out.method = std::move(method);
    out.url = server_.url;
    out.headers = server_.headers;
    out.headers.push_back({"Accept", "application/json, text/event-stream"});
    if (!session_.empty()) out.headers.push_back({"Mcp-Session-Id", session_});
    if (!version_.empty()) out.headers.push_back({"MCP-Protocol-Version", version_});
    out.body = std::move(body);
    out.idle_limit = out.total_limit = Duration(0);  // the owner of the request has a limit
    out.response_max = std::max(server_.message_max, small_answer) * messages_in_stream;
    out.send_once = true;
    return out;
}

void HttpLink::send(std::string const& line, std::string_view id) {
    auto request = request_of("POST", line.substr(0, line.size() - 1));
    request.headers.push_back({"Content-Type", "application/json"});
    bool const listens =
        json::View(std::string_view(request.body))["method"].string_or("") == listen_method;
    if (listens) request.response_max = stream_max;
    if (id.empty()) request.idle_limit = request.total_limit = acceptance_limit;
    add_names(request.headers, json::View(std::string_view(request.body)));
    begin(std::move(request), std::string(id), false);
}

// The stream of the server's own messages. Servers without one answer 405.
void HttpLink::initialized(std::string_view version) {
    version_ = version;
    auto request = request_of("GET", "");
    request.response_max = stream_max;
    begin(std::move(request), "", true);
}

void HttpLink::forget(std::string_view id) {
    auto const found = std::ranges::find_if(
        open_, [&](auto const& each) { return !id.empty() && each.second.id == id; });
    if (found == open_.end()) return;
    if (found->second.sent != 0) client_.cancel(found->second.sent);
    open_.erase(found);
}

void HttpLink::begin(port::HttpRequest request, std::string id, bool listens) {
    auto const number = ++last_;
    open_.emplace(number, Exchange{.id = std::move(id),
                                   .listens = listens,
                                   .request = std::move(request),
                                   .events = SseParser(server_.message_max)});
    if (tokens_ && tokens_->wanted() && tokens_->token().empty()) return renew(number, "");
    start(number);
}

// Sends it when there is a new token.
void HttpLink::renew(std::uint64_t number, std::string const& challenge) {
    Exchange& exchange = open_.at(number);
    exchange.sent = 0;
    auto renewed = scope_.guard([this, number](std::string const& why) {
        auto const at = open_.find(number);
        if (at == open_.end()) return;
        if (why.empty()) return start(number);
        auto const ended = open_.extract(at);
        if (!ended.mapped().id.empty()) events_.refused(ended.mapped().id, why);
    });
    tokens_->renew(challenge, exchange.token, std::move(renewed));
}

void HttpLink::start(std::uint64_t number) {
    Exchange& exchange = open_.at(number);
    port::HttpRequest request = exchange.request;
    if (tokens_) exchange.token = tokens_->token();
    if (!exchange.token.empty())
        request.headers.push_back({"Authorization", "Bearer " + exchange.token});
    port::HttpCallbacks callbacks;
    callbacks.head = scope_.guard([this, number](port::HttpHead head) {
        if (auto const at = open_.find(number); at != open_.end())
            take_head(at->second, std::move(head));
    });
    callbacks.data = scope_.guard([this, number](std::string_view chunk) {
        if (auto const at = open_.find(number); at != open_.end()) take_data(at->second, chunk);
    });
    callbacks.done = scope_.guard([this, number](std::optional<port::HttpFailure> const& failure) {
        take_end(number, failure);
    });
    exchange.sent = client_.start(std::move(request), std::move(callbacks));
}

// Returns true if the server wants a token, and the request is sent again with one: a 401 has done
// nothing.
bool HttpLink::wants_token(std::uint64_t number) {
    auto const at = open_.find(number);
    if (!tokens_ || at == open_.end() || at->second.head.status != 401) return false;
    if (std::exchange(at->second.renewed, true)) return false;
    std::string const challenge(at->second.head.header("www-authenticate").value_or(""));
    renew(number, challenge);
    return true;
}

void HttpLink::take_head(Exchange& exchange, port::HttpHead head) {
    exchange.wrong = wrong_head(head);
    if (tokens_ && head.status == 403) {
        auto const what = tokens_->lacks(std::string(head.header("www-authenticate").value_or("")));
        if (!what.empty()) exchange.wrong = what;
    }
    if (exchange.wrong.empty() && session_.empty() && !exchange.listens && !stateless_)
        session_ = head.header("mcp-session-id").value_or("");
    exchange.head = std::move(head);
}

void HttpLink::take_data(Exchange& exchange, std::string_view chunk) {
    bool const fault = is_fault(exchange.head);
    if ((!exchange.wrong.empty() && !fault) || exchange.overflow) return;
    if (has_type(exchange.head, "text/event-stream")) {
        exchange.overflow =
            !exchange.events.feed(chunk, [this, id = exchange.id](SseEvent const& event) {
                events_.received(one_line(event.data), id);
            });
        return;
    }
    if (exchange.listens) return;
    exchange.overflow = exchange.body.size() + chunk.size() > server_.message_max;
    if (!exchange.overflow) exchange.body += chunk;
}

void HttpLink::take_end(std::uint64_t number, std::optional<port::HttpFailure> const& failure) {
    if (wants_token(number)) return;
    auto const ended = open_.extract(number);
    if (!ended) return;
    Exchange const& exchange = ended.mapped();
    bool const complete = !failure && exchange.wrong.empty() && !exchange.overflow;
    if (exchange.head.status == 404 && !session_.empty() && !exchange.listens)
        return events_.closed("its session has ended (404)");
    if (exchange.listens) {
        if (exchange.wrong.empty() && exchange.head.status == 200) events_.unheard();
        return;
    }
    if (!failure && is_fault(exchange.head) && answers(exchange.body, exchange.id))
        return events_.received(one_line(exchange.body), exchange.id);
    if (!complete) return fail(exchange, failure);
    if (has_type(exchange.head, "application/json")) {
        if (!exchange.body.empty()) events_.received(one_line(exchange.body), exchange.id);
    } else if (!exchange.id.empty() && !has_type(exchange.head, "text/event-stream")) {
        return events_.refused(
            exchange.id, "it answered with '" +
                             std::string(exchange.head.header("content-type").value_or("nothing")) +
                             "' instead of JSON");
    }
    if (!exchange.id.empty()) events_.lost(exchange.id, "its answer ended without a result");
}

// Tells whether the server may have acted on the request.
void HttpLink::fail(Exchange const& exchange, std::optional<port::HttpFailure> const& failure) {
    if (exchange.id.empty()) return;
    if (!exchange.wrong.empty()) return events_.refused(exchange.id, exchange.wrong);
    bool const large =
        exchange.overflow || (failure && failure->kind == port::HttpFailure::Kind::too_large);
    if (large)
        return events_.lost(exchange.id, "its answer must be at most " +
                                             std::to_string(server_.message_max) + " bytes");
    if (!failure->sent) return events_.refused(exchange.id, failure->reason);
    events_.lost(exchange.id, failure->reason);
}

}  // namespace

std::unique_ptr<Link> make_http_link(ServerSettings const& server, port::HttpClient& client,
                                     Tokens* tokens, LinkEvents events) {
    return std::make_unique<HttpLink>(server, client, tokens, std::move(events));
}

}  // namespace dormouse::mcp_client
