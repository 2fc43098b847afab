#include "runner/lane.h"

#include "wire/view.h"

#include <utility>

// The question to the interceptors of a turn, with what the model is shown by then.
namespace dormouse::runner {

using namespace dormouse::session;

void Lane::ask_turn(Effect const& effect, AskTurn const& ask) {
    auto const request = [&host = host_, session = id_, agent = state_->agent, id = effect.id,
                          ask](std::vector<wire::RecordPtr> const& records) {
        wire::History history(session);
        for (wire::RecordPtr const& record : records) history.add(*record);
        port::TurnRequest out{session, agent, ask, wire::model_view(history, id.since), id};
        host.effects().ask_turn(std::move(out), [&host, session, id](Command::Body outcome) {
            host.offer(session, id, std::move(outcome));
        });
    };
    if (recent_from_start()) return request({recent_.begin(), recent_.end()});
    auto read = [session = id_, to = state_->head](port::Store& store) {
        return read_records(store, session, 1, to);
    };
    port::ask(host_.journal(), std::move(read),
              [self = shared_from_this(), id = effect.id,
               request](Result<std::vector<wire::RecordPtr>> records) {
                  if (!self->running_.contains(id)) return;
                  if (!records) return self->forget_effect(id);
                  request(*records);
              });
}

}  // namespace dormouse::runner
