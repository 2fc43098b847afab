#pragma once
// What all servers of one store must know of the sessions of MCP clients: which have ended, and
// which of their requests the client has withdrawn. Divided into buckets, each of which is one
// shared value. They hold digests in place of ids. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::http {

// The beginning of the names of these shared values.
inline constexpr std::string_view mcp_marks_values = "mcp-sessions:";

// The key of a session, and of one of its requests (an id as JSON).
[[nodiscard]] std::string mcp_session_key(std::string_view id);
[[nodiscard]] std::string mcp_request_key(std::string_view session_key, std::string_view request);
// The bucket of a session: two hexadecimal digits.
[[nodiscard]] std::string mcp_bucket(std::string_view session_key);

// The content of a bucket.
struct McpMarks {
    // The newest that are kept. There are 256 buckets.
    static constexpr std::size_t ended_max = 40;
    static constexpr std::size_t withdrawn_max = 100;

    struct Withdrawn {
        std::uint64_t number = 0;
        std::string request;  // its key
    };
    std::uint64_t newest = 0;               // the number of the newest withdrawal
    std::vector<std::string> ended = {};    // keys of sessions, oldest first
    std::vector<Withdrawn> withdrawn = {};  // oldest first

    [[nodiscard]] bool has_ended(std::string_view session_key) const;
    // Returns false if it had ended before.
    bool end(std::string const& session_key);
    void withdraw(std::string const& request_key);
    // Returns true if it was withdrawn after the withdrawal with the number `after`.
    [[nodiscard]] bool is_withdrawn(std::string_view request_key, std::uint64_t after) const;

    [[nodiscard]] std::string text() const;
    // Reads text(). What is malformed is empty.
    [[nodiscard]] static McpMarks read(std::string_view text);
};

}  // namespace dormouse::http
