#pragma once
// Sampling: a server asks for an answer of the agent's model during a call. A person approves what
// it asks, then the model answers it, without tools. Pure.

#include "agent/model.h"
#include "json/json.h"
#include "mcp_client/requests/elicitation.h"

#include <expected>
#include <functional>
#include <string>

namespace dormouse::mcp_client {

inline constexpr std::string_view sampling_method = "sampling/createMessage";
inline constexpr std::size_t sample_bytes_max = 16'000;  // of all texts, which a person reads
inline constexpr std::size_t sample_messages_max = 100;
inline constexpr std::size_t sampled_bytes_max = 65'536;  // of the model's answer
inline constexpr int code_declined = -1;                  // as the protocol has it

// Asks the model of an agent. `done` is called once, perhaps before this returns, and never after
// the stop.
using AskModel = std::function<agent::StopTool(std::string const& agent, agent::Question question,
                                               port::Fn<void(agent::ModelOutcome)> done)>;

// Reads the parameters of sampling/createMessage. Errors: what is wrong with them.
[[nodiscard]] std::expected<Question, std::string> read_sample(json::View params);
// Returns the question to the model. REQUIRES: read_sample() made the question.
[[nodiscard]] agent::Question model_question(Question const& question);
// The result of sampling/createMessage. Errors: why there is none.
[[nodiscard]] std::expected<Json, std::string> sampled(agent::ModelOutcome const& outcome,
                                                       std::string const& model);

}  // namespace dormouse::mcp_client
