#pragma once
// Models: whoever answers a view of a session. Called from the loop.

#include "port/effects.h"
#include "session/limits.h"
#include "session/view.h"
#include "session/vocabulary.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace dormouse::agent {

// `calls` are in request order. What stands in a reply was said whole: a reply that was cut off
// while it named its calls has none.
struct ModelCall {
    std::string id;  // the model's own; data only, models repeat ids
    std::string tool;
    Json input;
    // Why the arguments could not be read at all; `input` is their text then. Told to the model.
    std::optional<std::string> unreadable = {};
};
struct Reply {
    std::string text;
    std::vector<ModelCall> calls;
    session::FinishReason finish = session::FinishReason::stop;
    session::Usage usage;
    std::string reasoning = {};
    // Array of text and reasoning parts in the order in which they were said, with what the
    // provider wants back (`providerData`, see model/provider_data.h). Null: reasoning, then text.
    Json parts = {};
};
// Why there is no reply. `error` is shown to people and stored: it holds no secret.
struct ModelTrouble {
    session::Trouble error;
    bool may_retry = false;
    std::optional<Duration> retry_after = {};  // the provider's word
};
using ModelOutcome = std::variant<Reply, ModelTrouble>;

struct ToolDeclaration {
    std::string name;
    std::string description;
    Json schema;  // of its input
};

// What a model is asked.
struct Question {
    session::ModelView view;
    std::string instructions;
    std::vector<ToolDeclaration> tools;  // in the order of the agent
    SessionId session = {};
    std::string agent = {};
};

class Model {
public:
    using Stop = port::Fn<void()>;

    virtual ~Model() = default;
    // Deltas, then exactly one outcome, which may come before ask() returns. The returned function
    // ends the request: no callback comes after it was called. It may be empty if the outcome has
    // come, and is not called then.
    [[nodiscard]] virtual Stop ask(Question question, port::Fn<void(port::Delta)> delta,
                                   port::Fn<void(ModelOutcome)> done) = 0;
    // How many requests it takes at once; the others wait, oldest first.
    [[nodiscard]] virtual std::size_t concurrency() const { return SIZE_MAX; }
    // How often a step is asked again after failures that may pass. The core has a limit of its own
    // (session/limits.h). What was never sent, or a crash cut off, is no failure.
    [[nodiscard]] virtual std::uint32_t retries() const { return UINT32_MAX; }
    // How many tokens a request may have, so that there is room for the reply; nullopt: as many as
    // come.
    [[nodiscard]] virtual std::optional<std::uint64_t> request_tokens() const {
        return std::nullopt;
    }
    // How long one request may take by the model's own limit, which it keeps.
    [[nodiscard]] virtual Duration time_limit() const { return session::limits::model_time_limit; }
};

// A model that computes its reply, at once.
class ComputedModel : public Model {
public:
    // Pure.
    [[nodiscard]] virtual Reply reply(session::ModelView const& view) const = 0;

    [[nodiscard]] Stop ask(Question question, port::Fn<void(port::Delta)> delta,
                           port::Fn<void(ModelOutcome)> done) final {
        Reply said = reply(question.view);
        if (!said.text.empty()) delta({port::Delta::Kind::text, said.text});
        done(std::move(said));
        return {};
    }
};

}  // namespace dormouse::agent
