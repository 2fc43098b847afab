#pragma once
// Tools: a typed function, or an implementation of Tool.
//
//     auto deploy = dormouse::tool("deploy", start, {.description = "Deploys a service."});
//
// `start` takes a plain struct and optionally the Call. It returns a T, a Result<T>, an Outcome<T>,
// an Outcome<T, Pending> (with the pauses that it may make) or nothing. It runs on tool threads,
// possibly several calls at once. The model sees the message of an exception.

#include <dormouse/outcome.h>

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <type_traits>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

// A set of pause reasons, in the order of the enumeration.
class PauseSet {
public:
    constexpr PauseSet() = default;
    constexpr PauseSet(std::initializer_list<PauseReason> reasons) {
        for (PauseReason const reason : reasons) insert(reason);
    }
    constexpr void insert(PauseReason reason) { bits_ |= 1U << static_cast<unsigned>(reason); }
    [[nodiscard]] constexpr bool has(PauseReason reason) const {
        return (bits_ & (1U << static_cast<unsigned>(reason))) != 0;
    }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    [[nodiscard]] constexpr PauseSet with(PauseSet const& more) const {
        PauseSet out = *this;
        out.bits_ |= more.bits_;
        return out;
    }
    [[nodiscard]] std::vector<PauseReason> reasons() const;
    friend bool operator==(PauseSet const&, PauseSet const&) = default;

private:
    unsigned bits_ = 0;
};

// Describes a tool without running it.
struct Declaration {
    std::string name;
    std::string description = {};
    Json input_schema = Json::trusted(R"({"type":"object"})");
    Json result_schema = {};  // null: any
    PauseSet may_pause = {};
    CrashPolicy crash = CrashPolicy::never;
    Duration time_limit{600'000};                     // of one attempt
    std::size_t output_limit = std::size_t{1} << 20;  // bytes of JSON
    std::optional<Duration> within = {};              // default deadline of its pauses
    std::optional<Duration> estimated = {};  // how long its result usually takes, for people
    std::vector<std::string> gates = {};     // gates to pass before it runs, in this order
    // Tells the model about pauses; empty: a sentence for each reason.
    std::string hint = {};
    // Checks of a result beyond the schema: returns why it is refused, or nullopt.
    std::function<std::optional<std::string>(Json const&)> validate = {};
    // The error of the declaration itself: a registry refuses such a tool. Empty: none.
    std::string mistake = {};
};

// Returns the description that the model sees, with the hint not to repeat a call that is pending.
// Deterministic.
[[nodiscard]] std::string described(Declaration const& declaration);

// Checks a result against schema and validator. Errors: invalid_result.
[[nodiscard]] Result<void> check_result(Declaration const& declaration, Json const& result);

// Interface for tools that need more than a typed function. Called from any thread, several calls
// at once.
class Tool {
public:
    Tool() = default;
    Tool(Tool const&) = delete;
    Tool& operator=(Tool const&) = delete;
    virtual ~Tool() = default;

    // Returns the same value every time.
    [[nodiscard]] virtual Declaration const& declaration() const = 0;
    // May block, may throw. Called again with call.resumed() when a pause that reenters was
    // answered.
    [[nodiscard]] virtual RawOutcome execute(Call const& call) const = 0;
};
using ToolPtr = std::shared_ptr<Tool const>;

// A tool that wraps another one. Functions that are not overridden forward to the inner tool, so
// decorators can be stacked.
class Decorator : public Tool {
public:
    // REQUIRES: inner is not null.
    explicit Decorator(ToolPtr inner) : inner_(std::move(inner)) {}

