#pragma once
// Questions that a server asks during a call (elicitation): as a pause of the call that a person
// answers, and the answer back. Pure.

#include "agent/tool.h"
#include "base/crypto/sha256.h"
#include "json/json.h"

#include <expected>
#include <optional>
#include <string>

namespace dormouse::mcp_client {

inline constexpr std::size_t question_bytes_max = 4'096;  // of its text
inline constexpr std::size_t question_form_bytes_max = 65'536;
inline constexpr std::size_t question_url_bytes_max = 2'048;
inline constexpr std::size_t answer_bytes_max = 65'536;

// Form mode, or URL mode: then a person opens the URL and says when it is done.
struct Question {
    std::string message = {};
    Json form = {};        // JSON Schema of an object; null: URL mode
    std::string url = {};  // empty: form mode
    Json sample = {};      // null, unless a model is to answer (sampling.h)
    Sha256 digest = {};    // of all of it
};
void set_digest(Question& question);
// All of the question, and the question again.
[[nodiscard]] Json written(Question const& question);
[[nodiscard]] Question read_written(json::View written);

// Reads the parameters of elicitation/create. Errors: what is wrong with them.
[[nodiscard]] std::expected<Question, std::string> read_question(json::View params);

// Returns the pause of a call that waits for an answer. `server`: its name; `limit`: how long;
// `number`: counts the questions of the call, from 1; `wrong`: why the previous answer to the same
// question does not fit, or empty.
[[nodiscard]] session::PauseTerms pause_of(Question const& question, std::string const& server,
                                           Duration limit, unsigned number,
                                           std::string const& wrong);

// Why the approved decision does not fit the form; empty: it fits, or is no approval.
[[nodiscard]] std::string misfit(Question const& question, session::Submission const& decision);
// The result of elicitation/create: accept with the content, or decline.
[[nodiscard]] Json answer_of(Question const& question, session::Submission const& decision);
// Nobody answers.
[[nodiscard]] Json cancelled_answer();

// Returns the pause of a call whose server does nothing until a person signs in at `page`.
// `number`: counts such pauses of the call, from 1.
[[nodiscard]] session::PauseTerms sign_in_pause(std::string const& server, std::string const& page,
                                                Duration limit, unsigned number);
// Returns the number of sign-ins that the call has asked for, by the state of its pause.
[[nodiscard]] unsigned sign_ins_in(Json const& state);
[[nodiscard]] inline bool is_sign_in(Json const& state) { return sign_ins_in(state) > 0; }

// The question that a pause of the call asked, as its state has it; nullopt: it asked none.
[[nodiscard]] std::optional<Question> question_in(Json const& state);

}  // namespace dormouse::mcp_client
