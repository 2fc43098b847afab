#pragma once
// An error of the command line: one sentence, what to do about it, and the exit status.

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
inline constexpr int refused = 8;  // temporarily unavailable
inline constexpr int newer = 9;    // the data was written by a newer release
inline constexpr int sleeps = 10;
inline constexpr int denied = 11;     // ask
inline constexpr int expired = 12;    // ask
inline constexpr int cancelled = 13;  // ask
inline constexpr int interrupted = 130;
inline constexpr int unread =
    141;  // standard output was closed; the status that a shell shows for SIGPIPE
}  // namespace status

struct Failure {
    int exit = status::failed;
    std::string what;         // what failed and where
    std::string remedy = {};  // what to do; may be empty
    Json problem = {};        // the server's problem document or null
};

template <class T> using Outcome = std::expected<T, Failure>;

[[nodiscard]] std::unexpected<Failure> failure(int exit, std::string what, std::string remedy = {});

// Converts a reply outside 2xx. `body` is a problem document (RFC 9457) or anything else.
[[nodiscard]] Failure failure_of_reply(int http_status, std::string_view body);

// Returns one or two lines for the user, safe for a terminal, ending in a line break.
[[nodiscard]] std::string text(Failure const& failure);

// Returns the same for programs: the server's problem document, or one of the same form with the
// members title, code, remedy and exit.
[[nodiscard]] Json failure_json(Failure const& failure);

// Returns true if the server cannot be reached or refuses temporarily, so that a retry may succeed.
[[nodiscard]] bool is_away(Failure const& failure);

// Returns the code of the problem document ("conflict"), or empty.
[[nodiscard]] std::string code_of(Failure const& failure);

}  // namespace dormouse::cli
