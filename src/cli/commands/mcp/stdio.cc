#include "cli/commands/mcp/stdio.h"

#include "cli/client/fault.h"
#include "cli/commands/commands.h"

#include "json/json.h"

#include <poll.h>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr int retry_ms = 1'000;

mcp::Refusal refusal_of(Failure const& failure) {
    auto const fault = fault_of(failure);
    return {.what = fault.message,
            .rpc_code = fault.code,
            .code = code_of(failure),
            .away = is_away(failure)};
}

mcp::ApiAnswer answer_of(Outcome<Reply> reply) {
    if (reply) return std::move(reply->body);
    return std::unexpected(refusal_of(reply.error()));
}

// Waits for input. `limit_ms`: -1: forever.
bool readable(int fd, int limit_ms) {
    pollfd input{fd, POLLIN, 0};
    return ::poll(&input, 1, limit_ms) > 0;
}

}  // namespace

McpStdio::McpStdio(mcp::FaceSettings settings, Client& client, Client& patient, Stdio& stdio)
    : client_(client), patient_(patient), stdio_(stdio) {
    auto access = std::make_shared<mcp::ApiAccess>();
    access->ask = [this](mcp::ApiRequest request, mcp::ApiDone done) {
        auto& queue = request.waits ? waiting_ : prompt_;
        queue.push_back({std::move(request), std::move(done)});
    };
    access->now = wall_clock;
    access_ = std::move(access);
    face_ = std::make_shared<mcp::Face>(std::move(settings), access_);
}

void McpStdio::run() {
    while (!stdio_.ended()) {
        bool const idle = prompt_.empty() && waiting_.empty();
        if (readable(stdio_.fd(), idle ? -1 : 0)) {
            for (rpc::Line const& line : stdio_.read()) take(line);
        }
        prompt_.empty() ? wait_next() : send_next();
    }
    withdraw_all();
}

// Requests are still answered, except those that wait: they end, and their last messages are sent.
void McpStdio::withdraw_all() {
    while (!prompt_.empty()) send_next();
    for (auto const& [id, ticket] : tickets_) ticket->cancelled = true;
    while (!prompt_.empty() || !waiting_.empty()) {
        auto waiting = std::exchange(waiting_, {});
        for (Queued& each : waiting)
            each.done(std::unexpected(mcp::Refusal{.what = "the client has gone"}));
        send_next();
    }
}

void McpStdio::send_next() {
    if (prompt_.empty()) return;
    Queued next = std::move(prompt_.front());
    prompt_.pop_front();
    next.done(send(next.request));
}

void McpStdio::wait_next() {
    if (waiting_.empty()) return;
    Queued next = std::move(waiting_.front());
    waiting_.pop_front();
    auto reply = patient_.get(next.request.target);
    if (!reply && reply.error().exit == status::interrupted)
        return waiting_.push_front(std::move(next));
    auto answer = answer_of(std::move(reply));
    // It is asked again at once; input does not wait for that.
    if (!answer && answer.error().away) (void)readable(stdio_.fd(), retry_ms);
    next.done(std::move(answer));
}

mcp::ApiAnswer McpStdio::send(mcp::ApiRequest const& request) {
    Json const body = request.body.is_null() ? Json::trusted("{}") : request.body;
    std::string const key = request.key.empty() ? random_key() : request.key;
    return answer_of(request.method == "GET"      ? client_.get(request.target)
                     : request.method == "DELETE" ? client_.remove(request.target)
                     : request.patient ? client_.post_patiently_as(key, request.target, body)
                                       : client_.post(request.target, body));
}

void McpStdio::take(rpc::Line const& line) {
    auto const received = rpc::read(line);
    auto const reply =
        std::make_shared<Reply>(Reply{.lines = {}, .open = 1, .batch = received.batch});
    for (rpc::Message const& message : received.messages) answer(message, reply);
    finish(reply);
}

// Writes the answers when the last one is there.
void McpStdio::finish(std::shared_ptr<Reply> const& reply) {
    if (--reply->open > 0 || reply->lines.empty()) return;
    stdio_.write(reply->batch ? rpc::batch(reply->lines) : reply->lines.front());
}

// Handles the answer of the client's user to elicitation/create. One that does not fit leaves the
// question to the inbox; there is nobody to report it to.
void McpStdio::take_response(rpc::Message const& message) {
    if (mcp::elicited_call(message.id).empty()) return;
    mcp::take_elicited(access_, message, [](std::optional<rpc::Fault> const&) {});
}

void McpStdio::answer(rpc::Message const& message, std::shared_ptr<Reply> const& reply) {
    using Kind = rpc::Message::Kind;
    if (message.kind == Kind::refused)
        return reply->lines.push_back(rpc::refusal(message.id, *message.fault));
    if (message.kind == Kind::notification && message.method == "notifications/cancelled") {
        auto const id = std::string(json::View(message.params)["requestId"].raw());
        if (auto const found = tickets_.find(id); found != tickets_.end())
            found->second->cancelled = true;
    }
    if (message.kind == Kind::response) return take_response(message);
    if (message.kind != Kind::request) return;
    auto const ticket = std::make_shared<mcp::Ticket>();
    ticket->send = [this](std::string const& line) { stdio_.write(line); };
    std::string const id(message.id.text());
    if (tickets_.contains(id))
        return reply->lines.push_back(rpc::refusal(
            message.id,
            {.code = rpc::code::invalid_request, .message = "a request with this id is open"}));
    if (auto const token = mcp::progress_token(message); !token.is_null())
        ticket->progress = [this, token, count = std::int64_t{0}](std::string const& text) mutable {
            stdio_.write(mcp::progress_line(token, ++count, text));
        };
    tickets_[id] = ticket;
    ++reply->open;
    face_->answer(message, mcp::era_of(message), ticket,
                  [this, id, ticket, reply, of = message.id](mcp::Face::Answer answer) {
                      tickets_.erase(id);
                      if (!ticket->cancelled)
                          reply->lines.push_back(answer ? rpc::response(of, *answer)
                                                        : rpc::refusal(of, answer.error()));
                      finish(reply);
                  });
}

}  // namespace dormouse::cli
