#include "acp_agent/prompt.h"

#include <vector>

namespace dormouse::acp_agent {
namespace {

using AcpPart = std::expected<std::string, std::string>;

std::string acp_text_part(std::string_view text) {
    json::Writer out;
    return out.begin_object().member("type", "text").member("text", text).end_object().take();
}

std::string acp_file_part(std::string_view type, std::string_view mime, std::string_view name,
                          std::string_view data) {
    json::Writer out;
    out.begin_object().member("type", type).member("mime", mime);
    if (!name.empty()) out.member("name", name);
    return out.member("data", data).end_object().take();
}

std::string last_of_uri(std::string const& uri) { return uri.substr(uri.rfind('/') + 1); }

AcpPart resource_part(json::View resource) {
    auto const uri = resource["uri"].string_or("");
    if (auto const text = resource["text"].string())
        return acp_text_part("Content of " + uri + ":\n" + *text);
    auto const blob = resource["blob"].string();
    if (!blob) return std::unexpected("resource has neither text nor blob");
    return acp_file_part("file", resource["mimeType"].string_or("application/octet-stream"),
                         last_of_uri(uri), *blob);
}

AcpPart acp_part_of(json::View block) {
    auto const type = block["type"].string_or("");
    if (type == "text") {
        auto const text = block["text"].string();
        if (!text) return std::unexpected("text is missing");
        return acp_text_part(*text);
    }
    if (type == "image") {
        auto const data = block["data"].string();
        auto const mime = block["mimeType"].string();
        if (!data || !mime) return std::unexpected("an image must have data and mimeType");
        return acp_file_part("image", *mime, "", *data);
    }
    if (type == "resource_link") {
        auto const uri = block["uri"].string();
        if (!uri) return std::unexpected("a resource_link must have a uri");
        return acp_text_part("[" + block["name"].string_or(last_of_uri(*uri)) + "](" + *uri + ")");
    }
    if (type == "resource") return resource_part(block["resource"]);
    return std::unexpected("content of type \"" + type + "\" cannot be sent");
}

}  // namespace

std::expected<AcpInput, std::string> acp_input(json::View blocks) {
    if (blocks.kind() != json::Kind::array || blocks.size() == 0)
        return std::unexpected("prompt must be an array of content, and not empty");
    if (auto const only = blocks.at_pointer("/0");
        blocks.size() == 1 && only["type"].string_or("") == "text") {
        auto const text = only["text"].string();
        if (!text || text->empty()) return std::unexpected("prompt/0: text is missing or empty");
        return AcpInput{"text", Json::trusted(json::quote(*text))};
    }
    json::Writer out;
    out.begin_array();
    std::string wrong;
    std::size_t at = 0;
    blocks.elements([&](json::View block) {
        auto const part = acp_part_of(block);
        if (part) out.raw(*part);
        if (!part && wrong.empty()) wrong = "prompt/" + std::to_string(at) + ": " + part.error();
        ++at;
    });
    if (!wrong.empty()) return std::unexpected(wrong);
    return AcpInput{"parts", out.end_array().json()};
}

}  // namespace dormouse::acp_agent
