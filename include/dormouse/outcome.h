#pragma once
// What a tool's function returns, and what it is told of its call.

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/json.h>
#include <dormouse/schema.h>
#include <dormouse/time.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

// Why a call waits for something outside.
enum class PauseReason : std::uint8_t { tool_result, user_input, approval, elicitation, handoff };
[[nodiscard]] std::string_view text(PauseReason reason);

// Reason and continuation of a pause, as one value: a pair that may not be cannot be written.
//   await::result    an outcome is submitted, and is the call's; or the tool goes on with it
//   await::input     the next message of the user is the answer, and takes the placeholder's place
//                    as it is, a text, whatever the tool's result otherwise is
//   the others       the tool goes on with the answer: approval and elicitation are answered by
//                    people, hand-offs by the runtime's own tools; a program's may not declare them
namespace await {
struct Result {
    bool reenter = false;
};
struct Input {};
struct Approval {};
struct Elicitation {};
struct Handoff {};
}  // namespace await
using Await =
    std::variant<await::Result, await::Input, await::Approval, await::Elicitation, await::Handoff>;
[[nodiscard]] PauseReason reason(Await const& await);
[[nodiscard]] bool reenters(Await const& await);

// Of any pause.
struct PauseOptions {
    std::string ref = {};  // of the job outside, for people and for finding the call
    // How long it is waited; nullopt: as the tool declares, else a day for a result and without
    // end for people.
    std::optional<Duration> within = {};
    bool without_end = false;
    std::string message = {};  // for people
    Json form = {};            // JSON Schema of what people fill in, or null
    Json state = {};     // given back when the tool goes on; the model never sees it, readers of
                         // the session's events do
    Json metadata = {};  // kept with the pause, for audits
    std::optional<Duration> estimated = {};   // for people; nullopt: as the tool declares
    std::vector<std::string> answerers = {};  // names or "role:…"; empty: whoever has the right to
    std::uint32_t need = 1;                   // how many of them must agree
    // Told by POST when the pause ends; http or https. Empty: nobody is. It stands with the call;
    // `dormouse serve` sends, and a Runtime that serves (Runtime::serve). Another Runtime sends
    // nothing, and nothing that ended under it is sent later.
    std::string webhook_url = {};
    // Signs what is told and what comes about this pause; kept apart from what readers see.
    std::string webhook_secret = {};
};

// Bytes for people to read or download, kept with the call. At most 8 an outcome, 8 MiB together.
struct Artifact {
    std::string name;  // of a file
    std::string bytes;
    std::string mime = {};  // media type; empty: application/octet-stream
};

// The call is done.
template <class T> struct Done {
    Done(T of) : value(std::move(of)) {}
    Done(T of, std::string headline, Json about = {})
        : value(std::move(of)), title(std::move(headline)), metadata(std::move(about)) {}

    // Done{value}.with({"plan.txt", text}): durable with the outcome, in the same write.
    Done&& with(Artifact artifact) && {
        artifacts.push_back(std::move(artifact));
        return std::move(*this);
    }

    T value;
    std::string title = {};
    Json metadata = {};
    std::vector<Artifact> artifacts = {};
};
// The result comes later, from outside. The model sees the placeholder meanwhile.
template <class T> struct Pending {
    Pending(T shown, PauseOptions how = {})
        : placeholder(std::move(shown)), options(std::move(how)) {}

    T placeholder;
    PauseOptions options;
};
// The user's next message is the answer: its text becomes the call's result, as a JSON string that
// no schema or validator is asked about. It may also be submitted.
template <class T> struct NeedInput {
    NeedInput(T shown, PauseOptions how) : placeholder(std::move(shown)), options(std::move(how)) {}
    NeedInput(T shown, std::string question, PauseOptions how = {})
        : placeholder(std::move(shown)), options(std::move(how)) {
        options.message = std::move(question);
    }

    T placeholder;
    PauseOptions options;
};
// A person must allow it; then, or if not, the tool's second function goes on.
template <class T> struct NeedApproval {
    NeedApproval(T shown, PauseOptions how)
        : placeholder(std::move(shown)), options(std::move(how)) {}
    NeedApproval(T shown, std::string question, PauseOptions how = {})
        : placeholder(std::move(shown)), options(std::move(how)) {
        options.message = std::move(question);
    }

    T placeholder;
    PauseOptions options;
};
// Told to the model; the turn goes on.
struct Failed {
    std::string text;
    bool nothing_done = false;  // trying again may help, and repeats nothing
};
// Nobody knows what the attempt did: the tool's crash policy decides.
struct InDoubt {
    std::string text;
};

