#include "session/decide/decider.h"

#include "session/decide/values.h"
#include "session/fold/fold.h"
#include "session/limits.h"
#include "session/outbox.h"
#include "session/parts.h"

#include <algorithm>
#include <limits>

namespace dormouse::session {

void Decider::emit(Event::Body body) {
    FITS(state.lifecycle != Lifecycle::deleted);
    FITS(state.lifecycle != Lifecycle::none || std::holds_alternative<SessionCreated>(body));
    Event event;
    event.seq = state.head + 1;
    event.at = at;
    event.turn = state.turn ? state.turn->no : 0;
    if (auto const* started = std::get_if<TurnStarted>(&body)) event.turn = started->turn;
    if (auto const* notified = std::get_if<TurnNotified>(&body)) event.turn = notified->turn;
    if (auto const* update = std::get_if<AgentUpdate>(&body)) event.turn = update->turn;
    event.body = std::move(body);
    for (PendingChange& change : pending_changes(state, event))
        pending.push_back(std::move(change));
    for (OutboxMessage& message : outbox_of(state, events, event))
        outbox.push_back(std::move(message));
    apply(state, event);
    events.push_back(std::move(event));
}

std::string Decider::idem() const {
    return command.idem_key.empty() ? "" : command.idem_key + "." + command.idem_digest;
}

std::optional<Receipt> Decider::closed(PendingId const& pending) const {
    for (Event const& event : events) {
        Receipt const* const receipt = receipt_in(event);
        if (receipt && receipt->pending == pending) return *receipt;
    }
    bool const found = context.found.receipt && context.found.receipt->pending == pending;
    return found ? context.found.receipt : std::nullopt;
}

PendingId Decider::new_pending(Call const& call) {
    FITS(call.generation < std::numeric_limits<Generation>::max());
    return {state.id, call.no, call.generation + 1, draw()};
}

SessionId Decider::new_session() {
    FITS(context.next_session);
    return SessionId::make(*context.next_session + sessions_++, draw());
}

Receipt Decider::receipt(PendingId const& pending, SubmissionKind kind, CallStatus status,
                         Sha256 const& digest) const {
    FITS(pending.session == state.id);
    Receipt receipt;
    receipt.pending = pending;
    receipt.kind = kind;
    receipt.status = status;
    receipt.digest = digest;
    receipt.at = at;
    receipt.by = command.by;
    receipt.seq = state.head + 1;
    return receipt;
}

std::unexpected<Error> unknown() { return fail(Code::not_found, "This id was not found."); }

std::unexpected<Error> gone() {
    return fail(Code::history_gone, "This part of the session's history was removed by retention.");
}

bool is_full(State const& state) { return state.head >= limits::seq_full; }

std::unexpected<Error> journal_full() {
    return fail(Code::too_large, "The session's journal is full; continue in a fork of it.",
                object_json("limit", "session_events", "max", limits::seq_max));
}

std::string bytes_text(std::size_t bytes) {
    constexpr std::size_t mib = std::size_t{1} << 20;
    if (bytes > 0 && bytes % mib == 0) return std::to_string(bytes / mib) + " MiB";
    return std::to_string(bytes) + " bytes";
}

std::unexpected<Error> over_limit(std::string const& what, std::string_view limit,
                                  std::size_t max) {
    return fail(Code::too_large, what + " must be at most " + bytes_text(max) + ".",
                object_json("limit", limit, "max", max));
}

std::optional<Error> refuse_text(Decider const& d, std::string const& what, Json const& parts) {
    std::size_t const max = d.context.limits.prompt_bytes;
    bool const fits = parts.size() <= max || text_bytes(parts) <= max;  // JSON is never shorter
    if (fits) return std::nullopt;
    return over_limit(what, "prompt_bytes", max).error();
}

std::unexpected<Error> wrong_state(State const& state, std::string_view move) {
    std::string const from(text(state.lifecycle));
    return fail(Code::wrong_state,
                "This session is " + from + "; it cannot " + std::string(move) + ".",
                object_json("from", from, "move", move));
}

TraceHeaders trace_of_sent(Decider const& d) {
    if (!d.command.trace.parent.empty()) return d.command.trace;
    State const& state = d.state;
    TraceRules const& rules = d.context.tracing;
    if (auto const& turn = state.turn)
        return passed_on(rules, state.id, turn->no, turn->trace,
                         sent_span(state.id, state.head + 1));
    bool const asked = std::holds_alternative<TaskAsk>(d.command.body) ||
                       std::holds_alternative<SendMail>(d.command.body);
    if (asked || !state.last_turn) return {};
    LastTurn const& last = *state.last_turn;
    return passed_on(rules, state.id, last.no, last.trace, turn_span(state.id, last.no));
}

namespace {

// The command can be decided on a state without a session.
bool is_creation(State const& state, Command const& command) {
    if (std::holds_alternative<Create>(command.body)) return true;
    auto const* deliver = std::get_if<Deliver>(&command.body);
    bool const first_run = deliver && std::holds_alternative<StartRun>(deliver->what);
    return first_run && state.lifecycle == Lifecycle::none;
}

Result<Answer> handle_body(Decider& d) {
    bool const alone = d.state.agent == no_agent && d.state.lifecycle != Lifecycle::deleted;
    if (auto error = alone ? refuse_without_agent(d.command) : std::nullopt)
        return std::unexpected(*std::move(error));
    return std::visit([&](auto const& body) { return handle(d, body); }, d.command.body);
}

}  // namespace

Decision decide(State& state, Command const& command, Context const& context) {
    bool const creates = is_creation(state, command);
    bool const exists = state.lifecycle != Lifecycle::none && state.lifecycle != Lifecycle::deleted;
    if (!creates && !exists) return {{}, unknown(), {}};
    if (context.found.gone) return {{}, gone(), {}};
    Activity const before = activity(state);
    std::string const node = state.node;
    Seq const head = state.head;
    FITS(state.lifecycle != Lifecycle::none || head == 0);
    Decider decider(state, command, context);
    // Adopt resolves interrupted runs before it expires timers: a run that a crash cut off is in
    // doubt, it did not exceed its time limit.
    bool const adopts = std::holds_alternative<Adopt>(command.body);
    if (!creates && !adopts) fall_due(decider);
    auto answer = handle_body(decider);
    if (adopts) fall_due(decider);
    bool const leaves = state.node != node && state.node != context.node;  // for another node
    if (context.drives && !leaves && state.lifecycle != Lifecycle::deleted) advance(decider);
    if (!decider.events.empty() && activity(state) != before)
        decider.events.back().activity = activity(state);
    FITS(state.head == head + decider.events.size());
    return {std::move(decider.events),
            std::move(answer),
            std::move(decider.pending),
            std::move(decider.artifacts),
            std::move(decider.outbox),
            decider.sessions(),
            decider.took,
            std::move(decider.rules)};
}

}  // namespace dormouse::session
