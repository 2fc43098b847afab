#pragma once
// Models for Runtime: a provider's, a script, or a function of the program.

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

// A call in a transcript with its answer: the outcome, or the placeholder while the call waits.
struct TranscriptCall {
    // The model's own id (ModelCall::id). A missing or repeated one is replaced, so that ids are
    // unique in the transcript.
    std::string id;
    std::string tool;
    Json input;
    bool waits = false;  // `output` is the placeholder
    bool failed = false;
    Json output;  // of a failed call: {"error": text}
};
// An image or a file of a user's message.
struct Attachment {
    std::string mime = {};
    std::string name = {};  // file name; may be empty
    std::string url = {};   // set if the content is stored elsewhere
    // The content. Null: it is at `url`, or left out because a request carries at most 20 MiB.
    std::shared_ptr<std::string const> bytes = {};

    [[nodiscard]] bool is_image() const { return mime.starts_with("image/"); }
};
struct TranscriptMessage {
    enum class Role : std::uint8_t { user, assistant };
    Role role = Role::user;
    std::string text;
    // The assistant's calls, each with its answer. In a late message: the calls that settled.
    std::vector<TranscriptCall> calls;
    // The message reports outcomes of calls that an earlier message answers with a placeholder,
    // under the ids used there. `text` is empty; late_text() makes a sentence of each call.
    bool late = false;
    std::vector<Attachment> attachments = {};
};
// Returns "The tool call ID (TOOL INPUT) that was pending has settled. Its outcome: …", for models
// that accept outcomes only right after the call.
[[nodiscard]] std::string late_text(TranscriptCall const& call);

// A tool that the model may call; also built-in tools and agents as tools ("agent:NAME").
struct ModelTool {
    std::string name;
    std::string description;
    Json input_schema;
};
// A request to a model. From request to request of a session the transcript only grows at its end.
struct ModelQuestion {
    SessionId session;
    std::string agent;
    std::string instructions;
    std::vector<TranscriptMessage> messages;
    std::vector<ModelTool> tools;

    // Returns the user's newest message; empty if there is none.
    [[nodiscard]] std::string const& asked() const;
    // Returns the newest answer to a call of `tool`; null if there is none.
    [[nodiscard]] TranscriptCall const* answer_of(std::string const& tool) const;
};
struct ModelCall {
    std::string tool;
    Json input;
    std::string id = {};  // the model's own id; empty if it gave none
};
// Why the model stopped: it was done, it reached its output limit, or it refused.
enum class ModelFinish : std::uint8_t { stop, length, refusal };
struct ModelAnswer {
    std::string text;
    std::vector<ModelCall> calls;
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    std::string reasoning = {};  // the reasoning that the model made visible
    ModelFinish finish = ModelFinish::stop;
    std::int64_t cached_tokens = 0;         // part of input_tokens
    std::int64_t reasoning_tokens = 0;      // part of output_tokens
    std::int64_t cache_written_tokens = 0;  // part of input_tokens
};

// Wraps a model: to redact, to add, or to answer instead of it. The interceptor added last is
// outermost; the journal keeps what the outermost one returns. Both functions run on a tool thread
// and must have no side effects that matter: after a crash they are called again. An error or an
// exception ends the turn.
struct ModelInterceptor {
    std::string name;
    // May change the question. An answer replaces the model's: the model is not asked.
    std::function<Result<std::optional<ModelAnswer>>(ModelQuestion& question)> before = {};
    // May change the answer.
    std::function<Result<void>(ModelQuestion const& question, ModelAnswer& answer)> after = {};
};

namespace detail {
struct ModelPlan;  // src/node/runtime/models.h
}

// A recipe for a model, cheap to copy; a Runtime makes the model from it.
class Model {
public:
    // Null: Runtime::open refuses an agent without a model.
    Model() = default;
    explicit Model(std::shared_ptr<detail::ModelPlan const> plan) : plan_(std::move(plan)) {}
    [[nodiscard]] std::shared_ptr<detail::ModelPlan const> const& plan() const { return plan_; }

    // Returns this model wrapped in `interceptor`.
    [[nodiscard]] Model through(ModelInterceptor interceptor) const;

private:
    std::shared_ptr<detail::ModelPlan const> plan_;
};

