#pragma once
// Questions of servers of 2026-07-28: the result of a call says what input the server needs, and
// the same call is made again with it. Nothing waits at the server meanwhile, so a round survives
// kills of both sides. Pure.

#include "agent/tool.h"
#include "json/json.h"
#include "mcp_client/elicitation.h"

#include <expected>
#include <string>

namespace dormouse::mcp_client {

inline constexpr std::size_t round_questions_max = 10;
inline constexpr std::size_t request_state_bytes_max = 65'536;

// What the server needs before it does a call, and what people have answered so far.
struct Round {
    Json requests = {};   // an object: questions that are not answered yet, by the server's keys
    Json responses = {};  // an object: answers
    Json request_state = {};  // the server's own, to be sent back; null: none
    unsigned number = 0;      // questions of the call so far
};

[[nodiscard]] bool needs_input(json::View result);
// Reads such a result. `number`: questions of the call so far. Errors: what Dormouse cannot answer.
[[nodiscard]] std::expected<Round, std::string> read_round(json::View result, unsigned number);

[[nodiscard]] bool is_complete(Round const& round);
// The pause that asks the first question that is left. REQUIRES: not complete.
[[nodiscard]] session::PauseTerms ask_next(Round round, std::string const& server, Duration limit,
                                           std::string const& wrong);

// Whether the state of a pause is one of ask_next().
[[nodiscard]] bool is_round(Json const& state);
// The round after a person's decision. `wrong`: set if the answer does not fit and the same
// question is to be asked again.
[[nodiscard]] Round round_after(Json const& state, session::Submission const& decision,
                                std::string& wrong);
// Adds the input to the parameters of a call.
[[nodiscard]] Json with_input(Json const& params, Round const& round);

}  // namespace dormouse::mcp_client
