#pragma once
// Models: they answer a view of a session. Called on the loop thread.

#include "port/effects.h"
#include "session/budget/cost.h"
#include "session/limits.h"
#include "session/view.h"
#include "session/vocabulary.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dormouse::agent {

// `calls` are in request order. A reply holds only what was complete: one that was cut off in the
// middle of its calls has none.
struct ModelCall {
    std::string id;  // the model's id of it; may repeat, so it identifies nothing
    std::string tool;
    Json input;
    // If set, the arguments could not be parsed: the reason, which the model gets; `input` is their
    // text.
    std::optional<std::string> unreadable = {};
};
struct Reply {
    std::string text;
    std::vector<ModelCall> calls;
    session::FinishReason finish = session::FinishReason::stop;
    session::Usage usage;
    std::string reasoning = {};
    // Array of the text and reasoning parts in their order, with the data that the provider wants
    // returned (`providerData`, see model/provider_data.h). Null: reasoning, then text.
    Json parts = {};
};
// Why there is no reply. `error` is stored and shown to people: it contains no secret.
struct ModelTrouble {
    session::Trouble error;
    bool may_retry = false;
    std::optional<Duration> retry_after = {};  // as the provider asks
};
using ModelOutcome = std::variant<Reply, ModelTrouble>;

struct ToolDeclaration {
    std::string name;
    std::string description;
    Json schema;  // of its input
};

using ToolDeclarations = std::vector<ToolDeclaration>;

// Decides whether work that has waited for a thread, a connection or a free place may still begin.
// A process whose heartbeats fail begins nothing, because another process may already do its work.
class MayStart {
public:
    // Asked on any thread.
    using Ask = std::function<bool()>;
    // Called on the loop, at the start.
    using Make = std::function<Ask()>;

    MayStart() = default;  // always
    explicit MayStart(Make const& make) : ask_(make ? make() : Ask()) {}

    [[nodiscard]] bool still() const { return !ask_ || ask_(); }
    // May be empty.
    [[nodiscard]] Ask const& ask() const { return ask_; }

    // Why it did not begin.
    static constexpr std::string_view refusal =
        "it has waited, and the server lost its connection to the store meanwhile";

private:
    Ask ask_;
};

// A request to a model.
struct Question {
    session::ModelView view;
    std::string instructions;
    // In the agent's order; shared, because a list may be long. Null: none.
    std::shared_ptr<ToolDeclarations const> declared;
    SessionId session = {};
    std::string agent = {};
    session::TraceHeaders trace = {};  // to pass on
    MayStart may_start = {};

    [[nodiscard]] ToolDeclarations const& tools() const {
        static ToolDeclarations const none;
        return declared ? *declared : none;
    }
};

// The limits and prices of the requests to a model.
struct ModelLimits {
    // Maximum number of concurrent requests; others wait, oldest first.
    std::size_t concurrency = SIZE_MAX;
    // Maximum number of retries of a step after temporary failures. The core has its own limit
    // (session/limits.h). A request that was not sent, or that a crash cut off, does not count as a
    // failure.
    std::uint32_t retries = UINT32_MAX;
    // Maximum number of tokens in a request that leaves enough for the reply; nullopt: no limit.
    std::optional<std::uint64_t> request_tokens = {};
    // Time limit of one request, which the model enforces.
    Duration time_limit = session::limits::model_time_limit;
    std::optional<session::Prices> prices = {};  // nullopt: unknown
};

class Model {
public:
    using Stop = port::Fn<void()>;

    virtual ~Model() = default;
    // Calls `delta`, then `done` exactly once, perhaps before ask() returns. The returned function
    // aborts the request: no callback follows it. If the outcome has come, the function may be
    // empty and is not called.
    [[nodiscard]] virtual Stop ask(Question question, port::Fn<void(port::Delta)> delta,
                                   port::Fn<void(ModelOutcome)> done) = 0;
    // The same at each call.
    [[nodiscard]] virtual ModelLimits limits() const = 0;
};

// A model that computes its reply at once.
class ComputedModel : public Model {
public:
    // Pure.
    [[nodiscard]] virtual Reply reply(session::ModelView const& view) const = 0;

    [[nodiscard]] ModelLimits limits() const override { return {}; }
    [[nodiscard]] Stop ask(Question question, port::Fn<void(port::Delta)> delta,
                           port::Fn<void(ModelOutcome)> done) final {
        Reply made = reply(question.view);
        if (!made.text.empty()) delta({port::Delta::Kind::text, made.text});
        done(std::move(made));
        return {};
    }
};

}  // namespace dormouse::agent
