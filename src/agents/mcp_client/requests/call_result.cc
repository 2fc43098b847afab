#include "mcp_client/requests/call_result.h"

#include "base/text/cut.h"
#include "json/json.h"

namespace dormouse::mcp_client {
namespace {

constexpr std::size_t error_bytes_max = 4'096;

std::string text_of(json::View content) {
    std::string out;
    content.elements([&](json::View part) {
        if (auto const text = part["text"].string()) out += (out.empty() ? "" : "\n") + *text;
    });
    return out;
}

bool is_one_text(json::View content) {
    bool text = content.size() == 1;
    content.elements([&](json::View part) {
        text = text && part["type"].string_or("") == "text" && part["text"].string();
    });
    return text;
}

}  // namespace

agent::ToolResult read_result(json::View result) {
    auto const content = result["content"];
    if (result["isError"].boolean_or(false)) {
        auto text = text_of(content);
        return agent::Failed{text.empty() ? "the tool reported an error without a text"
                                          : cut_with_mark(text, error_bytes_max, " … [cut]")};
    }
    auto const structured = result["structuredContent"];
    if (structured.exists() && !structured.is_null()) return agent::Done{structured.copy()};
    if (content.kind() != json::Kind::array)
        return agent::Failed{"the MCP server's result has no content"};
    if (is_one_text(content)) return agent::Done{Json::trusted(json::quote(text_of(content)))};
    return agent::Done{content.copy()};
}

}  // namespace dormouse::mcp_client