// What a function of a tool returns; each of these, or a plain T, converts to it. Pauses that may
// be among them are named by their types, and so declared: Outcome<T> never pauses, Outcome<T,
// Pending> may wait for a result, Outcome<T, NeedInput, NeedApproval> for either.
template <class T, template <class> class... Pauses> class Outcome {
public:
    using Value = T;
    using Variant =
        std::variant<Done<T>, Pending<T>, NeedInput<T>, NeedApproval<T>, Failed, InDoubt>;

    // From values that convert to T, too: Done{"yes"} is an Outcome<std::string>.
    template <std::convertible_to<T> U> Outcome(U value) : what_(Done<T>(std::move(value))) {}
    template <std::convertible_to<T> U>
    Outcome(Done<U> one)
        : what_(Done<T>(std::move(one.value), std::move(one.title), std::move(one.metadata))) {
        std::get<0>(what_).artifacts = std::move(one.artifacts);
    }
    template <std::convertible_to<T> U>
    Outcome(Pending<U> one)
        : what_(Pending<T>(std::move(one.placeholder), std::move(one.options))) {
        static_assert(names<Pending>,
                      "a function that returns Pending says so: Outcome<T, Pending>");
    }
    template <std::convertible_to<T> U>
    Outcome(NeedInput<U> one)
        : what_(NeedInput<T>(std::move(one.placeholder), std::move(one.options))) {
        static_assert(names<NeedInput>,
                      "a function that returns NeedInput says so: Outcome<T, NeedInput>");
    }
    template <std::convertible_to<T> U>
    Outcome(NeedApproval<U> one)
        : what_(NeedApproval<T>(std::move(one.placeholder), std::move(one.options))) {
        static_assert(names<NeedApproval>,
                      "a function that returns NeedApproval says so: Outcome<T, NeedApproval>");
    }
    Outcome(Failed failed) : what_(std::move(failed)) {}
    Outcome(InDoubt doubt) : what_(std::move(doubt)) {}

    [[nodiscard]] Variant const& what() const { return what_; }
    [[nodiscard]] Variant& what() { return what_; }

private:
    template <template <class> class Pause>
    static constexpr bool names = (std::is_same_v<Pause<T>, Pauses<T>> || ...);

    Variant what_;
};

// The same in JSON, for tools that are no typed functions.
struct Paused {
    Await await = await::Result{};
    Json placeholder = {};  // null: {"status":"pending"}
    PauseOptions options = {};
};
using RawOutcome = std::variant<Done<Json>, Paused, Failed, InDoubt>;

// What a pause of this call was answered with, when the tool goes on.
struct Resumed {
    enum class Kind : std::uint8_t { result, error, decision };
    Kind kind = Kind::result;
    Json output = {};        // result
    std::string error = {};  // error: its text
    bool approved = false;   // decision
    std::string reason = {};
    Json content = {};   // decision: what the form was filled in with
    Json metadata = {};  // of whoever answered
    Json state = {};     // what the pause kept for the tool

    template <class T> [[nodiscard]] Result<T> output_as() const { return from_json<T>(output); }
    template <class T> [[nodiscard]] Result<T> content_as() const { return from_json<T>(content); }
    template <class T> [[nodiscard]] Result<T> state_as() const { return from_json<T>(state); }
};

// One call of a tool. Everything is known before the tool does anything.
class Call {
public:
    struct Facts {
        PendingId pending = {};
        std::string tool = {};
        Json input = {};
        std::uint32_t attempt = 1;
        std::string agent = {};
        TurnNo turn = 0;
        std::string callback_url = {};
        std::optional<Time> deadline = {};
        std::optional<Resumed> resumed = {};
        std::stop_token stop = {};
    };
    explicit Call(Facts facts) : facts_(std::move(facts)) {}

    [[nodiscard]] std::string const& tool() const { return facts_.tool; }
    [[nodiscard]] Json const& input() const { return facts_.input; }
    template <class T> [[nodiscard]] Result<T> input() const { return from_json<T>(facts_.input); }

    // Under which its outcome may be submitted. A call that pauses again has another one.
    [[nodiscard]] PendingId const& pending_id() const { return facts_.pending; }
    // The same for all attempts of a run: what is begun outside under it is begun once.
    [[nodiscard]] std::string idempotency_key() const { return facts_.pending.text(); }
    // Takes the outcome by POST; empty: the runtime has no address that others reach.
    [[nodiscard]] std::string const& callback_url() const { return facts_.callback_url; }

    [[nodiscard]] SessionId const& session() const { return facts_.pending.session; }
    [[nodiscard]] std::string call_id() const;
    [[nodiscard]] std::string const& agent() const { return facts_.agent; }
    [[nodiscard]] std::string turn_id() const;
    // How often this run was durably started; more than 1: an earlier attempt may have done
    // something.
    [[nodiscard]] std::uint32_t attempt() const { return facts_.attempt; }
    // An outcome that comes later is of no use.
    [[nodiscard]] std::optional<Time> const& deadline() const { return facts_.deadline; }
    // Nobody waits any more: end soon.
    [[nodiscard]] std::stop_token const& stop() const { return facts_.stop; }

    // Null on the first run.
    [[nodiscard]] Resumed const* resumed() const {
        return facts_.resumed ? &*facts_.resumed : nullptr;
    }
    [[nodiscard]] Facts const& facts() const { return facts_; }

private:
    Facts facts_;
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
