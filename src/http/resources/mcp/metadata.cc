// Protected-resource metadata (RFC 9728).

#include "http/resources/mcp/handlers.h"

#include "json/json.h"

namespace dormouse::http {
namespace {

constexpr std::string_view metadata_path = "/.well-known/oauth-protected-resource";

}  // namespace

bool is_mcp_metadata(std::string_view path) {
    return path == metadata_path || path == std::string(metadata_path) + std::string(mcp_path);
}

std::string mcp_challenge(std::string const& base_url) {
    return "Bearer realm=\"dormouse\", resource_metadata=\"" + base_url +
           std::string(metadata_path) + std::string(mcp_path) + "\"";
}

// There is no authorization server to name: tokens are made with `dormouse token create`.
void get_mcp_metadata(Api& api, ExchangePtr const& x) {
    json::Writer out;
    out.begin_object();
    out.member("resource", api.services().gate.base_url() + std::string(mcp_path));
    out.member("resource_name", "Dormouse").key("bearer_methods_supported");
    out.begin_array().value("header").end_array().end_object();
    x->json(200, out.take());
}

}  // namespace dormouse::http
