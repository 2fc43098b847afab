#include "mcp/face.h"

#include "mcp/open_tools.h"
#include "mcp/questions.h"
#include "mcp/results.h"

namespace dormouse::mcp {
namespace {

constexpr std::string_view session_instructions =
    "Tools of this server may take minutes or days. They are started and answered at once; their "
    "outcome comes later as a message in this session, with the tool and its arguments. When "
    "nothing else is to be done, end your turn: you will be woken.";
constexpr std::string_view gateway_instructions =
    "Calls of these tools may wait for the approval of a person, perhaps for days; the answer "
    "comes "
    "when the call has run.";
constexpr std::string_view open_instructions =
    "These tools ask people, who may answer after days. ask_human returns an id at once; "
    "collect_answer returns the answer.";

void write_capabilities(json::Writer& out, std::optional<Era> tasks) {
    out.key("capabilities").begin_object().key("tools").begin_object().end_object();
    if (tasks) write_task_capabilities(out, *tasks);
    out.end_object();
}

// The answer of a tool that is not known is a fault.
ToolDone as_result(Face::Done done) {
    return [done = std::move(done)](ToolText result) mutable {
        if (!result && SessionTools::is_unknown(result.error()))
            return done(std::unexpected(fault_of(result.error())));
        done(tool_result(result));
    };
}

// Returns true if the call is answered with a task: 2025-11-25 asks for it, the extension leaves it
// to the server. A client that says how long it waits gets no task then.
bool is_task_call(std::string_view tool, rpc::Message const& message) {
    json::View const params(message.params);
    if (!asks_question(tool)) return false;
    if (era_of(message) == Era::with_initialize) return params["task"].exists();
    return abilities_of(message).tasks && params["arguments"]["wait"].integer_or(0) == 0;
}

}  // namespace

Face::Face(FaceSettings settings, ApiPtr api)
    : settings_(std::move(settings)),
      api_(std::move(api)),
      tools_(settings_.session.empty() ? nullptr
                                       : std::make_shared<SessionTools>(settings_.session, api_)),
      gateway_(settings_.servers.empty()
                   ? nullptr
                   : std::make_shared<GatewayTools>(settings_.servers, settings_.project, api_)),
      tasks_(std::make_shared<Tasks>(api_, settings_.project)) {}

void Face::answer(rpc::Message const& message, Era era, TicketPtr ticket, Done done) {
    if (era == Era::with_initialize)
        return dispatch(message, era, std::move(ticket), std::move(done));
    if (auto const wrong = wrong_meta(message)) return done(std::unexpected(*wrong));
    auto finish = [self = shared_from_this(), method = message.method,
                   done = std::move(done)](Answer answer) mutable {
        if (!answer) return done(std::move(answer));
        done(stateless_result(*answer, method, self->server_info()));
    };
    dispatch(message, era, std::move(ticket), std::move(finish));
}

void Face::dispatch(rpc::Message const& message, Era era, TicketPtr ticket, Done done) {
    bool const stateless = era == Era::stateless;
    if (message.method == "tools/list") return list_tools(era, std::move(done));
    if (message.method == "tools/call")
        return call_tool(message, era, std::move(ticket), std::move(done));
    if (message.method == "ping" && !stateless) return done(Json::trusted("{}"));
    if (message.method == "initialize" && !stateless)
        return done(initialize(json::View(message.params)));
    if (message.method == "server/discover" && stateless) return done(discover());
    if (has_tasks() && Tasks::is_method(message.method, era))
        return answer_task(message, era, ticket, std::move(done));
    done(std::unexpected(rpc::Fault{.code = rpc::code::method_not_found,
                                    .message = "unknown method: " + message.method}));
}

void Face::answer_task(rpc::Message const& message, Era era, TicketPtr const& ticket, Done done) {
    if (era == Era::stateless && !abilities_of(message).tasks)
        return done(std::unexpected(needs_tasks()));
    tasks_->answer(message, era, elicits_of(message, era), ticket, std::move(done));
}

Elicits Face::elicits_of(rpc::Message const& message, Era era) const {
    if (era == Era::with_initialize) return settings_.elicits;
    return {.client = abilities_of(message), .base_url = settings_.elicits.base_url};
}

bool Face::may_wait(rpc::Message const& message) {
    if (message.method == "tasks/result") return true;
    json::View const params(message.params);
    auto const arguments = params["arguments"];
    auto const name = params["name"].string_or("");
    if (message.method != "tools/call" || is_task_call(name, message)) return false;
    return name == approve_tool || arguments["block"].boolean_or(false) ||
           arguments["wait"].integer_or(0) > 0;
}

Json Face::server_info() const {
    json::Writer out;
    out.begin_object().member("name", "dormouse").member("title", "Dormouse");
    return out.member("version", settings_.version).end_object().json();
}

std::string_view Face::instructions() const {
    if (gateway_) return gateway_instructions;
    return tools_ ? session_instructions : open_instructions;
}

Face::Answer Face::initialize(json::View params) {
    auto const wanted = params["protocolVersion"].string();
    if (!wanted) return std::unexpected(bad_params("protocolVersion is missing"));
    settings_.elicits.client = abilities_in(params["capabilities"]);
    auto const version = negotiated(*wanted);
    bool const tasks = has_tasks() && version == newest_session_version;
    json::Writer out;
    out.begin_object().member("protocolVersion", version);
    write_capabilities(out, tasks ? std::optional(Era::with_initialize) : std::nullopt);
    out.member("serverInfo", server_info());
    return out.member("instructions", instructions()).end_object().json();
}

Json Face::discover() const {
    json::Writer out;
    out.begin_object().key("supportedVersions").begin_array();
    for (std::string_view const version : all_versions()) out.value(version);
    out.end_array();
    write_capabilities(out, has_tasks() ? std::optional(Era::stateless) : std::nullopt);
    return out.member("instructions", instructions()).end_object().json();
}

void Face::list_tools(Era era, Done done) {
    auto then = [done = std::move(done)](ApiAnswer tools) mutable {
        if (!tools) return done(std::unexpected(fault_of(tools.error())));
        json::Writer out;
        out.begin_object().member("tools", *tools).end_object();
        done(out.json());
    };
    if (gateway_) return gateway_->list(std::move(then));
    if (tools_) return tools_->list(std::move(then));
    json::Writer out;
    out.begin_array();
    write_open_tools(out, era == Era::with_initialize);
    then(out.end_array().json());
}

void Face::call_tool(rpc::Message const& message, Era era, TicketPtr ticket, Done done) {
    json::View const params(message.params);
    auto const name = params["name"].string();
    auto const given = params["arguments"];
    bool const object = !given.exists() || given.kind() == json::Kind::object;
    if (!name || !object)
        return done(
            std::unexpected(bad_params("tools/call must have a name and arguments (an object)")));
    if (!tools_ && !gateway_) return call_open(*name, message, era, ticket, std::move(done));
    Json arguments = given.exists() ? given.copy() : Json::trusted("{}");
    if (gateway_) {
        auto finish = [done = std::move(done)](GatewayTools::Answer result) mutable {
            if (result) return done(*std::move(result));
            if (SessionTools::is_unknown(result.error()))
                return done(std::unexpected(fault_of(result.error())));
            done(tool_result(std::unexpected(std::move(result.error()))));
        };
        return gateway_->call(*name, std::move(arguments), std::move(ticket), std::move(finish));
    }
    tools_->call(*name, std::move(arguments), std::move(ticket), as_result(std::move(done)));
}

void Face::call_open(std::string const& tool, rpc::Message const& message, Era era,
                     TicketPtr const& ticket, Done done) {
    json::View const params(message.params);
    auto const given = params["arguments"];
    Json const arguments = given.exists() ? given.copy() : Json::trusted("{}");
    json::View const view(arguments);
    if (!is_open_tool(tool)) return done(std::unexpected(fault_of(SessionTools::unknown(tool))));
    auto const task = era == Era::stateless ? json::View(std::string_view()) : params["task"];
    if (task.exists() && !asks_question(tool))
        return done(std::unexpected(rpc::Fault{.code = rpc::code::method_not_found,
                                               .message = tool + " cannot be a task"}));
    auto const wrong = wrong_open_arguments(tool, view);
    if (is_task_call(tool, message) && wrong.empty())
        return tasks_->create(tool, view, task, era, std::move(done));
    if (task.exists()) return done(std::unexpected(bad_params(wrong)));
    // Since 2026-07-28 a server sends no requests: only tasks ask their client for input.
    auto const elicits = era == Era::with_initialize ? settings_.elicits : Elicits{};
    call_open_tool(api_, settings_.project, tool, arguments, elicits, ticket,
                   as_result(std::move(done)));
}

Json progress_token(rpc::Message const& message) {
    auto const token = json::View(message.params)["_meta"]["progressToken"];
    bool const fits = token.kind() == json::Kind::string || token.integer().has_value();
    return token.exists() && fits ? token.copy() : Json();
}

std::string progress_line(Json const& token, std::int64_t count, std::string_view message) {
    json::Writer out;
    out.begin_object().member("progressToken", token).member("progress", count);
    out.member("message", message).end_object();
    return rpc::notification("notifications/progress", out.json());
}

}  // namespace dormouse::mcp
