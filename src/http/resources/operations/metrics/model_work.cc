#include "http/resources/operations/metrics/model_work.h"

#include <algorithm>
#include <iterator>
#include <variant>

namespace dormouse::http {

using namespace dormouse::session;

void ModelWork::note(State const& state, Event const& event) {
    if (std::holds_alternative<ModelRequested>(event.body)) {
        begin(state.id, event.at, Asked::model);
    } else if (std::holds_alternative<AgentPrompted>(event.body)) {
        begin(state.id, event.at, Asked::external_agent);
    } else if (auto const* const model = std::get_if<ModelReplied>(&event.body)) {
        replied(state, event.at, Asked::model, model->usage);
    } else if (auto const* const agent = std::get_if<AgentReplied>(&event.body)) {
        replied(state, event.at, Asked::external_agent, agent->usage);
    } else if (auto const* const refused = std::get_if<ModelFailed>(&event.body)) {
        ended(state, event.at, refused->error.code);
    } else if (auto const* const gone = std::get_if<AgentDetached>(&event.body)) {
        ended(state, event.at, gone->error.code);
    } else if (std::holds_alternative<TurnEnded>(event.body)) {
        ended(state, event.at, "cancelled");
    }
}

// A request that another one follows was lost with the process that made it.
void ModelWork::begin(SessionId session, Time since, Asked asked) {
    (void)end(session);
    if (open_.size() >= open_max) (void)end(order_.front());
    order_.push_back(session);
    open_.emplace(session, Open{since, asked, std::prev(order_.end())});
}

// nullopt: another process began it.
std::optional<ModelWork::Open> ModelWork::end(SessionId session) {
    auto const at = open_.find(session);
    if (at == open_.end()) return std::nullopt;
    Open const out = at->second;
    order_.erase(out.place);
    open_.erase(at);
    return out;
}

// The model that an external agent uses is unknown.
ModelWork::Whom ModelWork::whom(State const& state, Asked asked) const {
    if (asked == Asked::external_agent) return {"invoke_agent", {}};
    return {"chat", name_of(state.agent)};
}

void ModelWork::replied(State const& state, Time at, Asked asked, Usage const& usage) {
    Whom const who = whom(state, asked);
    spent(who, "input", usage.input_tokens);
    spent(who, "output", usage.output_tokens);
    ended(state, at, "");
}

void ModelWork::ended(State const& state, Time at, std::string_view why) {
    auto const open = end(state.id);
    if (!open) return;
    Whom const who = whom(state, open->asked);
    Duration const took = std::max(Duration(0), at - open->since);
    seconds_.observe(static_cast<double>(took.count()) / 1'000, {{"operation", who.operation},
                                                                 {"provider", who.name.provider},
                                                                 {"request_model", who.name.model},
                                                                 {"error_type", why}});
}

// 0: the reply does not say it.
void ModelWork::spent(Whom const& whom, std::string_view type, std::int64_t tokens) {
    if (tokens <= 0) return;
    tokens_.observe(static_cast<double>(tokens), {{"operation", whom.operation},
                                                  {"provider", whom.name.provider},
                                                  {"request_model", whom.name.model},
                                                  {"token_type", type}});
}

void ModelWork::write(Exposition& out) const {
    out.histogram(
        "dormouse_model_operation_seconds",
        "How long requests to models and prompts to external agents took, failed ones too",
        seconds_);
    out.histogram("dormouse_model_operation_tokens", "Tokens of one reply", tokens_);
}

}  // namespace dormouse::http
