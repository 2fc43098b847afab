#include "mcp_client/abilities.h"

#include "base/check.h"
#include "mcp_client/requests/task.h"

namespace dormouse::mcp_client {
namespace {

constexpr std::string_view client_info_member = "io.modelcontextprotocol/clientInfo";

void write_client(json::Writer& out) {
    out.begin_object().member("name", "dormouse").member("version", "0").end_object();
}

void write_capabilities(json::Writer& out, bool sampling) {
    out.begin_object();
    if (sampling) out.key("sampling").begin_object().end_object();
    out.key("elicitation").begin_object();
    out.key("form").begin_object().end_object().key("url").begin_object().end_object();
    out.end_object()
        .key("extensions")
        .begin_object()
        .key(task_extension)
        .begin_object()
        .end_object();
    out.end_object().end_object();
}

bool has(json::View capabilities, std::string_view name) {
    return capabilities[name].kind() == json::Kind::object;
}

}  // namespace

Abilities read_abilities(mcp::Era era, json::View result) {
    json::View const can = result["capabilities"];
    Abilities out{.era = era};
    out.version = era == mcp::Era::stateless ? std::string(mcp::stateless_version)
                                             : result["protocolVersion"].string_or("");
    out.task_on_request = era == mcp::Era::with_initialize &&
                          can.at_pointer("/tasks/requests/tools/call").kind() == json::Kind::object;
    out.task_by_itself = has(can["extensions"], task_extension);
    out.resources = has(can, "resources");
    out.prompts = has(can, "prompts");
    out.tells_changes = can["tools"]["listChanged"].boolean_or(false);
    return out;
}

Json listen_params() { return Json::trusted(R"({"notifications":{"toolsListChanged":true}})"); }

Json initialize_params(bool sampling) {
    json::Writer out;
    out.begin_object().member("protocolVersion", mcp::newest_session_version);
    out.key("capabilities");
    write_capabilities(out, sampling);
    out.key("clientInfo");
    write_client(out);
    return out.end_object().json();
}

Json with_meta(Json const& params, mcp::Era era, std::string_view progress,
               session::TraceHeaders const& trace, bool sampling) {
    CHECK(json::View(params).kind() == json::Kind::object);
    bool const stateless = era == mcp::Era::stateless;
    if (!stateless && progress.empty() && trace.parent.empty()) return params;
    json::Writer out;
    out.begin_object();
    json::View(params).members(
        [&](std::string_view name, json::View value) { out.member_raw(name, value.raw()); });
    out.key("_meta").begin_object();
    if (!progress.empty()) out.member("progressToken", progress);
    if (!trace.parent.empty()) out.member("traceparent", trace.parent);
    if (!trace.state.empty()) out.member("tracestate", trace.state);
    if (stateless) {
        out.member(mcp::meta::version, mcp::stateless_version).key(mcp::meta::capabilities);
        write_capabilities(out, sampling);
        out.key(client_info_member);
        write_client(out);
    }
    return out.end_object().end_object().json();
}

}  // namespace dormouse::mcp_client
