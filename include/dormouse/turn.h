#pragma once
// Interceptors of turns: two calls, before and after, and no frame between them, because a turn may
// span days and processes.

#include <dormouse/model.h>

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

struct TurnInfo {
    SessionId session = {};
    TurnNo turn = 0;
    std::string agent = {};
    // As the model is shown it: up to the message that begins the turn, or to the turn's end.
    std::vector<TranscriptMessage> messages = {};

    [[nodiscard]] std::string turn_id() const { return numbered_id("trn_", session, turn); }
    // The newest message of the user; empty if there is none.
    [[nodiscard]] std::string const& asked() const;
};

// The turn begins. `context` is a message that the model sees right after the user's, in this turn
// and later ones; empty: none.
struct Proceed {
    std::string context = {};
};
// The turn ends with the error `refused`, and the model is not asked.
struct Refuse {
    std::string message;
};
using TurnVerdict = std::variant<Proceed, Refuse>;

struct TurnEnd {
    std::string finish = {};  // stop, length, refusal, step_limit, cancelled or error
    std::string error_code = {};
    std::string error = {};  // with `error` and `step_limit`
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
};

// Both run on a tool thread, may block, and must have no effects that matter twice: a crash calls
// them again. Each has a minute.
struct TurnInterceptor {
    std::string name;  // stands in the journal: who is asked. The same over the years
    // Before the first request to the model. All must let it proceed, the first registered one
    // first. What it throws refuses, and so does one that the turn names and a new process has not.
    std::function<TurnVerdict(TurnInfo const&)> before = {};
    // When the turn has ended, whatever ended it, the first registered one last. The end is durable
    // already; what it throws is dropped.
    std::function<void(TurnInfo const&, TurnEnd const&)> after = {};
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
