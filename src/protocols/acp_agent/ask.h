#pragma once
// Questions to an editor about a pending call, and their answers. Pure.

#include "json/json.h"

#include <expected>
#include <optional>
#include <string>

namespace dormouse::acp_agent {

// The ways in which an editor can ask a person.
enum class AcpChoice : std::uint8_t {
    allow,    // session/request_permission, yes or no
    choices,  // session/request_permission, with an option for each choice
    form,     // elicitation/create
    words,    // a message; the next prompt is the answer
};

struct AcpAsk {
    std::string session;
    std::string pending;
    std::string digest;   // of the shown arguments
    std::string message;  // may be empty
    AcpChoice choice = AcpChoice::allow;
    Json form = {};  // JSON Schema of the content; null: none
};

// `call` in the form of GET /async-tool/pending/{id}. `of_doubt`: asks what became of a call that a
// crash cut off. `forms`: the editor can show forms.
[[nodiscard]] AcpAsk acp_ask(std::string session, json::View call, bool of_doubt, bool forms);

struct AcpQuestion {
    std::string method;
    Json params;
};
// REQUIRES: the choice is not `words`. `tool_call`: the editor's id of the tool call; empty: the
// callID.
[[nodiscard]] AcpQuestion acp_question(AcpAsk const& ask, json::View call,
                                       std::string const& tool_call = {});
// Returns the protocol's kind of a tool: that of an external agent's own tool ("acp:execute"), else
// "other".
[[nodiscard]] std::string acp_kind_of(std::string_view tool);
// Returns the question as text for a person.
[[nodiscard]] std::string acp_words_of(AcpAsk const& ask);

// Returns the body of POST /async-tool/decision; nullopt: no decision was made.
[[nodiscard]] std::optional<Json> acp_decision(AcpAsk const& ask, json::View answer);
// The same from the text of the next prompt. Error: the required form.
[[nodiscard]] std::expected<Json, std::string> acp_decision_in_words(AcpAsk const& ask,
                                                                     std::string const& text);

}  // namespace dormouse::acp_agent
