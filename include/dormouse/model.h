#pragma once
// Models for Runtime: a provider's, a script, or a function of your own.

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/json.h>
#include <dormouse/time.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

// A call in a transcript, and its one answer: the outcome, or the placeholder while it waits.
struct TranscriptCall {
    // The model's own (ModelCall::id); one that it gave none or gave twice is replaced, so that
    // each stands once in the transcript.
    std::string id;
    std::string tool;
    Json input;
    bool waits = false;  // `output` is the placeholder
    bool failed = false;
    Json output;  // of a failed one {"error": text}
};
// An image or a file of a user's message.
struct Attachment {
    std::string mime = {};
    std::string name = {};  // of a file; may be empty
    std::string url = {};   // where it is, when it is elsewhere
    // What it holds; null: it is elsewhere, or left out because a request brings 20 MiB at most.
    std::shared_ptr<std::string const> bytes = {};

    [[nodiscard]] bool is_image() const { return mime.starts_with("image/"); }
};
struct TranscriptMessage {
    enum class Role : std::uint8_t { user, assistant };
    Role role = Role::user;
    std::string text;
    // The assistant's: those it asks for, each with its answer. Of a late one: those that settled.
    std::vector<TranscriptCall> calls;
    // Not a person's words: outcomes of calls that an earlier message answers with a placeholder,
    // under the ids that they have there. `text` is empty; late_text() says it in a sentence.
    bool late = false;
    std::vector<Attachment> attachments = {};
};
// "The tool call ID (TOOL INPUT) that was pending has settled. Its outcome: …", for a model that
// takes outcomes only right after the call.
[[nodiscard]] std::string late_text(TranscriptCall const& call);

// What the model may call; built-in tools and agents as tools ("agent:NAME") too.
struct ModelTool {
    std::string name;
    std::string description;
    Json input_schema;
};
// What a model is asked. It only grows at its end from request to request.
struct ModelQuestion {
    SessionId session;
    std::string agent;
    std::string instructions;
    std::vector<TranscriptMessage> messages;
    std::vector<ModelTool> tools;

    // The newest message of the user; empty if there is none.
    [[nodiscard]] std::string const& asked() const;
    // The newest answer to a call of `tool`; null if there is none.
    [[nodiscard]] TranscriptCall const* answer_of(std::string const& tool) const;
};
struct ModelCall {
    std::string tool;
    Json input;
    std::string id = {};  // the model's own; empty: it gave none
};
// Why a model said no more: it was done, its output has a limit, or it does not want to.
enum class ModelFinish : std::uint8_t { stop, length, refusal };
struct ModelAnswer {
    std::string text;
    std::vector<ModelCall> calls;
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    std::string reasoning = {};  // what it thought aloud
    ModelFinish finish = ModelFinish::stop;
    std::int64_t cached_tokens = 0;     // among the input
    std::int64_t reasoning_tokens = 0;  // among the output
};

// Between the runtime and a model, outermost first: for redacting, for adding, for answering
// oneself. On a tool thread. The journal keeps what comes out of the outermost one. It must have no
// effects that matter: a crash asks again. What it throws, and an error, ends the turn.
struct ModelInterceptor {
    std::string name;
    // May change the question; an answer stands instead of the model's.
    std::function<Result<std::optional<ModelAnswer>>(ModelQuestion& question)> before = {};
    // May change the answer.
    std::function<Result<void>(ModelQuestion const& question, ModelAnswer& answer)> after = {};
};

namespace detail {
struct ModelPlan;  // src/node/runtime/models.h
}

// A value that is cheap to copy: how a model is made once there is a runtime.
class Model {
public:
    // Null: an agent without a model cannot be opened.
    Model() = default;
    explicit Model(std::shared_ptr<detail::ModelPlan const> plan) : plan_(std::move(plan)) {}
    [[nodiscard]] std::shared_ptr<detail::ModelPlan const> const& plan() const { return plan_; }

    // This model inside `interceptor`.
    [[nodiscard]] Model through(ModelInterceptor interceptor) const;

private:
    std::shared_ptr<detail::ModelPlan const> plan_;
};

