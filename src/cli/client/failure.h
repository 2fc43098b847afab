#pragma once
// What goes wrong on the command line: one sentence, what to do about it, and the exit status.

#include <dormouse/error.h>
#include <dormouse/json.h>

#include <expected>
#include <string>
#include <string_view>

namespace dormouse::cli {

// Exit statuses (docs/reference/cli.md, "Exit status").
namespace status {
inline constexpr int done = 0;
inline constexpr int failed = 1;
inline constexpr int usage = 2;
inline constexpr int not_found = 3;
inline constexpr int conflict = 4;
inline constexpr int gone = 5;  // expired or cancelled
inline constexpr int not_allowed = 6;
inline constexpr int unreachable = 7;
inline constexpr int refused = 8;  // for now
inline constexpr int sleeps = 10;
inline constexpr int interrupted = 130;
inline constexpr int unread = 141;  // nobody reads what it prints; as a shell shows SIGPIPE
}  // namespace status

struct Failure {
    int exit = status::failed;
    std::string what;         // what went wrong and where
    std::string remedy = {};  // what to do; may be empty
    Json problem = {};        // the server's problem document, or null
};

template <class T> using Outcome = std::expected<T, Failure>;

[[nodiscard]] std::unexpected<Failure> failure(int exit, std::string what, std::string remedy = {});

// What a reply outside 2xx means. `body` is a problem document (RFC 9457) or anything else.
[[nodiscard]] Failure failure_of_reply(int http_status, std::string_view body);

// One or two lines for a person, safe for a terminal, ending in a line break.
[[nodiscard]] std::string text(Failure const& failure);

// The server cannot be reached, or refuses for now: it may be there again in a moment.
[[nodiscard]] bool is_away(Failure const& failure);

// The code of the problem document ("conflict"), or empty.
[[nodiscard]] std::string code_of(Failure const& failure);

}  // namespace dormouse::cli
