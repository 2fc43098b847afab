#pragma once
// The models of the library's face as the agent layer runs them.

#include <dormouse/model.h>

#include "agent/model.h"
#include "port/http.h"
#include "port/world.h"
#include "runtime/callbacks.h"

#include <stop_token>

namespace dormouse::runtime {

// What models reach the world with; all outlive them.
struct Means {
    port::HttpClient& http;
    port::Clock const& clock;
    port::Workers& workers;
    std::shared_ptr<Callbacks> callbacks;  // the way to the loop, also for those who come late
    std::stop_token ending;                // the runtime ends: what runs should stop
};

// As an author of models and interceptors sees it, and back: `changed` differs from what
// question_of() made in texts, inputs and outputs; messages may have come at its end.
[[nodiscard]] std::vector<TranscriptMessage> transcript_of(session::ModelView const& view);
[[nodiscard]] ModelQuestion question_of(agent::Question const& question, SessionId session,
                                        std::string agent);
[[nodiscard]] Result<agent::Question> apply(agent::Question question, ModelQuestion const& changed);
[[nodiscard]] ModelAnswer answer_of(agent::Reply const& reply);
[[nodiscard]] agent::Reply apply(agent::Reply reply, ModelAnswer const& changed);
[[nodiscard]] agent::ModelTrouble trouble(Error const& error);

}  // namespace dormouse::runtime

namespace dormouse::inline v0::detail {

struct ModelPlan {
    std::function<Result<std::shared_ptr<agent::Model>>(runtime::Means const&)> make;
    std::string name;  // what lists show
};

}  // namespace dormouse::inline v0::detail
