// Protected-resource metadata (RFC 9728).

#include "http/resources/mcp/handlers.h"

#include "base/text/text.h"
#include "json/json.h"

namespace dormouse::http {
namespace {

constexpr std::string_view metadata_path = "/.well-known/oauth-protected-resource";
constexpr std::string_view invalid_token =
    R"(, error="invalid_token", error_description="The token is unknown, expired or revoked")";

}  // namespace

bool is_mcp_metadata(std::string_view path) {
    return path == metadata_path || path == std::string(metadata_path) + std::string(mcp_path);
}

std::string mcp_challenge(std::string const& base_url, std::string_view authorization) {
    std::string out = "Bearer realm=\"dormouse\", resource_metadata=\"" + base_url +
                      std::string(metadata_path) + std::string(mcp_path) + "\"";
    constexpr std::string_view scheme = "bearer ";
    bool const has_token = authorization.size() > scheme.size() &&
                           lower_case(authorization.substr(0, scheme.size())) == scheme;
    return has_token ? out + std::string(invalid_token) : out;
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
