#pragma once
// The inputs of clients: prompts for the demo model, and outcomes for calls as the server prepares
// them.

#include "session/command.h"
#include "sim/world.h"

namespace dormouse::sim {

// The largest output that stays in the journal.
inline constexpr std::size_t output_bytes = 1'024;

// Alias of one of the first sessions, for prompts that send mail.
[[nodiscard]] std::string alias_of(std::uint64_t number);

[[nodiscard]] session::Prompt prompt_of(std::string const& text);
[[nodiscard]] session::Prompt draw_prompt(World& world);

// `variant`: outcomes of different variants conflict.
[[nodiscard]] session::Submission result(unsigned variant);
[[nodiscard]] session::Submission error(unsigned variant);
[[nodiscard]] session::Submission decision(bool approved);
// An answer to an in-doubt question: run_again, succeeded or give_up.
[[nodiscard]] session::Submission doubt_answer(std::string const& action);
// An outcome that is valid for a pause of this reason.
[[nodiscard]] session::Submission fitting(session::PauseReason reason, unsigned variant);

}  // namespace dormouse::sim
