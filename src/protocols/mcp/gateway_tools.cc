#include "mcp/gateway_tools.h"

#include "base/url.h"
#include "mcp/session_tools.h"
#include "mcp/tools.h"
#include "mcp/waiting.h"

#include <optional>
#include <utility>

namespace dormouse::mcp {
namespace {

std::string session_path(std::string const& session) {
    return "/api/sessions/" + percent_encode(session);
}

bool is_content(json::View value) {
    bool content = value.kind() == json::Kind::array && value.size() > 0;
    value.elements([&](json::View part) { content = content && part["type"].string(); });
    return content;
}

Json text_result(std::string_view text, bool failed, json::View structured) {
    json::Writer out;
    out.begin_object().key("content");
    if (is_content(structured)) {
        out.raw(structured.raw());
    } else {
        out.begin_array().begin_object().member("type", "text").member("text", text);
        out.end_object().end_array();
    }
    if (structured.kind() == json::Kind::object)
        out.member_raw("structuredContent", structured.raw());
    return out.member("isError", failed).end_object().json();
}

// The name that the server gave to its tool `mcp:SERVER:NAME`; nullopt: another server's.
std::optional<std::string> tool_of_server(std::string_view tool, std::string_view server) {
    constexpr std::string_view mcp = "mcp:";
    if (!tool.starts_with(mcp)) return std::nullopt;
    tool.remove_prefix(mcp.size());
    if (!tool.starts_with(server)) return std::nullopt;
    tool.remove_prefix(server.size());
    if (!tool.starts_with(':')) return std::nullopt;
    return std::string(tool.substr(1));
}

std::string joined(std::string const& server, std::string const& tool) {
    return server + "_" + tool;
}

}  // namespace

Json gateway_result(json::View messages) {
    std::optional<Json> out;
    messages["items"].elements([&](json::View message) {
        message["parts"].elements([&](json::View part) {
            json::View const state = part["state"];
            auto const status = state["status"].string_or("");
            if (status == "error") out = text_result(state["error"].string_or("failed"), true, {});
            if (status != "completed") return;
            auto const output = state["output"];
            out = text_result(output.string().value_or(std::string(output.raw())), false, output);
        });
    });
    return out ? *std::move(out) : text_result("The call has no outcome.", true, {});
}

std::string GatewayTools::offered_name(std::string const& tool) const {
    for (std::string const& server : servers_) {
        auto const name = tool_of_server(tool, server);
        if (!name) continue;
        return servers_.size() == 1 ? mcp_name(*name) : mcp_name(joined(server, mcp_name(*name)));
    }
    return {};
}

void GatewayTools::list(ApiDone done) {
    auto write = [self = shared_from_this(), done = std::move(done)](ApiAnswer list) mutable {
        if (!list) return done(std::move(list));
        json::Writer out;
        out.begin_array();
        self->offered_.clear();
        json::View(*list)["items"].elements([&](json::View tool) {
            auto const name = tool["name"].string_or("");
            auto const offered = self->offered_name(name);
            bool const usable = !offered.empty() && !tool["inputSchema"].is_null();
            if (!usable || !self->offered_.emplace(offered, name).second) return;
            out.begin_object().member("name", offered);
            out.member("description", tool["description"].string_or(""));
            out.member_raw("inputSchema", tool["inputSchema"].raw()).end_object();
        });
        done(out.end_array().json());
    };
    api_->ask({.target = "/api/tools"}, std::move(write));
}

void GatewayTools::call(std::string const& name, Json arguments, TicketPtr ticket, Done done) {
    if (auto const found = offered_.find(name); found != offered_.end())
        return begin(found->second, arguments, std::move(ticket), std::move(done));
    // The tools of the servers may have changed.
    list([self = shared_from_this(), name, arguments = std::move(arguments),
          ticket = std::move(ticket), done = std::move(done)](ApiAnswer listed) mutable {
        if (!listed) return done(std::unexpected(std::move(listed.error())));
        auto const found = self->offered_.find(name);
        if (found == self->offered_.end())
            return done(std::unexpected(SessionTools::unknown(name)));
        self->begin(found->second, arguments, std::move(ticket), std::move(done));
    });
}

void GatewayTools::begin(std::string const& tool, Json const& arguments, TicketPtr ticket,
                         Done done) {
    json::Writer call;
    call.begin_object().member("tool", tool).member("input", arguments).end_object();
    json::Writer body;
    body.begin_object().member("agentID", gateway_agent).member("title", tool);
    body.key("prompt").begin_object().member("text", call.take()).end_object().end_object();
    std::string const project = project_.empty() ? "default" : project_;
    ApiRequest request{.method = "POST",
                       .target = "/api/projects/" + percent_encode(project) + "/sessions",
                       .body = body.json(),
                       .patient = true};
    api_->ask(std::move(request), [self = shared_from_this(), ticket = std::move(ticket),
                                   done = std::move(done)](ApiAnswer made) mutable {
        if (!made) return done(std::unexpected(std::move(made.error())));
        self->follow(json::View(*made)["id"].string_or(""), std::move(ticket), std::move(done));
    });
}

// Waits until the session does something else, or is away for a while.
void GatewayTools::follow(std::string const& session, TicketPtr ticket, Done done) {
    if (ticket->over()) {
        auto then = [done = std::move(done)]() mutable {
            done(refused("The call was cancelled."));
        };
        return end(session, std::move(then));
    }
    ApiRequest request{
        .target = session_path(session) + "?wait=" + std::to_string(api_->wait_seconds),
        .waits = true};
    api_->ask(std::move(request), [self = shared_from_this(), session, ticket = std::move(ticket),
                                   done = std::move(done)](ApiAnswer state) mutable {
        if (!state && state.error().away && !ticket->over())
            return self->follow(session, std::move(ticket), std::move(done));
        if (!state && !ticket->over()) return done(std::unexpected(std::move(state.error())));
        self->look(session, state ? json::View(*state) : json::View(), std::move(ticket),
                   std::move(done));
    });
}

void GatewayTools::look(std::string const& session, json::View state, TicketPtr ticket, Done done) {
    auto const activity = state["activity"];
    if (!state["lastTurn"].is_null() && activity["type"].string_or("") == "idle")
        return read(session, std::move(done));
    auto const pending = activity["pendingID"].string();
    if (!pending || ticket->over()) return follow(session, std::move(ticket), std::move(done));
    // A session that sleeps is answered at once; its call waits.
    Waiting waiting{.target = "/api/pending/" + percent_encode(*pending), .final = is_settled};
    wait_for(api_, std::move(waiting), ticket,
             [self = shared_from_this(), session, ticket,
              done = std::move(done)](ApiAnswer const&) mutable {
                 self->follow(session, std::move(ticket), std::move(done));
             });
}

void GatewayTools::read(std::string const& session, Done done) {
    api_->ask(
        {.target = session_path(session) + "/messages?limit=20"},
        [self = shared_from_this(), session, done = std::move(done)](ApiAnswer messages) mutable {
            if (!messages) return done(std::unexpected(std::move(messages.error())));
            done(gateway_result(json::View(*messages)));
            self->end(session, [] {});
        });
}

void GatewayTools::end(std::string const& session, std::move_only_function<void()> then) {
    api_->ask(
        {.method = "POST", .target = session_path(session) + "/end", .body = Json::trusted("{}")},
        [then = std::move(then)](ApiAnswer const&) mutable { then(); });
}

}  // namespace dormouse::mcp
