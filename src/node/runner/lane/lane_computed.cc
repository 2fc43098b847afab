// Replies of models that compute them (port::Effects::computes). A request to such a model does
// nothing outside, so it need not be durable before its reply: both are in one append, and a call
// that a program makes costs two syncs instead of four.
#include "base/check.h"
#include "runner/lane/lane.h"

#include "runner/lane/draft.h"
#include "session/effect.h"
#include "session/key.h"
#include "wire/view/view.h"
#include "wire/view/view_files.h"
#include "wire/view/view_window.h"

#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

constexpr int replies_max = 64;  // in one append; the others come in the ordinary way

// The session's records with those of the append; empty: memory does not have all of them.
std::vector<wire::RecordPtr> all_records(State const& state,
                                         std::vector<wire::RecordPtr> const& recent,
                                         Draft const& draft) {
    std::vector<wire::RecordPtr> out = recent;
    out.insert(out.end(), draft.records.begin(), draft.records.end());
    bool const whole = state.base.through == 0 && !out.empty() && out.front()->event.seq == 1;
    return whole ? out : std::vector<wire::RecordPtr>();
}

}  // namespace

void Lane::take_computed(Draft& draft) {
    CHECK(shut_ && state_);
    for (int replies = 0; replies < replies_max; ++replies) {
        auto const effect = computed_effect(draft);
        auto incoming = effect ? compute(*effect, draft) : std::nullopt;
        if (!incoming) return;
        Request request;
        request.incoming = *std::move(incoming);
        request.reply = [](Result<Answer> const&) {};
        decide_one(request, draft);
    }
}

// A request to a model that this append makes, and that the agent's model answers by computation.
std::optional<Effect> Lane::computed_effect(Draft const& draft) const {
    CHECK(state_);
    bool const may = draft.drives && services_.nodes.may_start();
    if (!may || draft.records.empty() || !services_.effects.computes(state_->agent))
        return std::nullopt;
    for (auto const& [id, effect] : outstanding(*state_)) {
        bool const made = id.since > draft.append.after && !running_.contains(id);
        if (made && std::holds_alternative<AskModel>(effect.what)) return effect;
    }
    return std::nullopt;
}

// nullopt: the request is sent in the ordinary way, once it is durable.
std::optional<Incoming> Lane::compute(Effect const& effect, Draft const& draft) {
    auto const records = all_records(*state_, recent_, draft);
    if (records.empty()) return std::nullopt;
    auto const& ask = std::get<AskModel>(effect.what);
    CHECK(ask.view_seq < effect.id.since);  // it sees nothing later than itself
    port::ModelRequest request{id_, state_->agent, ask, {}, effect.id};
    request.view = wire::model_view(wire::history_of(id_, records), ask.view_seq);
    if (!wire::files_of(request.view, id_).empty()) return std::nullopt;
    Incoming out = of_effect(effect.id, services_.effects.compute(std::move(request)));
    out.at = draft.records.back()->event.at;  // the time of what asked, as commands wait behind it
    if (!prepare(out.command, services_.settings.limits().output_bytes)) return std::nullopt;
    Wanted const wanted = session::wanted(*state_, out.command);
    bool const known = !wanted.receipt && wanted.earlier.empty() && wanted.progress.empty() &&
                       wanted.taken.empty();
    return known ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace dormouse::runner
