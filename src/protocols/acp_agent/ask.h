#pragma once
// What an editor is asked about a pending call, and what its answer says. Pure.

#include "json/json.h"

#include <expected>
#include <optional>
#include <string>

namespace dormouse::acp_agent {

// How a person behind an editor can be asked.
enum class AcpWay : std::uint8_t {
    allow,    // session/request_permission, yes or no
    choices,  // session/request_permission, with an option for each choice
    form,     // elicitation/create
    words,    // a message; the next prompt is the answer
};

struct AcpAsk {
    std::string session;
    std::string pending;
    std::string digest;   // of the arguments that are shown
    std::string message;  // perhaps empty
    AcpWay way = AcpWay::allow;
    Json form = {};  // JSON Schema of the content; null: there is none
};

// `call` as GET /async-tool/pending/{id} shows it. `of_doubt`: it asks what
// became of a call that a crash cut off. `forms`: the editor can show some.
[[nodiscard]] AcpAsk acp_ask(std::string session, json::View call, bool of_doubt, bool forms);

struct AcpQuestion {
    std::string method;
    Json params;
};
// REQUIRES: it is not asked in words. `tool_call`: as the editor knows it; empty: by its callID.
[[nodiscard]] AcpQuestion acp_question(AcpAsk const& ask, json::View call,
                                       std::string const& tool_call = {});
// The protocol's kind of a tool: that of a program's own ("acp:execute"), else "other".
[[nodiscard]] std::string acp_kind_of(std::string_view tool);
// In words, for a person.
[[nodiscard]] std::string acp_words_of(AcpAsk const& ask);

// The body of POST /async-tool/decision; nullopt: nobody has decided.
[[nodiscard]] std::optional<Json> acp_decision(AcpAsk const& ask, json::View answer);
// Of the next prompt's text. Error: what it must be.
[[nodiscard]] std::expected<Json, std::string> acp_decision_in_words(AcpAsk const& ask,
                                                                     std::string const& said);

}  // namespace dormouse::acp_agent
