#pragma once
// The requests to models that run or wait: of each model at most its `concurrency` at once, the
// others oldest first.

#include "agent/tool.h"
#include "port/meter.h"

#include <deque>
#include <map>
#include <memory>

namespace dormouse::agent {

class ModelRequests {
public:
    // `registry` outlives this. Without `now` requests have no times. On the loop.
    explicit ModelRequests(Registry const& registry, std::function<Time()> now = {})
        : registry_(registry), now_(std::move(now)) {}
    ~ModelRequests();  // stops all
    ModelRequests(ModelRequests const&) = delete;
    ModelRequests& operator=(ModelRequests const&) = delete;

    // Exactly one outcome, ModelReply or ModelFailure, unless it is stopped.
    void ask(Agent const& agent, port::ModelRequest request, port::Fn<void(port::Delta)> delta,
             port::Outcome done);
    // What runs is aborted, what waits leaves its place.
    void stop(SessionId session, session::EffectId id);

    // Until when the core may wait for it: for ever before it was sent, then a little longer than
    // the model's own limit. nullopt: it is not known here.
    [[nodiscard]] std::optional<Time> until(SessionId session, session::EffectId id) const;

    // How many wait for `model`.
    [[nodiscard]] std::size_t waiting(Model const& model) const;
    [[nodiscard]] std::size_t running(Model const& model) const;

private:
    using Key = std::pair<SessionId, session::EffectId>;
    struct Request {
        Key key;
        Agent const* agent;
        session::AskModel ask;
        session::ModelView view;  // until it is begun
        port::Fn<void(port::Delta)> delta;
        port::Outcome done;
        Model::Stop stop = {};
        std::optional<Time> begun = {};
        bool running = false;
        bool ended = false;
    };
    using RequestPtr = std::shared_ptr<Request>;
    // Of one model.
    struct Line {
        std::size_t running = 0;
        std::deque<RequestPtr> waiting;
    };

    void begin_waiting(Model& model);
    void begin(RequestPtr const& request);
    void finish(RequestPtr const& request, ModelOutcome outcome);
    void end(RequestPtr const& request);
    [[nodiscard]] Question question_for(Request& request) const;

    Registry const& registry_;
    std::function<Time()> now_;
    std::map<Key, RequestPtr> requests_;
    std::map<Model const*, Line> lines_;
};

// Of each model once, by the name that lists show; models of one name are one.
[[nodiscard]] std::vector<port::ModelLoad> model_loads(Registry const& registry,
                                                       ModelRequests const& requests);

}  // namespace dormouse::agent
