#pragma once
// Versions of the Model Context Protocol, and what a request of each must have. The versions up to
// 2025-11-25 begin with `initialize`; since 2026-07-28 each request says in `_meta` which version
// it is in, and nothing comes before it. Pure.

#include "json/json.h"
#include "rpc/message.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dormouse::mcp {

inline constexpr std::string_view newest_session_version = "2025-11-25";
inline constexpr std::string_view stateless_version = "2026-07-28";
inline constexpr std::string_view version_without_header = "2025-03-26";

namespace code {
inline constexpr int header_mismatch = -32020;
inline constexpr int missing_capability = -32021;
inline constexpr int unsupported_version = -32022;
}  // namespace code

namespace meta {
inline constexpr std::string_view version = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view capabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view server = "io.modelcontextprotocol/serverInfo";
}  // namespace meta

// Returns the versions that begin with `initialize`, newest first.
[[nodiscard]] std::span<std::string_view const> session_versions();
// Returns all versions, newest first.
[[nodiscard]] std::span<std::string_view const> all_versions();
[[nodiscard]] bool is_session_version(std::string_view version);

// Returns the version that answers an `initialize` for `wanted`.
[[nodiscard]] std::string_view negotiated(std::string_view wanted);

// `with_initialize`: versions up to 2025-11-25.
enum class Era : std::uint8_t { with_initialize, stateless };

// Returns the era of the message, which its `_meta` shows.
[[nodiscard]] Era era_of(rpc::Message const& message);
// The optional capabilities of the client of a request.
struct Abilities {
    bool tasks = false;  // reads tasks that answer in place of a tool
    bool form = false;   // asks its user with a form
    bool url = false;    // sends its user to a page
};
// Reads the capabilities of a client.
[[nodiscard]] Abilities abilities_in(json::View capabilities);
// Reads the capabilities of the client from a request of the stateless era.
[[nodiscard]] Abilities abilities_of(rpc::Message const& message);
// The fault of a request that only clients with tasks may send.
[[nodiscard]] rpc::Fault needs_tasks();

// Returns why a request of the stateless era cannot be answered; nullopt: it can.
[[nodiscard]] std::optional<rpc::Fault> wrong_meta(rpc::Message const& message);

// A header by its lower-case name; empty: there is none.
using HeaderOf = std::function<std::string_view(std::string_view name)>;
// Returns why the headers of a POST do not fit its message; nullopt: they do.
[[nodiscard]] std::optional<rpc::Fault> wrong_headers(HeaderOf const& header,
                                                      rpc::Message const& message);

// The HTTP status of an answer with this fault.
[[nodiscard]] int http_status_of(rpc::Fault const& fault, Era era);

// Adds what results of the stateless era have, but no second `resultType`.
[[nodiscard]] Json stateless_result(Json const& result, std::string_view method,
                                    Json const& server_info);

}  // namespace dormouse::mcp
