#pragma once
// A gate from the configuration: before the tools that it names run, a person is asked.
// docs/how-to/approvals.md.

#include "agent/tool.h"

namespace dormouse::external {

struct GateRule {
    std::string name;                // stands in the journal: who asked
    std::vector<std::string> tools;  // names; `*` stands for any text
    std::string ask = {};            // "Deploy {input.ref}?"; empty: a text of our own
    session::AnswerTerms answer = {};
    std::optional<Duration> timeout = {};  // nullopt: none
    session::OnDeadline on_expiry = session::OnDeadline::deny;
    // Who is asked when nobody has answered in time, for as long again; on_expiry holds after that.
    std::vector<std::string> escalate_to = {};
    std::optional<Duration> warn_before = {};  // of the deadline
    std::optional<Duration> remind_after = {};
    std::optional<Duration> remind_every = {};
};

[[nodiscard]] agent::Gate make_gate(GateRule rule);

// {tool}, {input} and {input.NAME} are replaced; a text as it is, other JSON compact, what is not
// there as "(none)". Everything else stays.
[[nodiscard]] std::string fill_question(std::string_view text, std::string_view tool,
                                        Json const& input);

}  // namespace dormouse::external
