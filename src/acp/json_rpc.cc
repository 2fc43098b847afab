#include "acp/json_rpc.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

// Agents say in many ways that they do not know a session.
bool says_unknown(RpcError const& error) {
    if (error.code == code::not_found) return true;
    std::string const all = error.message + " " + error.data;
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{"not found", "Invalid session",
                                                "No previous session", "\"service\":\"session\"",
                                                "no such session"},
        [&](std::string_view word) { return all.find(word) != std::string::npos; });
}

// A prompt is also refused for a model or a service that is not found.
bool says_session_unknown(RpcError const& error) {
    if (error.code == code::not_found) return true;
    std::string all = error.message + " " + error.data;
    std::ranges::transform(all, all.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{"session not found", "invalid session",
                                                "unknown session", "no such session"},
        [&](std::string_view word) { return all.find(word) != std::string::npos; });
}

namespace {

// Any bytes as text of one line.
std::string readable(std::string_view bytes) {
    std::string out;
    for (char const c : bytes) out += c >= ' ' && c <= '~' ? c : '?';
    return out;
}

}  // namespace

bool RpcPeer::receive(std::string_view bytes) {
    while (!bytes.empty() && !closed_) {
        auto const end = bytes.find('\n');
        if (rest_.size() + std::min(end, bytes.size()) > line_bytes_max) return false;
        rest_ += bytes.substr(0, end);
        if (end == std::string_view::npos) return true;
        bytes.remove_prefix(end + 1);
        std::string const line = std::exchange(rest_, {});
        take(line);
    }
    return true;
}

void RpcPeer::take(std::string_view line) {
    auto const checked = json::check(line);
    if (!checked || json::View(*checked).kind() != json::Kind::object) {
        constexpr std::size_t kept = 200;
        if (line.find_first_not_of(" \r\t") == std::string_view::npos) return;
        ++skipped_;
        skipped_line_ = readable(line.substr(0, kept));
        return;
    }
    json::View const message(*checked);
    auto const method = message["method"].string();
    if (!method) return take_answer(message);
    json::View const params = message["params"];
    Json given = params.exists() ? params.copy() : Json::trusted("{}");
    json::View const id = message["id"];
    if (!id.exists() || id.is_null()) {
        handlers_.notification(*method, std::move(given));
    } else {
        handlers_.request(*method, id.copy(), std::move(given));
    }
}

void RpcPeer::take_answer(json::View message) {
    auto const id = message["id"].integer();
    auto const found = id ? calls_.find(*id) : calls_.end();
    if (found == calls_.end()) {
        ++skipped_;
        return;
    }
    Done done = std::move(found->second);
    calls_.erase(found);
    json::View const error = message["error"];
    if (error.exists() && !error.is_null()) {
        json::View const data = error["data"];
        return done(std::unexpected(RpcError{
            static_cast<int>(error["code"].integer_or(rpc::code::internal_error)),
            error["message"].string_or(""), data.exists() ? std::string(data.raw()) : ""}));
    }
    json::View const result = message["result"];
    done(result.exists() ? result.copy() : Json());
}

void RpcPeer::call(std::string_view method, Json const& params, Done done) {
    if (closed_)
        return done(std::unexpected(RpcError{code::closed, "the connection is closed", {}}));
    std::int64_t const id = ++last_;
    calls_.emplace(id, std::move(done));
    handlers_.send(rpc::request(static_cast<std::uint64_t>(id), method, params));
}

void RpcPeer::notify(std::string_view method, Json const& params) {
    if (!closed_) handlers_.send(rpc::notification(method, params));
}

void RpcPeer::respond(Json const& id, Json const& result) {
    if (!closed_) handlers_.send(rpc::response(id, result));
}

void RpcPeer::refuse(Json const& id, int code, std::string_view message) {
    if (!closed_) handlers_.send(rpc::refusal(id, {code, std::string(message), {}}));
}

void RpcPeer::close() {
    closed_ = true;
    auto open = std::exchange(calls_, {});
    for (auto& [id, done] : open)
        done(std::unexpected(RpcError{code::closed, "the program is gone", {}}));
}

}  // namespace dormouse::acp
