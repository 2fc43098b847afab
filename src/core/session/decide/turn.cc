#include "session/decide/decider.h"
#include "session/fold/fold.h"

#include <algorithm>

// Interceptors of a turn: asked before it, notified after it. There is no hook in between, since a
// turn may span days.
namespace dormouse::session {

Result<Answer> handle(Decider& d, TurnOutcome const& c) {
    if (c.ended) {
        bool const unnotified = std::ranges::find(d.state.unnotified, c.turn, &EndedTurn::no) !=
                                d.state.unnotified.end();
        if (unnotified) d.emit(TurnNotified{c.turn});
        return done(d);
    }
    bool const asked = d.state.turn && d.state.turn->no == c.turn && d.state.turn->unchecked != 0;
    if (!asked) return done(d);
    if (c.refused) {
        end_turn(d, FinishReason::error, Trouble{"refused", *c.refused}, "the turn was refused");
        return done(d);
    }
    d.emit(TurnChecked{});
    FITS(d.state.turn->unchecked == 0);
    if (!c.context.is_null()) {
        d.emit(InputReceived{
            c.turn, InputSource::external, PromptMode::steer, c.context, {}, std::nullopt, {}});
    }
    return done(d);
}

}  // namespace dormouse::session
