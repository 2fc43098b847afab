#include "acp_agent/agent.h"

#include "base/text/iso_time.h"
#include "base/url.h"
#include "cli/client/fault.h"

#include <algorithm>
#include <ostream>

namespace dormouse::acp_agent {

using cli::bad_params;
using cli::Keyed;
namespace fault = cli::fault;

namespace {

constexpr int protocol_version = 1;
constexpr std::size_t sessions_max = 32;  // that one editor follows at the same time

std::string session_path(std::string_view session) {
    return "/api/sessions/" + percent_encode(session);
}

std::string sessions_of(std::string const& project) {
    return "/api/projects/" + percent_encode(project) + "/sessions";
}

// Returns ISO 8601 in UTC, as editors expect it.
std::string instant_text(std::int64_t ms) { return iso_time(from_ms(ms)).substr(0, 19) + "Z"; }

std::string folder_of(json::View session) {
    return session["cwd"].string_or(session["labels"]["cwd"].string_or("/"));
}

std::expected<std::string, rpc::Fault> acp_session_id(json::View params) {
    auto const id = params["sessionId"].string();
    if (!id || id->empty()) return bad_params("sessionId is missing");
    return *id;
}

std::expected<std::string, rpc::Fault> folder(json::View params) {
    auto const cwd = params["cwd"].string();
    if (!cwd || !cwd->starts_with('/')) return bad_params("cwd must be an absolute path");
    return *cwd;
}

}  // namespace

void AcpAgent::run() {
    while (!stdio_.ended()) wait();
}

// One round: reads the editor's input and the streams, and reopens streams that are due.
void AcpAgent::wait() {
    auto const now = std::chrono::steady_clock::now();
    auto until = now + std::chrono::hours(1);
    std::erase_if(sessions_, [](auto const& each) { return each.second.gone; });
    for (auto& [id, session] : sessions_) {
        if (!session.stream && session.again <= now) connect(id, session);
        if (!session.stream && !session.gone) until = std::min(until, session.again);
    }
    auto const left = std::chrono::ceil<Duration>(until - now);
    if (client_.wait(stdio_.fd(), std::max(left, Duration(0)))) {
        for (rpc::Line const& line : stdio_.read()) take_line(line);
    }
    std::vector<std::string> ids;
    for (auto const& [id, session] : sessions_) ids.push_back(id);
    for (std::string const& id : ids) {
        if (auto const found = sessions_.find(id); found != sessions_.end())
            read_stream(found->first, found->second);
    }
}

void AcpAgent::take_line(rpc::Line const& line) {
    auto const received = rpc::read(line);
    if (!received.batch) return take(received.messages.front());
    stdio_.write(rpc::refusal(
        {}, {.code = rpc::code::invalid_request, .message = "the protocol has no batches"}));
}

void AcpAgent::take(rpc::Message const& message) {
    using Kind = rpc::Message::Kind;
    switch (message.kind) {
        case Kind::request: return take_request(message);
        case Kind::notification: return take_notification(message);
        case Kind::response: return take_answer(message);
        case Kind::refused: return stdio_.write(rpc::refusal(message.id, *message.fault));
    }
}

void AcpAgent::answer(Json const& id, Result const& result) {
    stdio_.write(result ? rpc::response(id, *result) : rpc::refusal(id, result.error()));
}

void AcpAgent::take_request(rpc::Message const& message) {
    json::View const params(message.params);
    auto const& method = message.method;
    if (method == "initialize") return answer(message.id, initialize(params));
    if (method == "session/new") return answer(message.id, make(params));
    if (method == "session/list") return answer(message.id, list(params));
    if (method == "session/load") return load(message.id, params, true);
    if (method == "session/resume") return load(message.id, params, false);
    if (method == "session/prompt") return prompt(message.id, params);
    answer(message.id, std::unexpected(rpc::Fault{.code = rpc::code::method_not_found,
                                                  .message = "unknown method: " + method}));
}

void AcpAgent::take_notification(rpc::Message const& message) {
    if (message.method == "session/cancel") cancel(json::View(message.params));
}

AcpAgent::Result AcpAgent::initialize(json::View params) {
    if (!params["protocolVersion"].integer()) return bad_params("protocolVersion is missing");
    forms_ = params["clientCapabilities"]["elicitation"]["form"].kind() == json::Kind::object;
    json::Writer out;
    out.begin_object().member("protocolVersion", protocol_version);
    out.key("agentCapabilities").begin_object().member("loadSession", true);
    out.key("promptCapabilities").begin_object().member("image", true).member("audio", false);
    out.member("embeddedContext", true).end_object().key("sessionCapabilities").begin_object();
    out.key("list").begin_object().end_object().key("resume").begin_object().end_object();
    out.end_object().end_object().key("authMethods").begin_array().end_array();
    out.key("agentInfo").begin_object().member("name", "dormouse").member("title", "Dormouse");
    return out.member("version", settings_.version).end_object().end_object().json();
}

std::expected<std::string, rpc::Fault> AcpAgent::agent_name() {
    if (!settings_.agent.empty()) return settings_.agent;
    auto const reply = client_.get("/api/agents");
    if (!reply) return std::unexpected(fault_of(reply.error()));
    std::vector<std::string> names;
    json::View(reply->body)["items"].elements([&](json::View agent) {
        if (agent["available"].boolean_or(true)) names.push_back(agent["id"].string_or(""));
    });
    if (names.size() == 1) return names.front();
    std::string all;
    for (std::string const& name : names) all += (all.empty() ? "" : ", ") + name;
    return bad_params("the server has " + std::to_string(names.size()) + " agents (" + all +
                      "): start `dormouse acp --agent NAME`");
}

std::expected<bool, rpc::Fault> AcpAgent::works_in_folders(std::string const& agent) {
    auto const reply = client_.get("/api/agents");
    if (!reply) return std::unexpected(fault_of(reply.error()));
    bool works = false;
    json::View(reply->body)["items"].elements([&](json::View one) {
        bool const found = one["id"].string_or("") == agent;
        works = works || (found && one["kind"].string_or("") == "acp");
    });
    return works;
}

AcpAgent::Result AcpAgent::make(json::View params) {
    auto const cwd = folder(params);
    if (!cwd) return std::unexpected(cwd.error());
    auto const agent = agent_name();
    if (!agent) return std::unexpected(agent.error());
    if (params["mcpServers"].size() > 0)
        log_ << "dormouse acp: the editor's MCP servers are not used; tools are the server's\n";
    auto const works = works_in_folders(*agent);
    if (!works) return std::unexpected(works.error());
    json::Writer body;
    body.begin_object().member("agentID", *agent);
    if (*works) body.member("cwd", *cwd);
    // For an agent without folders, the label lets the editor find its sessions.
    if (!*works) body.key("labels").begin_object().member("cwd", *cwd).end_object();
    body.end_object();
    auto const reply = client_.post(sessions_of(settings_.project), body.json(), Keyed::yes);
    if (!reply) return std::unexpected(fault_of(reply.error()));
    json::View const made(reply->body);
    auto const id = made["id"].string_or("");
    follow(id, {.after = std::to_string(made["seq"].integer_or(0))});
    json::Writer out;
    return out.begin_object().member("sessionId", id).end_object().json();
}

AcpAgent::Result AcpAgent::list(json::View params) {
    auto target = sessions_of(settings_.project) + "?limit=50";
    if (auto const cursor = params["cursor"].string())
        target += "&cursor=" + percent_encode(*cursor);
    auto const reply = client_.get(target);
    if (!reply) return std::unexpected(fault_of(reply.error()));
    auto const wanted = params["cwd"].string();
    json::View const page(reply->body);
    json::Writer out;
    out.begin_object().key("sessions").begin_array();
    page["items"].elements([&](json::View session) {
        auto const cwd = folder_of(session);
        if (wanted && *wanted != cwd) return;
        out.begin_object().member("sessionId", session["id"].string_or("")).member("cwd", cwd);
        if (auto const title = session["title"].string()) out.member("title", *title);
        out.member("updatedAt", instant_text(session["time"]["updated"].integer_or(0)));
        out.end_object();
    });
    out.end_array();
    if (auto const next = page["next"].string()) out.member("nextCursor", *next);
    return out.end_object().json();
}

std::expected<void, rpc::Fault> AcpAgent::read_history(std::string const& id, Session& session,
                                                       bool with_updates) {
    std::string after = "0";
    std::string next = after;
    do {
        auto const page =
            client_.get(session_path(id) + "/events?limit=200&after=" + std::exchange(next, {}));
        if (!page) return std::unexpected(fault_of(page.error()));
        json::View const body(page->body);
        body["items"].elements([&](json::View event) {
            after = std::to_string(event["seq"].integer_or(0));
            auto const report = session.updates.on_event(event["type"].string_or(""), event, true);
            if (!with_updates) return;
            for (Json const& each : report.updates) update(id, each);
        });
        next = body["next"].string_or("");
    } while (!next.empty());
    session.after = after;
    return {};
}

void AcpAgent::load(Json const& id, json::View params, bool with_updates) {
    auto const name = acp_session_id(params);
    if (!name) return answer(id, std::unexpected(name.error()));
    if (auto const cwd = folder(params); !cwd) return answer(id, std::unexpected(cwd.error()));
    if (auto const known = sessions_.find(*name);
        known != sessions_.end() && !known->second.prompt.turn.empty()) {
        return answer(id, bad_params("a prompt of this session is open"));
    }
    Session session;
    if (auto const read = read_history(*name, session, with_updates); !read)
        return answer(id, std::unexpected(read.error()));
    answer(id, Json::trusted("{}"));
    auto& followed = follow(*name, std::move(session));
    for (std::string const& pending : followed.updates.approvals()) ask(*name, followed, pending);
}

void AcpAgent::prompt(Json const& id, json::View params) {
    auto const name = acp_session_id(params);
    if (!name) return answer(id, std::unexpected(name.error()));
    auto const input = acp_input(params["prompt"]);
    if (!input) return answer(id, bad_params(input.error()));
    auto const found = sessions_.find(*name);
    if (found == sessions_.end() || found->second.gone) {
        return answer(id, std::unexpected(rpc::Fault{
                              .code = fault::not_found,
                              .message = "session/new, session/load or session/resume first"}));
    }
    auto& session = found->second;
    if (!session.prompt.turn.empty()) return answer(id, bad_params("a prompt is open already"));
    if (answer_in_words(id, session, *input)) return;
    if (client_.server_holds()) {
        return answer(id, std::unexpected(rpc::Fault{
                              .message = "this server is a restored copy, which holds: it starts "
                                         "nothing until `dormouse release`"}));
    }
    auto const reply = send_prompt(*name, session, *input);
    if (!reply) return answer(id, std::unexpected(fault_of(reply.error())));
    json::View const accepted(reply->body);
    session.updates.own_message(accepted["messageID"].string_or(""));
    session.prompt = {.id = id, .turn = accepted["turnID"].string_or("")};
    session.used = ++uses_;
}

// Retries with one idempotency key, so that a restarted server accepts the prompt once.
Outcome<Reply> AcpAgent::send_prompt(std::string const& id, Session& session,
                                     AcpInput const& input) {
    json::Writer body;
    body.begin_object().member(input.member, input.value);
    if (input.member == "text" && !session.updates.questions().empty())
        body.member("answers", session.updates.questions().front());
    return client_.post_patiently(session_path(id) + "/prompt", body.end_object().json());
}

void AcpAgent::cancel(json::View params) {
    auto const found = sessions_.find(params["sessionId"].string_or(""));
    if (found == sessions_.end()) return;
    auto const& [id, session] = *found;
    // A prompt that waits behind another turn must not cancel that turn.
    bool const runs = session.prompt.turn.empty() || session.updates.open(session.prompt.turn);
    json::Writer body;
    body.begin_object().member(runs ? "turn" : "all", true).end_object();
    if (auto const reply = client_.post(session_path(id) + "/cancel", body.json()); !reply)
        log_ << "dormouse acp: not cancelled: " << text(reply.error());
}

AcpAgent::Session& AcpAgent::follow(std::string const& id, Session session) {
    sessions_.erase(id);
    if (sessions_.size() >= sessions_max) {
        auto const oldest = std::ranges::min_element(sessions_, {}, [](auto const& each) {
            return std::pair(!each.second.prompt.turn.empty(), each.second.used);
        });
        for (auto const& [pending, request] : oldest->second.asks) asks_.erase(request);
        sessions_.erase(oldest);
    }
    session.used = ++uses_;
    auto& kept = sessions_.emplace(id, std::move(session)).first->second;
    connect(id, kept);
    return kept;
}

}  // namespace dormouse::acp_agent
