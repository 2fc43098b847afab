#pragma once
// Adapts the library's models to the agent layer.

#include <dormouse/model.h>

#include "agent/model.h"
#include "port/http.h"
#include "port/world.h"
#include "runtime/callbacks.h"

#include <stop_token>

namespace dormouse::runtime {

// The services of the runtime that models use. Everything outlives them.
struct ModelServices {
    port::HttpClient& http;
    port::Clock const& clock;
    port::Workers& workers;
    std::shared_ptr<Callbacks> callbacks;  // posts to the loop, also after the runtime has ended
    std::stop_token ending;                // requested when the runtime ends
};

// Converts between the agent layer and what authors of models and interceptors see. `changed` may
// differ from what question_of() made in texts, inputs and outputs, and may have more messages at
// its end.
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
    std::function<Result<std::shared_ptr<agent::Model>>(runtime::ModelServices const&)> make;
    std::string name;  // as shown in lists
};

}  // namespace dormouse::inline v0::detail
