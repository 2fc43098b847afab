#include "runner/lane/lane.h"

#include "base/check.h"
#include "runner/read/read_view.h"

#include <utility>

// Asks the interceptors of a turn, with the model's view at that moment.
namespace dormouse::runner {

using namespace dormouse::session;

void Lane::ask_turn(Effect const& effect, AskTurn const& ask) {
    CHECK(state_ && running_.contains(effect.id));
    auto const request = [&services = services_, session = id_, agent = state_->agent,
                          id = effect.id, ask](ModelView view) {
        port::TurnRequest out{session, agent, ask, std::move(view), id};
        services.effects.ask_turn(
            std::move(out), [&outcomes = services.outcomes, session, id](Command::Body outcome) {
                outcomes.offer(session, id, std::move(outcome));
            });
    };
    if (recent_from_start())
        return request(wire::model_view(wire::history_of(id_, recent_), effect.id.since));
    auto read = [end = wire::journal_end(*state_), seq = effect.id.since](
                    port::JournalStore& store) { return read_view(store, end, seq); };
    port::ask(
        services_.journal, std::move(read),
        [self = shared_from_this(), id = effect.id, request](Result<ModelView> view) {
            if (!self->running_.contains(id)) return;
            if (!view) return self->forget_effect(id);
            request(*std::move(view));
        },
        port::read_key(id_));
}

}  // namespace dormouse::runner
