#include "runner/lane/lane.h"

#include "base/check.h"
#include "runner/read/read_view.h"

#include <utility>

// Asks the interceptors of a turn, with the model's view at that moment.
namespace dormouse::runner {

using namespace dormouse::session;

void Lane::ask_turn(Effect const& effect, AskTurn const& ask) {
    CHECK(state_ && running_.contains(effect.id));
    port::TurnRequest request{id_, state_->agent, ask, {}, effect.id};
    if (recent_from_start()) {
        request.view = wire::model_view(wire::history_of(id_, recent_), effect.id.since);
        return services_.effects.ask_turn(std::move(request), outcome_of(effect.id));
    }
    auto read = [end = wire::journal_end(*state_), seq = effect.id.since](
                    port::JournalStore& store) { return read_view(store, end, seq); };
    port::ask(
        services_.journal, std::move(read),
        [self = shared_from_this(), may_start = after_read(effect.id),
         request = std::move(request)](Result<ModelView> view) mutable {
            if (!may_start()) return;
            if (!view) return self->forget_effect(request.id);
            request.view = *std::move(view);
            auto done = self->outcome_of(request.id);
            self->services_.effects.ask_turn(std::move(request), std::move(done));
        },
        port::read_key(id_));
}

}  // namespace dormouse::runner