    [[nodiscard]] Declaration const& declaration() const override { return inner_->declaration(); }
    [[nodiscard]] RawOutcome execute(Call const& call) const override {
        return inner_->execute(call);
    }

protected:
    [[nodiscard]] Tool const& inner() const { return *inner_; }

private:
    ToolPtr inner_;
};

// Options of a typed tool; each has a default. `T` is the result type. Fields without a comment are
// those of Declaration.
template <class T> struct ToolOptions {
    std::string description = {};
    // nullopt: the pauses named by the return types of the functions.
    std::optional<PauseSet> may_pause = {};
    CrashPolicy crash = CrashPolicy::never;
    Duration time_limit{600'000};
    std::size_t output_limit = std::size_t{1} << 20;
    std::optional<Duration> within = {};
    std::optional<Duration> estimated = {};
    std::vector<std::string> gates = {};
    std::string hint = {};
    // Returns why a result, also one from outside, is refused; nullopt accepts it.
    std::function<std::optional<std::string>(T const&)> validate = {};
    // Null: the schema of T. May be narrower than that; whether it matches T is not checked.
    Json result_schema = {};
};

// The result of a function that returns void: {}.
struct Nothing {};

namespace detail {

template <template <class> class Pause> struct ReasonOf;
template <> struct ReasonOf<Pending> {
    static constexpr PauseReason reason = PauseReason::tool_result;
};
template <> struct ReasonOf<NeedInput> {
    static constexpr PauseReason reason = PauseReason::user_input;
};
template <> struct ReasonOf<NeedApproval> {
    static constexpr PauseReason reason = PauseReason::approval;
};

template <class R> struct ResultOf {
    using type = R;
    static constexpr PauseSet pauses = {};
};
template <class T, template <class> class... Pauses> struct ResultOf<Outcome<T, Pauses...>> {
    using type = T;
    static constexpr PauseSet pauses = {ReasonOf<Pauses>::reason...};
};
// A function that always pauses.
template <class T> struct ResultOf<Pending<T>> : ResultOf<Outcome<T, Pending>> {};
template <class T> struct ResultOf<NeedInput<T>> : ResultOf<Outcome<T, NeedInput>> {};
template <class T> struct ResultOf<NeedApproval<T>> : ResultOf<Outcome<T, NeedApproval>> {};
template <class T> struct ResultOf<Done<T>> : ResultOf<Outcome<T>> {};
template <class T> struct ResultOf<Result<T>> : ResultOf<T> {};
template <> struct ResultOf<void> {
    using type = Nothing;
    static constexpr PauseSet pauses = {};
};
template <> struct ResultOf<Result<void>> : ResultOf<void> {};

template <class A> inline constexpr bool is_call = std::is_same_v<std::remove_cvref_t<A>, Call>;

template <class R, class... A> struct Signature {
    static constexpr bool known = false;
};
template <class R> struct Signature<R> {
    static constexpr bool known = true;
    using Returned = R;
    using Input = Nothing;
};
template <class R, class A> struct Signature<R, A> {
    static constexpr bool known = true;
    using Returned = R;
    using Input = std::conditional_t<is_call<A>, Nothing, std::remove_cvref_t<A>>;
};
template <class R, class A, class B> struct Signature<R, A, B> {
    static constexpr bool known = is_call<B> && !is_call<A>;
    using Returned = R;
    using Input = std::remove_cvref_t<A>;
};

template <class F> struct Callable {
    static constexpr bool known = false;
};
template <class R, class... A> struct Callable<R(A...)> : Signature<R, A...> {};
template <class R, class... A> struct Callable<R(A...) noexcept> : Signature<R, A...> {};
template <class R, class... A> struct Callable<R (*)(A...)> : Signature<R, A...> {};
template <class R, class... A> struct Callable<R (*)(A...) noexcept> : Signature<R, A...> {};
template <class F>
    requires requires { &F::operator(); }
struct Callable<F> : Callable<decltype(&F::operator())> {};
template <class C, class R, class... A> struct Callable<R (C::*)(A...)> : Signature<R, A...> {};
template <class C, class R, class... A>
struct Callable<R (C::*)(A...) const> : Signature<R, A...> {};
template <class C, class R, class... A>
struct Callable<R (C::*)(A...) noexcept> : Signature<R, A...> {};
template <class C, class R, class... A>
struct Callable<R (C::*)(A...) const noexcept> : Signature<R, A...> {};

template <class F> struct Typed {
    using Function = Callable<std::decay_t<F>>;
    static_assert(Function::known,
                  "a tool's function names its types: (Input const&), (Input const&, Call const&), "
                  "(Call const&) or (); it must be neither a template nor overloaded");
    using In = typename Function::Input;
    using Returned = typename Function::Returned;
    using Out = typename ResultOf<Returned>::type;
    static constexpr PauseSet pauses = ResultOf<Returned>::pauses;
    static_assert(Structure<In>,
                  "a tool's input is a plain struct: its fields are the arguments that the model "
                  "names");
};

// Calls `function` with the arguments that it takes.
template <class F, class In>
decltype(auto) invoke(F const& function, In const& input, Call const& call) {
    static_assert(std::is_invocable_v<F const&, In const&, Call const&> ||
                      std::is_invocable_v<F const&, In const&> ||
                      std::is_invocable_v<F const&, Call const&> || std::is_invocable_v<F const&>,
                  "a tool's function can be called when it is const (no mutable lambda), as it may "
                  "run on several threads at once, and takes its input by value or const&");
    if constexpr (std::is_invocable_v<F const&, In const&, Call const&>) {
        return function(input, call);
    } else if constexpr (std::is_invocable_v<F const&, In const&>) {
        return function(input);
    } else if constexpr (std::is_invocable_v<F const&, Call const&>) {
        return function(call);
    } else if constexpr (std::is_invocable_v<F const&>) {
        return function();
    }
}

// The parts that need no template: they handle values already converted to JSON.
[[nodiscard]] RawOutcome done(Result<Json> output, std::string title, Json metadata,
                              std::vector<Artifact> artifacts);
[[nodiscard]] RawOutcome paused(Await await, Result<Json> placeholder, PauseOptions options);
[[nodiscard]] RawOutcome misread(Error const& error);
[[nodiscard]] RawOutcome failed(Error const& error);
// The outcome of a typed function without a second one: the submitted result or error itself.
[[nodiscard]] RawOutcome answered(Resumed const& resumed);
// Sets `mistake` if a name or a declaration derived from types is wrong.
void inspect(Declaration& declaration, Type const& input, Type const& result, bool goes_on);

// Writes a placeholder. It is no result yet, so the rules of its fields do not apply.
template <class T> Result<Json> shown(T const& placeholder) {
    if constexpr (check_type<T>()) return write(type_of<T>, &placeholder, false);
    return Json();
}

template <class T, template <class> class... Pauses>
RawOutcome lower(Outcome<T, Pauses...> outcome) {
    auto& what = outcome.what();
    if (auto* one = std::get_if<Done<T>>(&what))
        return done(to_json(one->value), std::move(one->title), std::move(one->metadata),
                    std::move(one->artifacts));
    if (auto* one = std::get_if<Pending<T>>(&what))
        return paused(await::Result{}, shown(one->placeholder), std::move(one->options));
    if (auto* one = std::get_if<NeedInput<T>>(&what))
        return paused(await::Input{}, shown(one->placeholder), std::move(one->options));
    if (auto* one = std::get_if<NeedApproval<T>>(&what))
        return paused(await::Approval{}, shown(one->placeholder), std::move(one->options));
    if (auto* one = std::get_if<Failed>(&what)) return std::move(*one);
    return std::move(std::get<InDoubt>(what));
}
template <class T> using AnyOutcome = Outcome<T, Pending, NeedInput, NeedApproval>;

template <class T> RawOutcome lower(Result<T> result) {
    if (!result) return failed(result.error());
    if constexpr (std::is_void_v<T>) {
        return lower(Outcome<Nothing>(Nothing{}));
    } else if constexpr (requires { lower(std::move(*result)); }) {
        return lower(std::move(*result));
    } else {
        return lower(AnyOutcome<typename ResultOf<T>::type>(std::move(*result)));
    }
}

template <class F, class In> RawOutcome run(F const& function, Call const& call) {
    auto const input = call.template input<In>();
    if (!input) return misread(input.error());
    using R = decltype(invoke(function, *input, call));
    if constexpr (std::is_void_v<R>) {
        invoke(function, *input, call);
        return lower(Outcome<Nothing>(Nothing{}));
    } else if constexpr (requires { lower(invoke(function, *input, call)); }) {
        return lower(invoke(function, *input, call));
    } else {
        return lower(AnyOutcome<typename ResultOf<R>::type>(invoke(function, *input, call)));
    }
}

// The second function of a tool that has none.
struct NoSecond {};

template <class F, class Second, class In, class Out> class TypedFunction final : public Tool {
public:
    TypedFunction(Declaration declaration, F function, Second second)
        : declaration_(std::move(declaration)),
          function_(std::move(function)),
          second_(std::move(second)) {
        inspect(declaration_, type_of<In>, type_of<Out>, !std::is_same_v<Second, NoSecond>);
    }
    [[nodiscard]] Declaration const& declaration() const override { return declaration_; }
    [[nodiscard]] RawOutcome execute(Call const& call) const override {
        if (!call.resumed()) return run<F, In>(function_, call);
        if constexpr (std::is_same_v<Second, NoSecond>) {
            return answered(*call.resumed());
        } else {
            return run<Second, In>(second_, call);
        }
    }

private:
    Declaration declaration_;
    F function_;
    Second second_;
};

template <class In, class Out>
Declaration declare(std::string name, ToolOptions<Out>& options, PauseSet pauses) {
    Declaration out;
    out.name = std::move(name);
    out.description = std::move(options.description);
    out.input_schema = schema_of<In>();
    out.result_schema =
        options.result_schema.is_null() ? schema_of<Out>() : std::move(options.result_schema);
    out.may_pause = options.may_pause.value_or(pauses);
    out.crash = options.crash;
    out.time_limit = options.time_limit;
    out.output_limit = options.output_limit;
    out.within = options.within;
    out.estimated = options.estimated;
    out.gates = std::move(options.gates);
    out.hint = std::move(options.hint);
    if (options.validate) {
        out.validate = [validate = std::move(options.validate)](Json const& json) {
            auto const value = from_json<Out>(json);
            return value ? validate(*value) : std::optional(value.error().detail);
        };
    }
    return out;
}

}  // namespace detail

// A tool that knows its input and result types. Cheap to copy: copies share the tool.
template <class In_, class Out_> class TypedTool {
public:
    using In = In_;
    using Out = Out_;

    explicit TypedTool(ToolPtr tool) : tool_(std::move(tool)) {}

    operator ToolPtr() const { return tool_; }
    [[nodiscard]] Tool const* operator->() const { return tool_.get(); }
    [[nodiscard]] Tool const& operator*() const { return *tool_; }
    [[nodiscard]] std::string const& name() const { return tool_->declaration().name; }

    // Converts and checks a result to submit for a pending call of this tool. Errors:
    // invalid_result.
    [[nodiscard]] Result<Json> result(Out const& value) const {
        auto json = to_json(value);
        if (!json) return fail(Code::invalid_result, json.error().detail, json.error().extra);
        if (auto fits = check_result(tool_->declaration(), *json); !fits)
            return std::unexpected(std::move(fits.error()));
        return json;
    }

private:
    ToolPtr tool_;
};

// Makes a tool from a callable. Mistakes that no compiler finds (a wrong name or pattern) are
// reported when it is registered.
template <class F>
[[nodiscard]] auto tool(std::string name, F function,
                        ToolOptions<typename detail::Typed<F>::Out> options = {}) {
    using Typed = detail::Typed<F>;
    using In = typename Typed::In;
    using Out = typename Typed::Out;
    auto declaration = detail::declare<In, Out>(std::move(name), options, Typed::pauses);
    return TypedTool<In, Out>(std::make_shared<detail::TypedFunction<F, detail::NoSecond, In, Out>>(
        std::move(declaration), std::move(function), detail::NoSecond{}));
}

// The same with a second function: it continues after a pause of the first function (or its own)
// was answered, with the answer in call.resumed(). It must have the same types as the first.
template <class F, class Second>
    requires requires { detail::Callable<std::decay_t<Second>>::known; } &&
             (detail::Callable<std::decay_t<Second>>::known)
[[nodiscard]] auto tool(std::string name, F function, Second second,
                        ToolOptions<typename detail::Typed<F>::Out> options = {}) {
    using Typed = detail::Typed<F>;
    using In = typename Typed::In;
    using Out = typename Typed::Out;
    static_assert(std::is_same_v<In, typename detail::Typed<Second>::In> &&
                      std::is_same_v<Out, typename detail::Typed<Second>::Out>,
                  "the two functions of a tool have the same input and the same result");
    auto declaration = detail::declare<In, Out>(std::move(name), options,
                                                Typed::pauses.with(detail::Typed<Second>::pauses));
    return TypedTool<In, Out>(std::make_shared<detail::TypedFunction<F, Second, In, Out>>(
        std::move(declaration), std::move(function), std::move(second)));
}

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
