#include "mcp/versions.h"

#include <algorithm>
#include <array>

namespace dormouse::mcp {
namespace {

constexpr std::array<std::string_view, 4> versions{"2026-07-28", "2025-11-25", "2025-06-18",
                                                   "2025-03-26"};
constexpr std::int64_t list_ttl_ms = 60'000;
constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";

rpc::Fault fault(int number, std::string text, Json data = {}) {
    return {.code = number, .message = std::move(text), .data = std::move(data)};
}

rpc::Fault mismatch(std::string text) { return fault(code::header_mismatch, std::move(text)); }

rpc::Fault unsupported(std::string_view requested) {
    json::Writer out;
    out.begin_object().key("supported").begin_array();
    for (std::string_view const each : all_versions()) out.value(each);
    out.end_array().member("requested", requested).end_object();
    return fault(code::unsupported_version, "Unsupported protocol version", out.json());
}

json::View meta_of(rpc::Message const& message) { return json::View(message.params)["_meta"]; }

// Returns the value of the body that the header Mcp-Name repeats; nullopt: this method has none.
std::optional<std::string> name_of(rpc::Message const& message) {
    json::View const params(message.params);
    if (message.method == "tools/call" || message.method == "prompts/get")
        return params["name"].string();
    if (message.method == "resources/read") return params["uri"].string();
    for (auto const* const of_task : {"tasks/get", "tasks/update", "tasks/cancel"})
        if (message.method == of_task) return params["taskId"].string();
    return std::nullopt;
}

std::optional<rpc::Fault> wrong_stateless(HeaderOf const& header, rpc::Message const& message) {
    auto const version = header("mcp-protocol-version");
    auto const requested = meta_of(message)[meta::version].string();
    if (requested && *requested != version)
        return mismatch("MCP-Protocol-Version differs from the version in _meta");
    if (header("mcp-method") != message.method)
        return mismatch("Mcp-Method must be the method of the body");
    if (auto const name = name_of(message); name && header("mcp-name") != *name)
        return mismatch("Mcp-Name must be the name in the body");
    return wrong_meta(message);
}

}  // namespace

std::span<std::string_view const> all_versions() { return versions; }
std::span<std::string_view const> session_versions() { return all_versions().subspan(1); }

bool is_session_version(std::string_view version) {
    return std::ranges::find(session_versions(), version) != session_versions().end();
}

std::string_view negotiated(std::string_view wanted) {
    auto const found = std::ranges::find(session_versions(), wanted);
    return found == session_versions().end() ? newest_session_version : *found;
}

Era era_of(rpc::Message const& message) {
    return meta_of(message)[meta::version].string() ? Era::stateless : Era::with_initialize;
}

Abilities abilities_in(json::View capabilities) {
    auto const asks = capabilities["elicitation"];
    auto const has = [](json::View one) { return one.kind() == json::Kind::object; };
    // Before 2025-11-25 there are only forms, and nothing names them.
    bool const form = has(asks["form"]) || (has(asks) && !has(asks["url"]));
    return {.tasks = has(capabilities["extensions"][tasks_extension]),
            .form = form,
            .url = has(asks["url"])};
}

Abilities abilities_of(rpc::Message const& message) {
    return abilities_in(meta_of(message)[meta::capabilities]);
}

rpc::Fault needs_tasks() {
    json::Writer out;
    out.begin_object().key("requiredCapabilities").begin_object().key("extensions");
    out.begin_object().key(tasks_extension).begin_object().end_object().end_object();
    return fault(code::missing_capability, "Missing required client capability",
                 out.end_object().end_object().json());
}

std::optional<rpc::Fault> wrong_meta(rpc::Message const& message) {
    auto const requested = meta_of(message)[meta::version].string();
    if (!requested)
        return fault(rpc::code::invalid_params, "_meta must have " + std::string(meta::version));
    if (*requested != stateless_version) return unsupported(*requested);
    if (message.kind == rpc::Message::Kind::request &&
        meta_of(message)[meta::capabilities].kind() != json::Kind::object)
        return fault(rpc::code::invalid_params,
                     "_meta must have " + std::string(meta::capabilities) + ", an object");
    return std::nullopt;
}

std::optional<rpc::Fault> wrong_headers(HeaderOf const& header, rpc::Message const& message) {
    auto const version = header("mcp-protocol-version");
    bool const stateless = version == stateless_version || era_of(message) == Era::stateless;
    if (stateless) {
        if (version.empty()) return mismatch("MCP-Protocol-Version is missing");
        return wrong_stateless(header, message);
    }
    if (version.empty() || is_session_version(version)) return std::nullopt;
    return unsupported(version);
}

int http_status_of(rpc::Fault const& fault, Era era) {
    bool const of_request = fault.code == code::header_mismatch ||
                            fault.code == code::missing_capability ||
                            fault.code == code::unsupported_version;
    if (of_request) return 400;
    if (era == Era::with_initialize) return 200;
    if (fault.code == rpc::code::method_not_found) return 404;
    return fault.code == rpc::code::invalid_params ? 400 : 200;
}

Json stateless_result(Json const& result, std::string_view method, Json const& server_info) {
    json::Writer out;
    out.begin_object();
    json::View(result).members(
        [&](std::string_view name, json::View value) { out.member_raw(name, value.raw()); });
    if (!json::View(result)["resultType"].exists()) out.member("resultType", "complete");
    if (method == "tools/list" || method == "server/discover")
        out.member("ttlMs", list_ttl_ms).member("cacheScope", "private");
    out.key("_meta").begin_object().member(meta::server, server_info).end_object();
    return out.end_object().json();
}

}  // namespace dormouse::mcp
