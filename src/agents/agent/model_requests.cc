#include "agent/model_requests.h"

#include "json/json.h"
#include "session/limits.h"

#include <algorithm>
#include <set>
#include <utility>

namespace dormouse::agent {

using namespace dormouse::session;

namespace {

Json parts_of(Reply const& reply) {
    if (!reply.parts.is_null()) return reply.parts;
    json::Writer out;
    out.begin_array();
    auto const part = [&out](std::string_view type, std::string const& text) {
        if (!text.empty())
            out.begin_object().member("type", type).member("text", text).end_object();
    };
    part("reasoning", reply.reasoning);
    part("text", reply.text);
    return out.end_array().json();
}

Cost cost_by(std::optional<Prices> const& prices, Usage const& usage) {
    auto const cost = prices ? cost_of(usage, *prices) : std::nullopt;
    return cost ? Cost{{prices->currency, *cost}} : Cost();
}

// `agent` is the one that was asked. Its calls are new: they follow the catalogue of now.
Command::Body body_of(Registry const& registry, Agent const& agent, AskModel const& ask,
                      ModelOutcome outcome) {
    if (auto* trouble = std::get_if<ModelTrouble>(&outcome)) {
        bool const again = trouble->may_retry && ask.failures < agent.model->limits().retries;
        return ModelFailure{ask.turn,    ask.step,
                            ask.attempt, std::move(trouble->error),
                            again,       trouble->retry_after};
    }
    auto const& reply = std::get<Reply>(outcome);
    ModelReply out{ask.turn, ask.step, ask.attempt, reply.finish, parts_of(reply), {}, reply.usage};
    out.usage.cost = cost_by(agent.model->limits().prices, reply.usage);
    Agent const* const now = registry.agent(agent.id);
    for (ModelCall const& call : reply.calls)
        out.calls.push_back(registry.prepare(now ? *now : agent, call));
    return out;
}

}  // namespace

ModelRequests::~ModelRequests() {
    for (auto const& [key, request] : requests_) {
        request->ended = true;
        if (request->stop) request->stop();
    }
}

void ModelRequests::ask(Agent const& agent, port::ModelRequest request,
                        port::Fn<void(port::Delta)> delta, port::Outcome done) {
    Key const key{request.session, request.id};
    stop(key.first, key.second);
    auto const entry = std::make_shared<Request>(Request{key, &agent, registry_.pin(), request.ask,
                                                         std::move(request.view), std::move(delta),
                                                         std::move(done), MayStart(may_start_)});
    requests_.emplace(key, entry);
    lines_[agent.model.get()].waiting.push_back(entry);
    begin_waiting(*agent.model);
}

Command::Body ModelRequests::outcome_of(Agent const& agent, AskModel const& ask,
                                        ModelOutcome outcome) const {
    return body_of(registry_, agent, ask, std::move(outcome));
}

void ModelRequests::stop(SessionId session, EffectId id) {
    auto const found = requests_.find({session, id});
    if (found == requests_.end()) return;
    RequestPtr const request = found->second;
    end(request);
    if (request->stop) request->stop();
    begin_waiting(*request->agent->model);
}

std::optional<Time> ModelRequests::until(SessionId session, EffectId id) const {
    constexpr Duration slack{10'000};
    auto const found = requests_.find({session, id});
    if (found == requests_.end()) return std::nullopt;
    Request const& request = *found->second;
    if (!request.running) return Time::max();
    if (!request.begun) return std::nullopt;
    Duration const limit = request.agent->model->limits().time_limit;
    return *request.begun + std::max(limit + slack, limits::model_time_limit);
}

std::size_t ModelRequests::waiting(Model const& model) const {
    auto const found = lines_.find(&model);
    return found == lines_.end() ? 0 : found->second.waiting.size();
}

std::size_t ModelRequests::running(Model const& model) const {
    auto const found = lines_.find(&model);
    return found == lines_.end() ? 0 : found->second.running;
}

void ModelRequests::begin_waiting(Model& model) {
    Line& line = lines_[&model];
    std::size_t const most = model.limits().concurrency;
    while (!line.waiting.empty() && line.running < most) {
        RequestPtr const next = std::move(line.waiting.front());
        line.waiting.pop_front();
        next->may_start.still() ? begin(next) : refuse(next);
    }
}

void ModelRequests::refuse(RequestPtr const& request) {
    end(request);
    Trouble const trouble{"model_failed",
                          "the model was not asked: " + std::string(MayStart::refusal)};
    request->done(
        body_of(registry_, *request->agent, request->ask, ModelTrouble{trouble, true, {}}));
}

void ModelRequests::begin(RequestPtr const& request) {
    Model& model = *request->agent->model;
    request->running = true;
    if (now_) request->begun = now_();
    ++lines_[&model].running;
    auto delta = [weak = std::weak_ptr(request)](port::Delta delta) {
        if (auto const alive = weak.lock(); alive && !alive->ended) alive->delta(std::move(delta));
    };
    auto done = [this, weak = std::weak_ptr(request)](ModelOutcome outcome) {
        if (auto const alive = weak.lock(); alive && !alive->ended)
            finish(alive, std::move(outcome));
    };
    Model::Stop stop = model.ask(question_for(*request), std::move(delta), std::move(done));
    // A callback during ask() stopped the request, before there was a function to stop it.
    if (request->ended && request->running && stop) stop();
    request->stop = std::move(stop);
}

Question ModelRequests::question_for(Request& request) const {
    return {std::move(request.view),
            request.agent->instructions,
            registry_.declarations(*request.agent),
            request.key.first,
            request.agent->id,
            passed_on(tracing_, request.key.first, request.ask),
            request.may_start};
}

void ModelRequests::finish(RequestPtr const& request, ModelOutcome outcome) {
    end(request);
    request->running = false;
    request->done(body_of(registry_, *request->agent, request->ask, std::move(outcome)));
    begin_waiting(*request->agent->model);
}

void ModelRequests::end(RequestPtr const& request) {
    request->ended = true;
    requests_.erase(request->key);
    Line& line = lines_[request->agent->model.get()];
    if (request->running) {
        --line.running;
    } else {
        std::erase(line.waiting, request);
    }
}

std::vector<port::ModelLoad> model_loads(Registry const& registry, ModelRequests const& requests) {
    std::vector<port::ModelLoad> out;
    std::set<Model const*> seen;
    for (Agent const& agent : registry.agents()) {
        if (agent.hidden || !agent.model || !seen.insert(agent.model.get()).second) continue;
        auto const same = std::ranges::find(out, agent.model_id, &port::ModelLoad::model);
        port::ModelLoad& load =
            same != out.end() ? *same : out.emplace_back(port::ModelLoad{agent.model_id});
        load.running += requests.running(*agent.model);
        load.waiting += requests.waiting(*agent.model);
    }
    return out;
}

}  // namespace dormouse::agent
