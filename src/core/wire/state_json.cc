#include "wire/state_json.h"

#include "json/stored.h"
#include "session/fold/fold.h"
#include "wire/part_fields.h"

#include <stdexcept>

namespace dormouse::wire {

// Timers of the state that their owners do not store.
struct Timers {
    decltype(State::timer_at) const* of_state = nullptr;  // when writing
    decltype(State::timer_at) found;                      // when reading
};

// A time of a call, or of the model request (call 0), that the state keeps among its timers.
struct TimerRow {
    std::string_view name;
    TimerKind kind;

    static CallNo owner(Call const& call) { return call.no; }
    static CallNo owner(Request const&) { return 0; }
    template <class S>
    void write(json::Writer& out, S const& from, FieldContext const& context) const {
        auto const& all = *context.timers->of_state;
        if (auto const timer = all.find({owner(from), kind}); timer != all.end())
            out.member(name, to_ms(timer->second));
    }
    template <class S> void read(Members& from, S& to, FieldContext const& context) const {
        if (auto const at = Form<Time>::read(from[name], context))
            context.timers->found.insert_or_assign({owner(to), kind}, *at);
    }
};

template <class V> void write_cell(json::Writer& out, V const& value, FieldContext const& context) {
    Form<V>::write(out, value, context);
}

// Reads the elements of an array in order; fewer than `least` are damage.
class CellReader {
public:
    CellReader(json::View array, std::size_t least, FieldContext const& context) : place_(context) {
        array.elements([&](json::View cell) { cells_.push_back(cell); });
        FITS(cells_.size() >= least);
    }
    template <class V> void take(V& to) {
        if (next_ == cells_.size()) return;
        if (auto value = Form<V>::read(cells_[next_++], place_)) to = std::move(*value);
    }

private:
    FieldContext const& place_;
    std::vector<json::View> cells_;
    std::size_t next_ = 0;
};

// A struct as an array of its members; older releases wrote at least `least` of them.
template <class S, std::size_t least, auto... members> struct Cells {
    static void write(json::Writer& out, S const& value, FieldContext const& context) {
        out.begin_array();
        (write_cell(out, value.*members, context), ...);
        out.end_array();
    }
    [[nodiscard]] static std::optional<S> read(json::View view, FieldContext const& context) {
        if (!view.exists()) return std::nullopt;
        S value{};
        CellReader cells(view, least, context);
        (cells.take(value.*members), ...);
        return value;
    }
};

// A map as an array of arrays: the key, and the value or its members.
template <class Map, auto... members> struct EntriesForm {
    using Key = typename Map::key_type;
    using Value = typename Map::mapped_type;
    static void write(json::Writer& out, Map const& map, FieldContext const& context) {
        out.begin_array();
        for (auto const& [key, value] : map) {
            out.begin_array();
            write_cell(out, key, context);
            if constexpr (sizeof...(members) == 0) write_cell(out, value, context);
            (write_cell(out, value.*members, context), ...);
            out.end_array();
        }
        out.end_array();
    }
    [[nodiscard]] static std::optional<Map> read(json::View view, FieldContext const& context) {
        Map map;
        view.elements([&](json::View entry) {
            CellReader cells(entry, 2, context);
            Key key{};
            Value value{};
            cells.take(key);
            if constexpr (sizeof...(members) == 0) cells.take(value);
            (cells.take(value.*members), ...);
            map.insert_or_assign(std::move(key), std::move(value));
        });
        return map;
    }
};

// A map of structs that hold their own number.
template <class Map> struct NumberedForm {
    using Value = typename Map::mapped_type;
    static void write(json::Writer& out, Map const& map, FieldContext const& context) {
        out.begin_array();
        for (auto const& [no, value] : map) Form<Value>::write(out, value, context);
        out.end_array();
    }
    [[nodiscard]] static std::optional<Map> read(json::View view, FieldContext const& context) {
        Map map;
        view.elements([&](json::View element) {
            Value value = *Form<Value>::read(element, context);
            auto const no = value.no;
            FITS(map.emplace(no, std::move(value)).second);
        });
        return map;
    }
};

template <>
struct Form<HistoryBase> : Cells<HistoryBase, 4, &HistoryBase::through, &HistoryBase::turn,
                                 &HistoryBase::call, &HistoryBase::messages> {};
// Earlier releases wrote the first one alone, as text.
template <> struct Form<TraceHeaders> {
    static void write(json::Writer& out, TraceHeaders const& trace, FieldContext const&) {
        if (trace.state.empty()) {
            out.value(trace.parent);
        } else {
            out.begin_array().value(trace.parent).value(trace.state).end_array();
        }
    }
    [[nodiscard]] static std::optional<TraceHeaders> read(json::View view, FieldContext const&) {
        if (view.kind() != json::Kind::array) return TraceHeaders{view.string_or("")};
        std::vector<std::string> both;
        view.elements([&](json::View one) { both.push_back(one.string_or("")); });
        FITS(both.size() == 2);
        return TraceHeaders{both[0], both[1]};
    }
};
template <>
struct Form<QueuedInput> : Cells<QueuedInput, 4, &QueuedInput::seq, &QueuedInput::turn,
                                 &QueuedInput::source, &QueuedInput::by, &QueuedInput::run,
                                 &QueuedInput::task, &QueuedInput::answer, &QueuedInput::trace> {};
template <>
struct Form<ConversationState>
    : Cells<ConversationState, 4, &ConversationState::id, &ConversationState::wakes,
            &ConversationState::minute, &ConversationState::in_minute> {};
using TroubleCells = Cells<Trouble, 2, &Trouble::code, &Trouble::message>;
using StepsForm = EntriesForm<decltype(OpenTurn::open_steps), &StepState::first, &StepState::calls,
                              &StepState::settled>;

template <> struct Form<CallPhase> {
    static void write(json::Writer& out, CallPhase phase, FieldContext const&) {
        out.value(static_cast<int>(phase));
    }
    [[nodiscard]] static std::optional<CallPhase> read(json::View view, FieldContext const&) {
        auto const number = view.integer_or(0);
        FITS(number >= 0 && number <= static_cast<std::int64_t>(CallPhase::awaiting_gate));
        return static_cast<CallPhase>(number);
    }
};

// A submission with its digest, which an event stores in the receipt.
struct DigestedForm {
    static constexpr auto list = std::tuple(SubmissionRow(), field("digest", &Submission::digest));
    static void write(json::Writer& out, Submission const& what, FieldContext const& context) {
        out.begin_object();
        write_all(list, out, what, context);
        out.end_object();
    }
    [[nodiscard]] static std::optional<Submission> read(json::View view,
                                                        FieldContext const& context) {
        if (!view.exists()) return std::nullopt;
        Submission what;
        Members members(view);
        read_all(list, members, what, context);
        return what;
    }
};

template <>
inline constexpr auto rows<Pause> = std::tuple(
    Inline(&Pause::terms), maybe("deadline", &Pause::deadline), field("since", &Pause::since),
    field("opened", &Pause::opened), field("byGate", &Pause::by_gate),
    maybe("pollAt", &Pause::poll_at), field("polled", &Pause::polled),
    field("pollFailures", &Pause::poll_failures), maybe("nearAt", &Pause::near_at),
    maybe("remindAt", &Pause::remind_at), field("reminders", &Pause::reminders));

template <>
inline constexpr auto rows<Question> =
    std::tuple(field("pendingID", &Question::pending), field("since", &Question::since),
               field("opened", &Question::opened));
template <>
inline constexpr auto rows<ClaimState> =
    std::tuple(field("by", &ClaimState::by), field("until", &ClaimState::until));
template <>
inline constexpr auto rows<Vote> =
    std::tuple(field("by", &Vote::by), field("approved", &Vote::approved),
               field("digest", &Vote::digest), field("at", &Vote::at));

template <>
inline constexpr auto rows<Call> = std::tuple(
    field("no", &Call::no), field("step", &Call::step), field("spec", &Call::spec),
    field("phase", &Call::phase), field("gatesPassed", &Call::gates_passed),
    maybe("editedBy", &Call::edited_by), field("generation", &Call::generation),
    field("attempt", &Call::attempt), field("epoch", &Call::epoch),
    maybe("pendingID", &Call::pending), field("created", &Call::created),
    field("started", &Call::started), field("owedSince", &Call::outstanding_since),
    field("inDoubt", &Call::in_doubt), field("progressCount", &Call::progress_count),
    field("progressSecond", &Call::progress_second),
    field("progressInSecond", &Call::progress_in_second), maybe("pause", &Call::pause),
    maybe<DigestedForm>("decided", &Call::decision), maybe<DigestedForm>("resumed", &Call::resumed),
    maybe("kept", &Call::kept), maybe("question", &Call::question), maybe("claim", &Call::claim),
    maybe("votes", &Call::votes), TimerRow{"retryAt", TimerKind::tool_retry},
    TimerRow{"giveUpAt", TimerKind::give_up});

template <>
inline constexpr auto rows<Request> =
    std::tuple(field("attempt", &Request::attempt), field("viewSeq", &Request::view_seq),
               field("epoch", &Request::epoch), field("since", &Request::since),
               TimerRow{"giveUpAt", TimerKind::give_up});
template <>
inline constexpr auto rows<ModelRetry> =
    std::tuple(field("at", &ModelRetry::at), field("error", &ModelRetry::error));
template <>
inline constexpr auto rows<Thread> =
    std::tuple(field("conversation", &Thread::conversation), field("hops", &Thread::hops));

// `told` is absent in older snapshots. It is read as true, so that a person is asked again.
template <>
inline constexpr auto rows<PermissionAnswer> = std::tuple(
    field("call", &PermissionAnswer::call), field("seq", &PermissionAnswer::seq),
    field("attempt", &PermissionAnswer::attempt), field("ask", &PermissionAnswer::ask),
    field("toolCallID", &PermissionAnswer::tool_call), field("tool", &PermissionAnswer::tool),
    field("digest", &PermissionAnswer::input_digest),
    field("approved", &PermissionAnswer::approved),
    field("cancelled", &PermissionAnswer::cancelled), field("granted", &PermissionAnswer::granted),
    field("told", &PermissionAnswer::may_be_used, true), maybe("shown", &PermissionAnswer::shown));
template <>
inline constexpr auto rows<ExternalTurn> = std::tuple(
    field("seen", &ExternalTurn::seen), field("updates", &ExternalTurn::updates),
    field("message", &ExternalTurn::message), field("heard", &ExternalTurn::prompt_received),
    field("goOn", &ExternalTurn::continues),
    field<EntriesForm<decltype(ExternalTurn::tools)>>("tools", &ExternalTurn::tools),
    field("lost", &ExternalTurn::lost), field("verdicts", &ExternalTurn::permissions));

template <>
inline constexpr auto rows<OpenTurn> = std::tuple(
    field("no", &OpenTurn::no), field("input", &OpenTurn::input), field("cause", &OpenTurn::cause),
    field("by", &OpenTurn::by), field("started", &OpenTurn::started),
    field("step", &OpenTurn::step), field("attempt", &OpenTurn::attempt),
    field("run", &OpenTurn::run), maybe("unchecked", &OpenTurn::unchecked),
    field("committed", &OpenTurn::committed), field("failures", &OpenTurn::failures),
    field("newestItem", &OpenTurn::newest_item), field("steered", &OpenTurn::steered),
    maybe("finish", &OpenTurn::finish), maybe("thread", &OpenTurn::thread),
    field("terms", &OpenTurn::terms), field("usage", &OpenTurn::usage),
    maybe("request", &OpenTurn::request), maybe("retry", &OpenTurn::retry),
    maybe("program", &OpenTurn::external), Inline(&OpenTurn::trace),
    maybe("budgetCall", &OpenTurn::budget_call), maybe("worked", &OpenTurn::worked),
    maybe("raised", &OpenTurn::raised), field<StepsForm>("openSteps", &OpenTurn::open_steps));

template <>
inline constexpr auto rows<LastTurn> = std::tuple(
    field("no", &LastTurn::no), field("input", &LastTurn::input), field("cause", &LastTurn::cause),
    field("by", &LastTurn::by), field("step", &LastTurn::step),
    field("attempt", &LastTurn::attempt), field("run", &LastTurn::run),
    field("failed", &LastTurn::failed), field("usage", &LastTurn::usage),
    maybe("error", &LastTurn::error), Inline(&LastTurn::trace), maybe("worked", &LastTurn::worked),
    maybe("raised", &LastTurn::raised));
template <>
inline constexpr auto rows<EndedTurn> =
    std::tuple(field("no", &EndedTurn::no), field("since", &EndedTurn::since),
               field("finish", &EndedTurn::finish), field("usage", &EndedTurn::usage),
               maybe("error", &EndedTurn::error), field("after", &EndedTurn::after));

template <>
inline constexpr auto rows<Task> = std::tuple(
    field("no", &Task::no), field("child", &Task::child), field("agent", &Task::agent),
    field("description", &Task::description), field("status", &Task::status, TaskStatus::error),
    field("run", &Task::run), field("byCall", &Task::by_call), field("queued", &Task::queued),
    field("notify", &Task::notify), field("gone", &Task::gone), maybe("parts", &Task::parts),
    maybe("result", &Task::result), maybe("mark", &Task::mark), maybe("fork", &Task::fork),
    maybe("progress", &Task::progress), field("error", &Task::error), field("by", &Task::by));

template <>
inline constexpr auto rows<InboxItem> = std::tuple(
    field("mailID", &InboxItem::id), field("number", &InboxItem::number),
    field("seq", &InboxItem::seq), field("hold", &InboxItem::hold), field("by", &InboxItem::by),
    field("until", &InboxItem::until), maybe("expires", &InboxItem::expires),
    maybe("raised", &InboxItem::raised),
    only([](InboxItem const& item) { return item.raised != 0; },
         field("before", &InboxItem::before)),
    maybe("rewrites", &InboxItem::rewrites), Inline(&InboxItem::thread), Inline(&InboxItem::trace));

struct StateParentRow {
    static void write(json::Writer& out, State const& from, FieldContext const&) {
        if (!from.parent) return;
        out.member("parent", numbered_id("tsk_", from.parent->session, from.parent->task));
        out.member("depth", from.parent->depth);
    }
    static void read(Members& from, State& to, FieldContext const&) {
        auto const task = parse_numbered("tsk_", from["parent"].string_or(""));
        if (!task) return;
        to.parent = Parent{task->session, static_cast<TaskNo>(task->number),
                           static_cast<std::uint32_t>(from["depth"].integer_or(1))};
    }
};

// Derived members (sets of calls, timers, outstanding effects) are not written.
template <>
inline constexpr auto rows<State> = std::tuple(
    field("head", &State::head), field("lifecycle", &State::lifecycle),
    field("project", &State::project), field("agent", &State::agent), field("alias", &State::alias),
    field("title", &State::title), maybe("autoTitle", &State::auto_title),
    field("cwd", &State::cwd), maybe("node", &State::node), field("labels", &State::labels),
    field("createdBy", &State::created_by), field("createdIdem", &State::created_idem),
    StateParentRow(), maybe("imports", &State::imports), maybe("forkedFrom", &State::forked_from),
    field("created", &State::created), field("updated", &State::updated),
    maybe("ended", &State::ended), field("turns", &State::turns),
    field("callsEver", &State::calls_ever), field("messages", &State::messages),
    maybe("base", &State::base), maybe("redacted", &State::redacted),
    maybe("artifactBytes", &State::artifact_bytes), field("steps", &State::steps),
    field("committedView", &State::committed_view), field("usage", &State::usage),
    maybe("worked", &State::worked), maybe("raised", &State::raised), maybe("turn", &State::turn),
    maybe("lastTurn", &State::last_turn), maybe("untold", &State::unnotified),
    field<NumberedForm<decltype(State::calls)>>("calls", &State::calls),
    field("queue", &State::queue),
    only([](State const& state) { return state.tasks_ever != 0; },
         field("tasksEver", &State::tasks_ever),
         field<NumberedForm<decltype(State::tasks)>>("tasks", &State::tasks)),
    field("mails", &State::mails), field("askedView", &State::asked_view),
    maybe("newBounces", &State::new_bounces), field("inbox", &State::inbox),
    field("conversations", &State::conversations), maybe("programSeen", &State::agent_seen),
    maybe("programTyped", &State::agent_typed), maybe("acpSession", &State::acp_session),
    maybe("acpLeft", &State::acp_left), maybe("programSpent", &State::agent_spent),
    maybe<TroubleCells>("trouble", &State::trouble), maybe("programDeaths", &State::agent_deaths));

namespace {

Effect effect_of(Call const& call, State const& state) {
    EffectId const id{call.outstanding_since, call.no};
    if (call.phase == CallPhase::running) {
        TurnNo const turn = state.turn ? state.turn->no : 0;
        TraceHeaders const trace = state.turn ? state.turn->trace : TraceHeaders();
        return {id, RunTool{call.pending, call.attempt, call.spec.tool, call.spec.input,
                            call.resumed, turn, call.kept, trace}};
    }
    AskGate ask{call.no, gate_of(call), call.spec.tool, call.spec.input, call.decision};
    if (state.turn) {
        ask.turn = state.turn->no;
        ask.trace = state.turn->trace;
    }
    return {id, std::move(ask)};
}

void restore_turn(State& state, OpenTurn const& turn) {
    if (turn.unchecked != 0) add_effect(state, session::effect_of(turn));
    if (turn.request) {
        add_effect(state,
                   {{turn.request->since, 0},
                    AskModel{turn.no, turn.step, turn.request->attempt, turn.request->view_seq,
                             turn.failures, turn.terms.on_restart.has_value(), turn.trace}});
        for (PermissionAnswer const& answer : turn.external.permissions) {
            if (answer.attempt == turn.request->attempt)
                add_effect(state, session::effect_of(answer));
        }
    }
    if (turn.retry) set_timer(state, 0, TimerKind::model_retry, turn.retry->at);
}

// Restores the members that apply() derives. Throws Misfit.
void restore_derived(State& state, Timers const& timers) {
    if (state.turn) restore_turn(state, *state.turn);
    for (EndedTurn const& turn : state.unnotified) add_effect(state, session::effect_of(turn));
    for (auto& [no, call] : state.calls) {
        restore_phase(state, call, call.phase);
        if (call.phase == CallPhase::gating || call.phase == CallPhase::running)
            add_effect(state, effect_of(call, state));
    }
    for (auto const& [key, at] : timers.found) set_timer(state, key.first, key.second, at);
    restore_mail_timer(state);
}

}  // namespace

std::string write_state(State const& state) {
    Timers timers{&state.timer_at, {}};
    json::Writer out;
    Form<State>::write(out, state, {state.id, 0, &timers});
    return out.take();
}

std::optional<State> read_state(SessionId const& session, std::string_view text) {
    json::View const view(text);
    if (view.kind() != json::Kind::object || !json::is_json(text)) return std::nullopt;
    Members members(view);
    if (!members["head"].exists()) return std::nullopt;
    Timers timers;
    State state;
    state.id = session;
    try {
        read_all(rows<State>, members, state, {session, 0, &timers});
        restore_derived(state, timers);
        return state;
    } catch (std::logic_error const&) {
        return std::nullopt;
    }
}

}  // namespace dormouse::wire