// Of any provider. Retries, time limits and waiting for a turn are the runtime's.
struct ProviderOptions {
    std::string base_url = {};  // empty: the provider's own
    std::uint32_t max_output_tokens = 4'096;
    Duration timeout{300'000};
    std::size_t concurrency = 8;
    std::uint32_t retries = 4;
    Json extra = {};  // more members of the request's body
};
// `key` is sent to the provider and goes nowhere else. OpenAI-compatible chat completions, and the
// providers' own interfaces.
[[nodiscard]] Model openai(std::string model, std::string key, ProviderOptions options = {});
[[nodiscard]] Model openai_responses(std::string model, std::string key,
                                     ProviderOptions options = {});
[[nodiscard]] Model anthropic(std::string model, std::string key, ProviderOptions options = {});
[[nodiscard]] Model gemini(std::string model, std::string key, ProviderOptions options = {});
[[nodiscard]] Model ollama(std::string model, ProviderOptions options = {});

// Runs on a tool thread, may block; asked again after a crash. An error whose code says `retry`
// (Next::retry) is tried again; any other, and what it throws, ends the turn.
using ModelFunction =
    std::function<Result<ModelAnswer>(ModelQuestion const& question, std::stop_token stop)>;
[[nodiscard]] Model model_from(ModelFunction function);
// Of a model that says its text piece by piece. Readers are shown each piece that `say` is given at
// once; the answer holds the whole text and takes the place of the pieces.
using StreamingModelFunction = std::function<Result<ModelAnswer>(
    ModelQuestion const& question, std::function<void(std::string)> const& say,
    std::stop_token stop)>;
[[nodiscard]] Model streaming_model_from(StreamingModelFunction function);

// The answer that a model owes to a question. Copies are one promise; any thread; it may outlive
// the runtime, and then nothing comes of it. One that goes unanswered ends the turn.
class ModelPromise {
public:
    struct State;  // src/node/runtime/model_function.cc
    explicit ModelPromise(std::shared_ptr<State> state) : state_(std::move(state)) {}

    // Shown to readers at once, as with StreamingModelFunction.
    void say(std::string piece) const;
    // The first answer counts. Errors as of a ModelFunction.
    void answer(Result<ModelAnswer> answer) const;
    // Requested when nobody waits any more, and when the runtime ends.
    [[nodiscard]] std::stop_token stop() const;

private:
    std::shared_ptr<State> state_;
};
// Called on a tool thread, which it keeps no longer than it takes to send the request: however many
// questions wait for their answers, they hold no thread.
using AsyncModelFunction = std::function<void(ModelQuestion question, ModelPromise promise)>;
[[nodiscard]] Model async_model_from(AsyncModelFunction function);

// A model without a network, for tests and examples: the first rule that fits answers. What fits
// none is answered with an error that says so, and ends the turn.
class Script {
public:
    class Rule {
    public:
        // The answer; several are said one after the other, a text and calls go together.
        Rule& says(std::string const& text);
        Rule& calls(std::string tool, Json input);
        // Readers are shown the text in pieces of so many bytes (whole characters), with a pause
        // before each.
        Rule& streams(std::size_t bytes, Duration pause = Duration());
        // So long it thinks before it says anything.
        Rule& after(Duration delay);
        // Answers so often and then lets the rules behind it.
        Rule& times(std::uint32_t times);
        // Fails so many times first, each time with an error that may pass …
        Rule& failing(std::uint32_t times);
        // … in the middle of its text, when so many pieces have been said.
        Rule& breaking_off(std::size_t pieces, std::uint32_t times = 1);
        // Fails each time, with an error that ends the turn.
        Rule& refuses(std::string why);

        // How often it was asked, failures too. From any thread.
        [[nodiscard]] std::size_t asked() const;

    private:
        friend class Script;
        struct Body;
        std::shared_ptr<Body> body_;
    };

    Script();
    // The user's newest message holds this text, and no call of this turn has been answered yet.
    Rule on(std::string text);
    // The newest call is one of `tool`, and has its outcome, or still waits for it.
    Rule when_answered(std::string tool);
    Rule when_waiting(std::string tool);
    // Whatever else comes.
    Rule otherwise();

    // How often it was asked, by any session. From any thread.
    [[nodiscard]] std::size_t asked() const;
    // What a test asserts at its end: each rule has answered (a rule with times() so often), none
    // but otherwise() may have been left out, and no question was without a rule. The error names
    // what is missing.
    [[nodiscard]] Result<void> used_up() const;
    [[nodiscard]] Model model() const;

private:
    struct State;
    using Say = std::function<void(std::string)>;
    Rule add(std::shared_ptr<Rule::Body> body);
    [[nodiscard]] static Result<ModelAnswer> answer(State& state, ModelQuestion const& question,
                                                    Say const& say, std::stop_token const& stop);

    std::shared_ptr<State> state_;
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