// Options of any provider. The runtime does the retries, time limits and queueing.
struct ProviderOptions {
    std::string base_url = {};  // empty: the provider's own
    std::uint32_t max_output_tokens = 4'096;
    Duration timeout{300'000};    // of one request
    std::size_t concurrency = 8;  // requests at once; others wait, oldest first
    std::uint32_t retries = 4;    // of one step, after temporary failures
    Json extra = {};              // more members for the request's body
};
// `key` is sent to the provider only. openai() speaks OpenAI-compatible chat completions, the
// others each provider's own interface.
[[nodiscard]] Model openai(std::string model, std::string key, ProviderOptions options = {});
[[nodiscard]] Model openai_responses(std::string model, std::string key,
                                     ProviderOptions options = {});
[[nodiscard]] Model anthropic(std::string model, std::string key, ProviderOptions options = {});
[[nodiscard]] Model gemini(std::string model, std::string key, ProviderOptions options = {});
[[nodiscard]] Model ollama(std::string model, ProviderOptions options = {});

// Runs on a tool thread and may block; called again after a crash. An error whose code says `retry`
// (Next::retry) is retried; any other error, or an exception, ends the turn.
using ModelFunction =
    std::function<Result<ModelAnswer>(ModelQuestion const& question, std::stop_token stop)>;
[[nodiscard]] Model model_from(ModelFunction function);
// Streams its text: each piece passed to `say` is shown to readers at once. The answer holds the
// whole text and replaces the pieces.
using StreamingModelFunction = std::function<Result<ModelAnswer>(
    ModelQuestion const& question, std::function<void(std::string)> const& say,
    std::stop_token stop)>;
[[nodiscard]] Model streaming_model_from(StreamingModelFunction function);

// The pending answer to one question. Copies share it. Thread-safe. May outlive the runtime; it
// then does nothing. If the last copy is destroyed without an answer, the turn ends with an error.
class ModelPromise {
public:
    struct State;  // src/node/runtime/model_function.cc
    explicit ModelPromise(std::shared_ptr<State> state) : state_(std::move(state)) {}

    // Shows a piece of text to readers at once, as with StreamingModelFunction.
    void say(std::string piece) const;
    // Only the first answer counts. Errors are treated as those of a ModelFunction.
    void answer(Result<ModelAnswer> answer) const;
    // Stop is requested when the answer is no longer needed and when the runtime ends.
    [[nodiscard]] std::stop_token stop() const;

private:
    std::shared_ptr<State> state_;
};
// Called on a tool thread; should return as soon as the request is sent. Questions that wait for
// their answers hold no thread.
using AsyncModelFunction = std::function<void(ModelQuestion question, ModelPromise promise)>;
[[nodiscard]] Model async_model_from(AsyncModelFunction function);

// A model without a network, for tests and examples. The first rule that matches a question answers
// it; if none does, the turn ends with an error that says so.
class Script {
public:
    class Rule {
    public:
        // Adds to the answer. Several texts are joined by line breaks; an answer may have both text
        // and calls.
        Rule& says(std::string const& text);
        Rule& calls(std::string tool, Json input);
        // Shows the text to readers in pieces of `bytes` bytes (whole characters), with a pause
        // before each.
        Rule& streams(std::size_t bytes, Duration pause = Duration());
        // Waits this long before it answers.
        Rule& after(Duration delay);
        // Matches at most this many times; later questions go to the rules after it.
        Rule& times(std::uint32_t times);
        // Fails the first `times` questions, each with an error that is retried.
        Rule& failing(std::uint32_t times);
        // Fails in the same way, but in the middle of the text, after so many pieces.
        Rule& breaking_off(std::size_t pieces, std::uint32_t times = 1);
        // Always fails, with an error that ends the turn.
        Rule& refuses(std::string why);

        // Returns the number of questions that the rule matched, failures included. Thread-safe.
        [[nodiscard]] std::size_t asked() const;

    private:
        friend class Script;
        struct Body;
        std::shared_ptr<Body> body_;
    };

    Script();
    // Matches if the user's newest message contains `text` and no call was made after it.
    Rule on(std::string text);
    // Match if the newest call is one of `tool` and has its outcome, or still waits for it.
    Rule when_answered(std::string tool);
    Rule when_waiting(std::string tool);
    // Matches every question.
    Rule otherwise();

    // Returns the number of questions that the script got, from all sessions. Thread-safe.
    [[nodiscard]] std::size_t asked() const;
    // For the end of a test: succeeds if every rule has answered (a rule with times() that often;
    // otherwise() need not), and every question matched a rule. The error lists what is missing.
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
