#include "mcp_client/library.h"

#include <algorithm>
#include <array>
#include <string>

namespace dormouse::mcp_client {
namespace {

enum class Needs : std::uint8_t { resources, prompts };

struct Row {
    std::string_view method;
    Needs needs;
    std::string_view member;  // an array that each result has
    std::string_view description;
    std::string_view schema;
};

constexpr std::string_view list_schema =
    R"({"type":"object","properties":{"cursor":{"type":"string",)"
    R"("description":"nextCursor of the page before; leave it out for the first."}},)"
    R"("additionalProperties":false})";
constexpr std::string_view read_schema =
    R"({"type":"object","properties":{"uri":{"type":"string","maxLength":8192}},)"
    R"("required":["uri"],"additionalProperties":false})";
constexpr std::string_view prompt_schema =
    R"({"type":"object","properties":{"name":{"type":"string"},)"
    R"("arguments":{"type":"object","additionalProperties":{"type":"string"}}},)"
    R"("required":["name"],"additionalProperties":false})";

constexpr std::array rows{
    Row{"resources/list", Needs::resources, "resources",
        "Lists the resources of this server; resources/read has their contents.", list_schema},
    Row{"resources/templates/list", Needs::resources, "resourceTemplates",
        "Lists the templates of the URIs of this server's resources.", list_schema},
    Row{"resources/read", Needs::resources, "contents", "Reads a resource of this server.",
        read_schema},
    Row{"prompts/list", Needs::prompts, "prompts",
        "Lists the prompts of this server; prompts/get has their messages.", list_schema},
    Row{"prompts/get", Needs::prompts, "messages",
        "Fills in a prompt of this server and returns its messages.", prompt_schema},
};

constexpr std::array<std::string_view, 4> for_the_protocol{"_meta", "resultType", "ttlMs",
                                                           "cacheScope"};

Row const* row_of(std::string_view name) {
    auto const* const at = std::ranges::find(rows, name, &Row::method);
    return at == rows.end() ? nullptr : at;
}

}  // namespace

std::vector<ForeignTool> library_tools(Abilities const& abilities) {
    std::vector<ForeignTool> out;
    for (Row const& row : rows) {
        bool const has = row.needs == Needs::resources ? abilities.resources : abilities.prompts;
        if (!has) continue;
        ForeignTool tool{.name = std::string(row.method),
                         .description = std::string(row.description),
                         .schema = Json::trusted(std::string(row.schema))};
        tool.hints = {.read_only = true, .destructive = false, .idempotent = true};
        out.push_back(std::move(tool));
    }
    return out;
}

bool is_library_tool(std::string_view name) { return row_of(name) != nullptr; }

agent::ToolResult read_library_result(std::string_view method, json::View result) {
    Row const* const row = row_of(method);
    if (!row || result[row->member].kind() != json::Kind::array)
        return agent::Failed{"the MCP server's result has no " +
                             std::string(row ? row->member : method)};
    json::Writer out;
    out.begin_object();
    result.members([&](std::string_view name, json::View value) {
        if (std::ranges::find(for_the_protocol, name) == for_the_protocol.end())
            out.member_raw(name, value.raw());
    });
    return agent::Done{out.end_object().json()};
}

}  // namespace dormouse::mcp_client
