#pragma once
// decide: turns a command into events. Pure: no clock, no randomness, no I/O; the same state and
// command give the same decision, byte for byte. Each file under decide/ handles one family of
// commands.

#include "session/command.h"
#include "session/key.h"
#include "session/limits.h"
#include "session/outbox_message.h"
#include "session/state.h"

namespace dormouse::session {

// The answer to an accepted command; which fields are set depends on the command.
struct Answer {
    enum class Outcome : std::uint8_t { applied, duplicate, counted };
    Outcome outcome = Outcome::applied;
    std::optional<Receipt> receipt = {};  // submissions and cancelled calls
    Seq seq = 0;                          // prompts: the message; else the head after the command
    TurnNo turn = 0;                      // prompts
    std::optional<TurnNo> behind = {};    // prompts that wait: the turn that is open
    std::vector<Vote> votes = {};         // set with `counted`
    TaskNo task = 0;                      // task commands
    bool quarantined = false;             // mail: until a person releases it
    bool rule = false;                    // it made a standing rule, named after the receipt
};

// Bytes to store under the event that names them.
struct KeptArtifact {
    Seq seq = 0;
    std::shared_ptr<std::string const> bytes;
};

struct Decision {
    std::vector<Event> events;
    Result<Answer> answer;
    std::vector<PendingChange> pending = {};  // changes of the rows of pending calls
    std::vector<KeptArtifact> artifacts = {};
    std::vector<OutboxMessage> outbox = {};
    std::uint64_t sessions = 0;  // session numbers used, from Context::next_session on
    // The outbox message that the command applied; it is remembered with this append.
    std::optional<OutboxKey> took = {};
    std::vector<StandingRule> rules = {};  // made by the command
};

// Advances `state` by exactly the events that it returns. Work that is due by the command's time
// comes first, even if the command itself is refused (rule 9).
[[nodiscard]] Decision decide(State& state, Command const& command, Context const& context);

// Returns the open call whose schema and validator must check the submission before it is decided.
// nullptr: the values do not matter, because the submission is refused or answered by a receipt.
// Makes the same checks as decide(), in the same order.
[[nodiscard]] Call const* call_to_check(State const& state, Command const& command,
                                        Context const& context);

}  // namespace dormouse::session
