#pragma once
// Interceptors of turns: one call before a turn and one after it. They share no stack frame,
// because a turn may span days and processes.

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
    // The transcript as the model sees it: up to the message that starts the turn, or to the turn's
    // end.
    std::vector<TranscriptMessage> messages = {};

    [[nodiscard]] std::string turn_id() const { return numbered_id("trn_", session, turn); }
    // Returns the user's newest message; empty if there is none.
    [[nodiscard]] std::string const& asked() const;
};

// The turn proceeds. `context`: a message that the model sees right after the user's, in this turn
// and later ones; empty: none.
struct Proceed {
    std::string context = {};
};
// The turn ends with the error `refused`; the model is not asked.
struct Refuse {
    std::string message;
};
using TurnDecision = std::variant<Proceed, Refuse>;

struct TurnEnd {
    std::string finish = {};        // stop, length, refusal, step_limit, cancelled, error or budget
    std::string error_code = {};    // empty: the turn ended without an error
    std::string error = {};         // its text, for people
    std::int64_t input_tokens = 0;  // of all requests of the turn, as output_tokens
    std::int64_t output_tokens = 0;
};

// Both functions run on a tool thread and may block. They must have no side effects that matter:
// after a crash they are called again. Together, the interceptors of a turn have one minute for
// each of the two.
struct TurnInterceptor {
    std::string name;  // written to the journal; must not change between releases
    // Called before the turn's first request to the model, in the order of registration; all must
    // proceed. An exception refuses. So does an interceptor that the turn names but that no longer
    // exists.
    std::function<TurnDecision(TurnInfo const&)> before = {};
    // Called after the turn has ended for any reason, in reverse order of registration. The end is
    // already durable; an exception is ignored.
    std::function<void(TurnInfo const&, TurnEnd const&)> after = {};
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
