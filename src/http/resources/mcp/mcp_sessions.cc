#include "http/resources/mcp/mcp_sessions.h"

#include "base/text/chars.h"

#include <algorithm>

namespace dormouse::http {
namespace {

constexpr std::string_view prefix = "mcp_";
constexpr std::size_t random_chars = 43;
constexpr std::string_view form_mark = ".f";
constexpr std::string_view url_mark = ".u";
constexpr std::string_view both_mark = ".fu";

bool is_own_id(std::string_view id) {
    constexpr std::size_t plain = prefix.size() + random_chars;
    if (id.size() < plain || !id.starts_with(prefix)) return false;
    auto const suffix = id.substr(plain);
    if (!suffix.empty() && suffix != form_mark && suffix != url_mark && suffix != both_mark)
        return false;
    return is_made_of(id.substr(0, plain), "_-");
}

}  // namespace

mcp::Abilities McpSessions::client_of(std::string_view id) {
    bool const both = id.ends_with(both_mark);
    return {.form = both || id.ends_with(form_mark), .url = both || id.ends_with(url_mark)};
}

std::string McpSessions::begin(std::string const& owner, std::string_view random,
                               mcp::Abilities const& client) {
    std::string id = std::string(prefix) + std::string(random);
    if (client.form || client.url)
        id += !client.url ? form_mark : client.form ? both_mark : url_mark;
    make_place();
    sessions_[id] = {.owner = owner, .used = ++uses_};
    return id;
}

bool McpSessions::use(std::string const& owner, std::string const& id) {
    if (!is_own_id(id) || ended_.contains(id)) return false;
    if (!sessions_.contains(id)) {
        make_place();
        sessions_[id].owner = owner;
    }
    Session& session = sessions_[id];
    if (session.owner != owner) return false;
    session.used = ++uses_;
    return true;
}

bool McpSessions::end(std::string const& owner, std::string const& id) {
    if (!use(owner, id)) return false;
    for (auto const& [request, ticket] : sessions_[id].open) ticket->cancelled = true;
    sessions_.erase(id);
    streams_.forget(id);
    if (ended_.size() >= sessions_max) ended_.erase(ended_.begin());
    ended_.insert(id);
    return true;
}

void McpSessions::make_place() {
    if (sessions_.size() < sessions_max) return;
    auto const oldest =
        std::ranges::min_element(sessions_, {}, [](auto const& each) { return each.second.used; });
    sessions_.erase(oldest);
}

std::string McpSessions::open(std::string const& id, std::string const& request,
                              mcp::TicketPtr const& ticket) {
    auto const found = sessions_.find(id);
    if (found == sessions_.end()) return {};
    auto& open = found->second.open;
    if (open.size() >= open_requests_max) return "a session may have at most 100 open requests";
    if (!open.emplace(request, ticket).second) return "a request with this id is open";
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
    if (found != session->second.open.end()) found->second->cancelled = true;
}

}  // namespace dormouse::http
