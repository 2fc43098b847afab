#include "mcp/face.h"

#include "mcp/open_tools.h"

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

rpc::Fault fault_of(Refusal const& why) {
    json::Writer data;
    data.begin_object().member("code", why.code).end_object();
    return {.code = why.rpc_code == 0 ? rpc::code::internal_error : why.rpc_code,
            .message = why.what,
            .data = why.code.empty() ? Json() : data.json()};
}

// The answer of a tool; a refusal is text for the model.
Json tool_result(ToolText const& result) {
    json::Writer out;
    out.begin_object().key("content").begin_array().begin_object().member("type", "text");
    out.member("text", result ? *result : result.error().what).end_object().end_array();
    return out.member("isError", !result).end_object().json();
}

Face::Answer bad_params(std::string why) {
    return std::unexpected(
        rpc::Fault{.code = rpc::code::invalid_params, .message = std::move(why)});
}

void write_capabilities(json::Writer& out) {
    out.key("capabilities").begin_object().key("tools").begin_object().end_object().end_object();
}

}  // namespace

Face::Face(FaceSettings settings, ApiPtr api)
    : settings_(std::move(settings)),
      api_(std::move(api)),
      tools_(settings_.session.empty() ? nullptr
                                       : std::make_shared<SessionTools>(settings_.session, api_)),
      gateway_(settings_.servers.empty()
                   ? nullptr
                   : std::make_shared<GatewayTools>(settings_.servers, settings_.project, api_)) {}

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
    json::View const params(message.params);
    if (message.method == "tools/list") return list_tools(std::move(done));
    if (message.method == "tools/call")
        return call_tool(params, std::move(ticket), std::move(done));
    if (message.method == "ping" && !stateless) return done(Json::trusted("{}"));
    if (message.method == "initialize" && !stateless) return done(initialize(params));
    if (message.method == "server/discover" && stateless) return done(discover());
    done(std::unexpected(rpc::Fault{.code = rpc::code::method_not_found,
                                    .message = "unknown method: " + message.method}));
}

bool Face::may_wait(rpc::Message const& message) {
    json::View const params(message.params);
    auto const arguments = params["arguments"];
    return message.method == "tools/call" &&
           (params["name"].string_or("") == "approve" || arguments["block"].boolean_or(false) ||
            arguments["wait"].integer_or(0) > 0);
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

Face::Answer Face::initialize(json::View params) const {
    auto const wanted = params["protocolVersion"].string();
    if (!wanted) return bad_params("protocolVersion is missing");
    json::Writer out;
    out.begin_object().member("protocolVersion", negotiated(*wanted));
    write_capabilities(out);
    out.member("serverInfo", server_info());
    return out.member("instructions", instructions()).end_object().json();
}

Json Face::discover() const {
    json::Writer out;
    out.begin_object().key("supportedVersions").begin_array();
    for (std::string_view const version : all_versions()) out.value(version);
    out.end_array();
    write_capabilities(out);
    return out.member("instructions", instructions()).end_object().json();
}

void Face::list_tools(Done done) {
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
    write_open_tools(out);
    then(out.end_array().json());
}

void Face::call_tool(json::View params, TicketPtr ticket, Done done) {
    auto const name = params["name"].string();
    auto const given = params["arguments"];
    bool const object = !given.exists() || given.kind() == json::Kind::object;
    if (!name || !object)
        return done(bad_params("tools/call must have a name and arguments (an object)"));
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
    auto then = [done = std::move(done)](ToolText result) mutable {
        if (!result && SessionTools::is_unknown(result.error()))
            return done(std::unexpected(fault_of(result.error())));
        done(tool_result(result));
    };
    if (tools_)
        return tools_->call(*name, std::move(arguments), std::move(ticket), std::move(then));
    if (!is_open_tool(*name)) return then(std::unexpected(SessionTools::unknown(*name)));
    call_open_tool(api_, settings_.project, *name, arguments, ticket, std::move(then));
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
