#pragma once
// The running and waiting requests to models. Each model runs at most `concurrency` requests at
// once; the others wait, oldest first. One that must not begin any more fails, to be tried again.

#include "agent/tool.h"
#include "port/meter.h"
#include "session/tracing.h"

#include <deque>
#include <map>
#include <memory>

namespace dormouse::agent {

class ModelRequests {
public:
    // `registry` outlives this. Without `now`, requests have no times. Runs on the loop.
    explicit ModelRequests(Registry const& registry, std::function<Time()> now = {},
                           session::TraceRules tracing = {}, MayStart::Make may_start = {})
        : registry_(registry),
          now_(std::move(now)),
          tracing_(tracing),
          may_start_(std::move(may_start)) {}
    ~ModelRequests();  // stops all requests
    ModelRequests(ModelRequests const&) = delete;
    ModelRequests& operator=(ModelRequests const&) = delete;

    // Calls `done` exactly once, with ModelReply or ModelFailure, unless the request is stopped.
    void ask(Agent const& agent, port::ModelRequest request, port::Fn<void(port::Delta)> delta,
             port::Outcome done);
    // The outcome of a request to the agent's model that needed no sending.
    [[nodiscard]] session::Command::Body outcome_of(Agent const& agent,
                                                    session::AskModel const& ask,
                                                    ModelOutcome outcome) const;
    // Aborts a running request; removes a waiting one from the queue.
    void stop(SessionId session, session::EffectId id);

    // Returns how long the core may wait for the request: without limit before it is sent, then a
    // little longer than the model's own limit. nullopt: unknown request.
    [[nodiscard]] std::optional<Time> until(SessionId session, session::EffectId id) const;

    // Returns the number of requests that wait for `model`.
    [[nodiscard]] std::size_t waiting(Model const& model) const;
    [[nodiscard]] std::size_t running(Model const& model) const;

private:
    using Key = std::pair<SessionId, session::EffectId>;
    struct Request {
        Key key;
        Agent const* agent;  // as it was when the request came
        Registry::Pin pin;
        session::AskModel ask;
        session::ModelView view;  // empty once the request has started
        port::Fn<void(port::Delta)> delta;
        port::Outcome done;
        MayStart may_start;
        Model::Stop stop = {};
        std::optional<Time> begun = {};
        bool running = false;
        bool ended = false;
    };
    using RequestPtr = std::shared_ptr<Request>;
    // The requests of one model.
    struct Line {
        std::size_t running = 0;
        std::deque<RequestPtr> waiting;
    };

    void begin_waiting(Model& model);
    void begin(RequestPtr const& request);
    void refuse(RequestPtr const& request);
    void finish(RequestPtr const& request, ModelOutcome outcome);
    void end(RequestPtr const& request);
    [[nodiscard]] Question question_for(Request& request) const;

    Registry const& registry_;
    std::function<Time()> now_;
    session::TraceRules tracing_;
    MayStart::Make may_start_;
    std::map<Key, RequestPtr> requests_;
    std::map<Model const*, Line> lines_;
};

// Returns the load of each model, once for each name in lists: models with one name are one entry.
[[nodiscard]] std::vector<port::ModelLoad> model_loads(Registry const& registry,
                                                       ModelRequests const& requests);

}  // namespace dormouse::agent
