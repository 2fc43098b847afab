#pragma once
// Input that a server needs before it continues, while nothing waits on a connection: for a call
// of 2026-07-28, which is made again with the input, and for a task. A round survives kills of both
// sides, because the pauses that ask people keep it. Pure.

#include "agent/tool.h"
#include "json/json.h"
#include "mcp_client/requests/elicitation.h"

#include <cstdint>
#include <expected>
#include <string>

namespace dormouse::mcp_client {

inline constexpr std::size_t round_questions_max = 10;
inline constexpr std::size_t request_state_bytes_max = 65'536;

// The way in which answers reach the server.
enum class AnswerBy : std::uint8_t {
    call,      // the call is made again with them
    update,    // the task gets them by `tasks/update`
    response,  // they answer the server's own request about the task; asked again, the same answer
};

// The questions of the server, and the answers of people so far.
struct Round {
    Json requests = {};   // an object: questions that are not answered yet, by the server's keys
    Json responses = {};  // an object: answers; a text: the request is refused with it
    Json request_state = {};  // the server's own, to be sent back; null: none
    unsigned number = 0;      // questions of the call so far
    AnswerBy by = AnswerBy::call;
    std::string task = {};  // empty: the round is of a call
};

[[nodiscard]] bool needs_input(json::View result);
// Reads such a result. `number`: questions of the call so far; `sampling`: the agent's model may be
// asked. Errors: what Dormouse cannot answer.
[[nodiscard]] std::expected<Round, std::string> read_round(json::View result, unsigned number,
                                                           bool sampling);
// The same for a task with input requests. `earlier`: the answers that it got.
[[nodiscard]] std::expected<Round, std::string> read_task_round(json::View task,
                                                                Round const& earlier,
                                                                bool sampling);
// The round of a task whose server has sent a request of its own. Its key is key_of_question().
[[nodiscard]] Round asked_round(Question const& question, Round const& earlier);
[[nodiscard]] std::string key_of_question(Question const& question);

[[nodiscard]] bool is_complete(Round const& round);
// The first question that is left. REQUIRES: not complete.
[[nodiscard]] Question next_question(Round const& round);
// Its answer.
void answer_next(Round& round, Json const& response);
// The pause that asks it.
[[nodiscard]] session::PauseTerms ask_next(Round round, std::string const& server, Duration limit,
                                           std::string const& wrong);
// Returns true if the state of a pause is one of ask_next().
[[nodiscard]] bool is_round(Json const& state);
[[nodiscard]] Round round_in(Json const& state);

// The pause of a task that continues with these answers. REQUIRES: a task's, and complete.
[[nodiscard]] session::PauseTerms task_pause(Round const& round, Duration limit);
// The answers that the state of such a pause has; of any other state: none.
[[nodiscard]] Round answers_in(Json const& state, std::string const& task);

// Adds the input to the parameters of a call.
[[nodiscard]] Json with_input(Json const& params, Round const& round);
// The parameters of `tasks/update`.
[[nodiscard]] Json update_params(Round const& round);

}  // namespace dormouse::mcp_client
