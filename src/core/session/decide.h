#pragma once
// decide: what becomes of a command. Pure: no clock, no chance, no I/O; the same state and command
// give the same decision, byte for byte. One file a family of commands under decide/.

#include "session/command.h"
#include "session/key.h"
#include "session/limits.h"
#include "session/post.h"
#include "session/state.h"

namespace dormouse::session {

// What a command that was taken is answered with; which fields are set depends on the command.
struct Answer {
    enum class Outcome : std::uint8_t { applied, duplicate, counted };
    Outcome outcome = Outcome::applied;
    std::optional<Receipt> receipt = {};  // submissions and cancelled calls
    Seq seq = 0;                          // prompts: the message; else the head after the command
    TurnNo turn = 0;                      // prompts
    std::optional<TurnNo> behind = {};    // prompts that wait: the turn that is open
    std::vector<Vote> votes = {};         // counted
    TaskNo task = 0;                      // what is asked of one
    bool held = false;                    // mail: only a person lets it wake
};

// Bytes to keep under the event that names them.
struct KeptArtifact {
    Seq seq = 0;
    std::shared_ptr<std::string const> bytes;
};

struct Decision {
    std::vector<Event> events;
    Result<Answer> answer;
    std::vector<PendingChange> pending = {};  // what the events do to the rows of pending calls
    std::vector<KeptArtifact> artifacts = {};
    std::vector<Post> posts = {};
    std::uint64_t sessions = 0;  // numbers used, from Context::next_session on
    // The post that the command brought was taken up: it is remembered with this append.
    std::optional<PostKey> took = {};
};

// Brings `state` forward by exactly the events it returns. Expiries that are due by the command's
// time come first, also when the command itself is refused (rule 9).
[[nodiscard]] Decision decide(State& state, Command const& command, Context const& context);

// The open call for which the submission is decided by the values that it brings, so that the
// schemas and the validator of its tool must be asked first; nullptr: it is refused, or answered by
// a receipt, whatever it brings. The same checks as decide() makes, in the same order.
[[nodiscard]] Call const* call_to_check(State const& state, Command const& command,
                                        Context const& context);

}  // namespace dormouse::session
