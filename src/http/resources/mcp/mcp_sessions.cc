#include "http/resources/mcp/mcp_sessions.h"

#include "base/crypto/sha256.h"
#include "base/text/text.h"

#include <algorithm>

namespace dormouse::http {
namespace {

constexpr std::string_view prefix = "mcp_";
constexpr std::size_t secret_chars = 22;      // 132 bits
constexpr std::size_t owner_mark_chars = 21;  // 126 bits
constexpr std::string_view form_mark = ".f";
constexpr std::string_view url_mark = ".u";
constexpr std::string_view both_mark = ".fu";

// The part of an id that depends on whose it is: with another owner's mark it is another id, which
// finds nothing.
std::string owner_mark(std::string_view secret, std::string const& owner) {
    return base64url(sha256(std::string(secret) + " " + owner)).substr(0, owner_mark_chars);
}

bool is_own_id(std::string const& owner, std::string_view id) {
    constexpr std::size_t plain = prefix.size() + secret_chars + owner_mark_chars;
    if (id.size() < plain || !id.starts_with(prefix)) return false;
    auto const suffix = id.substr(plain);
    if (!suffix.empty() && suffix != form_mark && suffix != url_mark && suffix != both_mark)
        return false;
    auto const secret = id.substr(prefix.size(), secret_chars);
    return id.substr(prefix.size() + secret_chars, owner_mark_chars) == owner_mark(secret, owner);
}

}  // namespace

mcp::Abilities McpSessions::client_of(std::string_view id) {
    bool const both = id.ends_with(both_mark);
    return {.form = both || id.ends_with(form_mark), .url = both || id.ends_with(url_mark)};
}

std::string McpSessions::begin(std::string const& owner, std::string_view random,
                               mcp::Abilities const& client) {
    auto const secret = random.substr(0, secret_chars);
    std::string id = std::string(prefix) + std::string(secret) + owner_mark(secret, owner);
    if (client.form || client.url)
        id += !client.url ? form_mark : client.form ? both_mark : url_mark;
    take_up(id);
    return id;
}

void McpSessions::take_up(std::string const& id) {
    if (!sessions_.contains(id)) {
        make_place();
        sessions_[id].key = mcp_session_key(id);
    }
    sessions_[id].used = ++uses_;
}

bool McpSessions::use(std::string const& owner, std::string const& id) {
    if (!is_own_id(owner, id) || ended_.contains(id)) return false;
    take_up(id);
    return true;
}

bool McpSessions::end(std::string const& owner, std::string const& id) {
    if (!use(owner, id)) return false;
    finish(id);
    return true;
}

void McpSessions::finish(std::string const& id) {
    auto const session = sessions_.extract(id);
    for (auto const& [request, open] : session.mapped().open) open.ticket->cancelled = true;
    streams_.forget(id);
    for (auto const& listener : session.mapped().listeners)
        if (auto const stream = listener.lock()) stream->close();
    if (!ended_.insert(id).second) return;
    ended_in_order_.push_back(id);
    if (ended_in_order_.size() <= sessions_max) return;
    ended_.erase(ended_in_order_.front());
    ended_in_order_.pop_front();
}

void McpSessions::make_place() {
    if (sessions_.size() < sessions_max) return;
    auto const oldest =
        std::ranges::min_element(sessions_, {}, [](auto const& each) { return each.second.used; });
    sessions_.erase(oldest);
}

std::string McpSessions::open(std::string const& id, std::string const& request,
                              mcp::TicketPtr const& ticket, std::uint64_t after) {
    auto const found = sessions_.find(id);
    if (found == sessions_.end()) return {};
    auto& open = found->second.open;
    if (open.size() >= open_requests_max) return "a session may have at most 100 open requests";
    if (!open.try_emplace(request, Request{ticket, after}).second)
        return "a request with this id is open";
    return {};
}

void McpSessions::close(std::string const& id, std::string const& request) {
    if (auto const found = sessions_.find(id); found != sessions_.end())
        found->second.open.erase(request);
}

void McpSessions::cancel(std::string const& id, std::string const& request) {
    auto const session = sessions_.find(id);
    if (session == sessions_.end()) return;
    auto const found = session->second.open.find(request);
    if (found != session->second.open.end()) found->second.ticket->cancelled = true;
}

void McpSessions::listen(std::string const& id, std::shared_ptr<EventStream> const& stream) {
    auto const found = sessions_.find(id);
    if (found == sessions_.end()) return;
    auto& listeners = found->second.listeners;
    std::erase_if(listeners, [](auto const& one) { return one.expired(); });
    listeners.push_back(stream);
}

bool McpSessions::Session::waits() const {
    return !open.empty() ||
           std::ranges::any_of(listeners, [](auto const& one) { return !one.expired(); });
}

std::set<std::string> McpSessions::buckets() const {
    std::set<std::string> out;
    for (auto const& [id, session] : sessions_)
        if (session.waits()) out.insert(mcp_bucket(session.key));
    return out;
}

void McpSessions::apply(std::string const& bucket, McpMarks const& marks) {
    std::vector<std::string> over;
    for (auto const& [id, session] : sessions_) {
        if (!session.waits() || mcp_bucket(session.key) != bucket) continue;
        if (marks.has_ended(session.key)) over.push_back(id);
        for (auto const& [request, open] : session.open)
            if (marks.is_withdrawn(mcp_request_key(session.key, request), open.after))
                open.ticket->cancelled = true;
    }
    for (std::string const& id : over) finish(id);
}

}  // namespace dormouse::http
