#include "mcp/versions.h"

#include <gtest/gtest.h>

#include <map>

namespace dormouse::mcp {
namespace {

rpc::Message message_of(std::string const& text) {
    return rpc::read({.text = text}).messages.front();
}

HeaderOf headers(std::map<std::string_view, std::string_view> const& all) {
    return [all](std::string_view name) {
        auto const found = all.find(name);
        return found == all.end() ? std::string_view() : found->second;
    };
}

rpc::Message stateless(std::string const& params, std::string const& version = "2026-07-28") {
    return message_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{)" + params +
                      R"("_meta":{"io.modelcontextprotocol/protocolVersion":")" + version +
                      R"(","io.modelcontextprotocol/clientCapabilities":{}}}})");
}

int code_of(std::optional<rpc::Fault> const& fault) { return fault ? fault->code : 0; }

TEST(McpVersions, Initialize_KnownVersion_IsKept) {
    EXPECT_EQ(negotiated("2025-03-26"), "2025-03-26");
    EXPECT_EQ(negotiated("2025-11-25"), "2025-11-25");
    EXPECT_EQ(negotiated("2026-07-28"), "2025-11-25") << "it has no initialize";
    EXPECT_EQ(negotiated(""), "2025-11-25");
}

TEST(McpVersions, StatelessRequest_HeadersRepeatBody_Fits) {
    auto const request = stateless(R"("name":"a",)");
    std::map<std::string_view, std::string_view> fits{
        {"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}, {"mcp-name", "a"}};
    EXPECT_EQ(code_of(wrong_headers(headers(fits), request)), 0);
    for (auto const* const name : {"mcp-protocol-version", "mcp-method", "mcp-name"}) {
        auto wrong = fits;
        wrong[name] = "x";
        EXPECT_EQ(code_of(wrong_headers(headers(wrong), request)), code::header_mismatch) << name;
    }
}

TEST(McpVersions, RequestOfATask_IsNamedByItsId) {
    auto const request = [](std::string const& method) {
        return message_of(
            R"({"jsonrpc":"2.0","id":1,"method":")" + method +
            R"(","params":{"taskId":"t","_meta":{"io.modelcontextprotocol/protocolVersion":)"
            R"("2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
    };
    for (auto const* const method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
        std::map<std::string_view, std::string_view> sent{
            {"mcp-protocol-version", "2026-07-28"}, {"mcp-method", method}, {"mcp-name", "t"}};
        EXPECT_EQ(code_of(wrong_headers(headers(sent), request(method))), 0);
        sent["mcp-name"] = "other";
        EXPECT_EQ(code_of(wrong_headers(headers(sent), request(method))), code::header_mismatch);
    }
    // A method that this version does not have is refused as unknown, not for its headers.
    std::map<std::string_view, std::string_view> const sent{{"mcp-protocol-version", "2026-07-28"},
                                                            {"mcp-method", "tasks/result"}};
    EXPECT_EQ(code_of(wrong_headers(headers(sent), request("tasks/result"))), 0);
}

TEST(McpVersions, StatelessRequest_WithoutItsMeta_IsRefused) {
    std::map<std::string_view, std::string_view> const sent{{"mcp-protocol-version", "2026-07-28"},
                                                            {"mcp-method", "ping"}};
    auto const bare = message_of(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    EXPECT_EQ(code_of(wrong_headers(headers(sent), bare)), rpc::code::invalid_params);
    EXPECT_EQ(code_of(wrong_meta(stateless("", "2030-01-01"))), code::unsupported_version);
    EXPECT_EQ(era_of(bare), Era::with_initialize);
    EXPECT_EQ(era_of(stateless("")), Era::stateless);
}

TEST(McpVersions, SessionRequest_UnknownVersion_IsRefused) {
    auto const bare = message_of(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    EXPECT_EQ(code_of(wrong_headers(headers({}), bare)), 0) << "as 2025-03-26";
    EXPECT_EQ(code_of(wrong_headers(headers({{"mcp-protocol-version", "2025-06-18"}}), bare)), 0);
    auto const wrong = wrong_headers(headers({{"mcp-protocol-version", "1"}}), bare);
    ASSERT_EQ(code_of(wrong), code::unsupported_version);
    EXPECT_EQ(wrong->data.text(),
              R"({"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"],)"
              R"("requested":"1"})");
}

TEST(McpVersions, Fault_OfEachEra_HasItsStatus) {
    rpc::Fault const unknown{.code = rpc::code::method_not_found};
    EXPECT_EQ(http_status_of(unknown, Era::with_initialize), 200);
    EXPECT_EQ(http_status_of(unknown, Era::stateless), 404);
    EXPECT_EQ(http_status_of({.code = code::header_mismatch}, Era::stateless), 400);
    EXPECT_EQ(http_status_of({.code = rpc::code::internal_error}, Era::stateless), 200);
}

}  // namespace
}  // namespace dormouse::mcp
