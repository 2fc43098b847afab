#pragma once
// The return type of a tool's function (Outcome), and the facts about its call (Call).

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/json.h>
#include <dormouse/schema.h>
#include <dormouse/time.h>
#include <dormouse/vocabulary.h>

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

// Reason and continuation of a pause in one value, so that an invalid pair cannot be written.
//   await::result    a submitted outcome becomes the call's result, or the tool continues with it
//   await::input     the user's next message is the answer: its text replaces the placeholder,
//                    whatever the tool's result type is
//   the others       the tool continues with the answer: people answer approval and elicitation,
//                    the runtime's own tools answer hand-offs, which other tools may not declare
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

// Options of any pause.
struct PauseOptions {
    std::string ref = {};  // names the job outside, for people and for finding the call
    // Time until the deadline; nullopt: the tool's default, else a day for a result and no deadline
    // for answers of people.
    std::optional<Duration> within = {};
    bool without_end = false;
    std::string message = {};  // for people
    Json form = {};            // JSON Schema of the form that people fill in, or null
    Json state = {};     // given back when the tool continues; visible to readers of the session's
                         // events, never to the model
    Json metadata = {};  // kept with the pause, for audits
    std::optional<Duration> estimated = {};  // how long it will take, for people; nullopt: the
                                             // tool's default
    std::vector<std::string> answerers =
        {};                  // names or "role:…"; empty: anyone with the right to answer
    std::uint32_t need = 1;  // number of answerers who must agree
    // Notified by POST when the pause ends; http or https; empty: none. Kept with the call. Sent by
    // `dormouse serve` and by a Runtime that serves (Runtime::serve). Another Runtime sends
    // nothing, and pauses that ended under it are not sent later.
    std::string webhook_url = {};
    // Signs these notifications, and verifies signed requests about this pause. Kept where readers
    // of the session do not see it.
    std::string webhook_secret = {};
};

// Bytes that people can read or download, kept with the call. At most 8 for each outcome, 8 MiB
// together.
struct Artifact {
    std::string name;  // file name
    std::string bytes;
    std::string mime = {};  // media type; empty: application/octet-stream
};

// The call is done.
template <class T> struct Done {
    Done(T of) : value(std::move(of)) {}
    Done(T of, std::string headline, Json about = {})
        : value(std::move(of)), title(std::move(headline)), metadata(std::move(about)) {}

    // Done{value}.with({"plan.txt", text}): stored in the same append as the outcome.
    Done&& with(Artifact artifact) && {
        artifacts.push_back(std::move(artifact));
        return std::move(*this);
    }

    T value;
    std::string title = {};
    Json metadata = {};
    std::vector<Artifact> artifacts = {};
};
// The result comes later, from outside. The model sees the placeholder until then.
template <class T> struct Pending {
    Pending(T shown, PauseOptions how = {})
        : placeholder(std::move(shown)), options(std::move(how)) {}

    T placeholder;
    PauseOptions options;
};
// The user's next message is the answer. Its text becomes the call's result as a JSON string;
// neither schema nor validator applies to it. The answer may also be submitted.
template <class T> struct NeedInput {
    NeedInput(T shown, PauseOptions how) : placeholder(std::move(shown)), options(std::move(how)) {}
    NeedInput(T shown, std::string question, PauseOptions how = {})
        : placeholder(std::move(shown)), options(std::move(how)) {
        options.message = std::move(question);
    }

    T placeholder;
    PauseOptions options;
};
// A person must approve. The tool's second function then continues, with either answer.
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
// The return type of a tool's function; each of the types above, or a plain T, converts to it. The
// pauses that it may make are named, and so declared: Outcome<T> never pauses, Outcome<T, Pending>
// may wait for a result, Outcome<T, NeedInput, NeedApproval> for either.
template <class T, template <class> class... Pauses> class Outcome {
public:
    using Value = T;
    using Variant =
        std::variant<Done<T>, Pending<T>, NeedInput<T>, NeedApproval<T>, Failed, InDoubt>;

    // Also from values that convert to T: Done{"yes"} is an Outcome<std::string>.
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
                      "declare that the function returns Pending: Outcome<T, Pending>");
    }
    template <std::convertible_to<T> U>
    Outcome(NeedInput<U> one)
        : what_(NeedInput<T>(std::move(one.placeholder), std::move(one.options))) {
        static_assert(names<NeedInput>,
                      "declare that the function returns NeedInput: Outcome<T, NeedInput>");
    }
    template <std::convertible_to<T> U>
    Outcome(NeedApproval<U> one)
        : what_(NeedApproval<T>(std::move(one.placeholder), std::move(one.options))) {
        static_assert(names<NeedApproval>,
                      "declare that the function returns NeedApproval: Outcome<T, NeedApproval>");
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

// The same in JSON, for tools that are not typed functions.
struct Paused {
    Await await = await::Result{};
    Json placeholder = {};  // null: {"status":"pending"}
    PauseOptions options = {};
};
using RawOutcome = std::variant<Done<Json>, Paused, Failed, InDoubt>;

// The answer to a pause of this call, when the tool continues.
struct Resumed {
    SubmissionKind kind = SubmissionKind::result;  // result, error or decision
    Json output = {};                              // result
    std::string error = {};                        // error: its text
    bool approved = false;                         // decision
    std::string reason = {};
    Json content = {};   // decision: the filled-in form
    Json metadata = {};  // given by the answerer
    Json state = {};     // PauseOptions::state of the pause

    template <class T> [[nodiscard]] Result<T> output_as() const { return from_json<T>(output); }
    template <class T> [[nodiscard]] Result<T> content_as() const { return from_json<T>(content); }
    template <class T> [[nodiscard]] Result<T> state_as() const { return from_json<T>(state); }
};

// One call of a tool. Complete before the tool runs.
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
        std::string traceparent = {};
        std::string tracestate = {};
    };
    explicit Call(Facts facts) : facts_(std::move(facts)) {}

    [[nodiscard]] std::string const& tool() const { return facts_.tool; }
    [[nodiscard]] Json const& input() const { return facts_.input; }
    template <class T> [[nodiscard]] Result<T> input() const { return from_json<T>(facts_.input); }

    // The id under which its outcome may be submitted. Each further pause of the call has its own.
    [[nodiscard]] PendingId const& pending_id() const { return facts_.pending; }
    // The same for all attempts of a run: use it so that a job outside is started once.
    [[nodiscard]] std::string idempotency_key() const { return facts_.pending.text(); }
    // URL that accepts the outcome by POST; empty: the runtime has no public address.
    [[nodiscard]] std::string const& callback_url() const { return facts_.callback_url; }

    [[nodiscard]] SessionId const& session() const { return facts_.pending.session; }
    [[nodiscard]] std::string call_id() const;
    [[nodiscard]] std::string const& agent() const { return facts_.agent; }
    [[nodiscard]] std::string turn_id() const;
    // Returns the number of durable starts of this run, from 1. If more than 1, an earlier attempt
    // may have had effects.
    [[nodiscard]] std::uint32_t attempt() const { return facts_.attempt; }
    // An outcome after this time comes too late.
    [[nodiscard]] std::optional<Time> const& deadline() const { return facts_.deadline; }
    // Requested when the outcome is no longer needed: return soon.
    [[nodiscard]] std::stop_token const& stop() const { return facts_.stop; }

    // The headers of W3C Trace Context for what it asks of others; empty: none.
    [[nodiscard]] std::string const& traceparent() const { return facts_.traceparent; }
    [[nodiscard]] std::string const& tracestate() const { return facts_.tracestate; }

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
