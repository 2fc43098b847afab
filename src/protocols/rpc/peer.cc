#include "rpc/peer.h"

#include "json/json.h"

#include <utility>

namespace dormouse::rpc {

namespace {

// Replaces each byte that is not printable ASCII.
std::string printable(std::string_view bytes) {
    std::string out;
    for (char const c : bytes) out += c >= ' ' && c <= '~' ? c : '?';
    return out;
}

}  // namespace

bool Peer::receive(std::string_view bytes) {
    if (closed_) return true;
    for (Line const& line : lines_.feed(bytes)) {
        if (line.too_long) return false;
        take(line);
        if (closed_) return true;
    }
    return !lines_.overflows();
}

void Peer::take(Line const& line) {
    constexpr std::size_t shown_max = 200;
    Message message = std::move(read(line, Grammar::lenient).messages.front());
    Json const params = message.params.is_null() ? Json::trusted("{}") : std::move(message.params);
    switch (message.kind) {
        case Message::Kind::request: return listener_.request(message.method, message.id, params);
        case Message::Kind::notification: return listener_.notification(message.method, params);
        case Message::Kind::response: return take_response(std::move(message));
        case Message::Kind::refused: break;
    }
    ++skipped_;
    skipped_line_ = printable(std::string_view(line.text).substr(0, shown_max));
}

void Peer::take_response(Message message) {
    auto const id = json::View(message.id).integer();
    auto open = calls_.extract(id.value_or(0));
    if (!open) {
        ++skipped_;
        return;
    }
    if (message.fault) return open.mapped()(std::unexpected(*std::move(message.fault)));
    open.mapped()(std::move(message.result));
}

std::int64_t Peer::call(std::string_view method, Json const& params, Done done) {
    std::int64_t const id = ++last_;
    if (closed_) {
        done(std::unexpected(Fault{code::closed, "the connection is closed", {}}));
        return id;
    }
    calls_.emplace(id, std::move(done));
    listener_.send(request(static_cast<std::uint64_t>(id), method, params));
    return id;
}

void Peer::notify(std::string_view method, Json const& params) {
    if (!closed_) listener_.send(notification(method, params));
}

void Peer::respond(Json const& id, Json const& result) {
    if (!closed_) listener_.send(response(id, result));
}

void Peer::refuse(Json const& id, int code, std::string_view message) {
    if (!closed_) listener_.send(refusal(id, {code, std::string(message), {}}));
}

void Peer::close() {
    closed_ = true;
    auto open = std::exchange(calls_, {});
    for (auto& [id, done] : open)
        done(std::unexpected(Fault{code::closed, "the connection is closed", {}}));
}

}  // namespace dormouse::rpc
