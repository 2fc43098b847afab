#include "session/key.h"

#include "base/text/text.h"

#include <span>

namespace dormouse::session {

namespace {

std::string pause_prefix(char kind, CallNo call, Generation generation) {
    return kind + std::to_string(call) + '.' + std::to_string(generation) + '.';
}

std::string short_hex(Sha256 const& digest) { return hex(std::span(digest).first(8)); }

struct Wants {
    State const& state;
    Wanted& out;

    void operator()(Submit const& c) const { closed(c.pending, c.what.digest); }
    void operator()(Progress const& c) const {
        closed(c.pending, std::nullopt);
        if (!c.key.empty()) out.progress = progress_key(c.pending, c.key);
    }
    void operator()(Claim const& c) const { closed(c.pending, std::nullopt); }
    void operator()(Reassign const& c) const { closed(c.pending, std::nullopt); }
    void operator()(Cancel const& c) const {
        if (c.pending) closed(*c.pending, std::nullopt);
    }
    void operator()(Prompt const& c) const {
        if (c.answers) closed(*c.answers, c.answer_digest);
    }
    void operator()(ToolOutcome const& c) const { closed(c.pending, c.digest); }
    template <class Other> void operator()(Other const&) const {}

private:
    // A command in the same append may close it first; then the lane finds the receipt among the
    // events that it has just written.
    void closed(PendingId const& pending, std::optional<Sha256> note) const {
        if (open_pause(state, pending)) return;
        out.receipt = pending;
        out.note = note;
    }
};

PendingChange opened(PendingId const& pending, Call const& call, Event const& event,
                     std::optional<Time> deadline, std::string const& external_ref = {}) {
    return {pending, std::nullopt, call.spec.tool, event.at, deadline, event.seq, 0, external_ref};
}

PendingChange settled(Receipt const& receipt, Call const& call, Event const& event) {
    PendingChange change{
        receipt.pending, receipt.status, call.spec.tool, call.started, std::nullopt, 0, event.seq};
    if (call.question && call.question->pending == receipt.pending) {
        change.created = call.question->since;
        change.paused = call.question->opened;
    } else if (call.pause) {
        change.created = call.pause->since;
        change.paused = call.pause->opened;
        change.deadline = call.pause->deadline;
        change.external_ref = call.pause->terms.external_ref;
        change.webhook_url = call.pause->terms.webhook_url;
        change.reason = call.pause->terms.reason;
    } else {
        change.paused =
            call.outstanding_since;  // early: the pause was never made; tool_started opened it
        change.reason = PauseReason::tool_result;
    }
    // Also for an attempt that a crash cut off, whose pause has no terms of its own.
    bool const unsaid = !call.pause || call.in_doubt;
    bool const own = !call.question || call.question->pending != receipt.pending;
    if (unsaid && own && change.webhook_url.empty())
        change.webhook_url = call.spec.terms.webhook_url;
    return change;
}

struct Changes {
    State const& before;
    Event const& event;
    std::vector<PendingChange>& out;

    void operator()(CallPaused const& e) const {
        open(e.pending, e.deadline, e.terms->external_ref);
    }
    void operator()(GateAsked const& e) const {
        open(e.pending, e.deadline, e.terms->external_ref);
    }
    void operator()(AgentAsked const& e) const {
        out.push_back({e.pending, std::nullopt, e.spec->tool, event.at, e.deadline, event.seq, 0,
                       e.terms->external_ref});
    }
    void operator()(BudgetReached const& e) const {
        out.push_back({e.pending, std::nullopt, e.spec->tool, event.at, e.deadline, event.seq, 0});
    }
    void operator()(CallInDoubt const& e) const {
        open(e.pending, e.deadline);
        if (e.question) open(*e.question, std::nullopt);
    }
    void operator()(Reassigned const& e) const {
        Call const* const call = call_of(e.pending.call);
        if (!call || !call->pause) return;
        out.push_back({e.pending, std::nullopt, call->spec.tool, call->pause->since, e.deadline,
                       call->pause->opened, 0, call->pause->terms.external_ref});
    }
    void operator()(Submitted const& e) const { settle(e.receipt); }
    void operator()(Expired const& e) const { settle(e.receipt); }
    void operator()(Cancelled const& e) const {
        if (e.receipt) settle(*e.receipt);
    }
    template <class Other> void operator()(Other const&) const {}

private:
    void open(PendingId const& pending, std::optional<Time> deadline,
              std::string const& external_ref = {}) const {
        if (Call const* const call = call_of(pending.call))
            out.push_back(opened(pending, *call, event, deadline, external_ref));
    }
    void settle(Receipt const& receipt) const {
        if (Call const* const call = call_of(receipt.pending.call))
            out.push_back(settled(receipt, *call, event));
    }
    // nullptr: the event was read from disk and is damaged; replay() reports it.
    [[nodiscard]] Call const* call_of(CallNo no) const {
        auto const found = before.calls.find(no);
        return found == before.calls.end() ? nullptr : &found->second;
    }
};

}  // namespace

std::optional<Found::Earlier> earlier_in(Event const& event) {
    Found::Earlier earlier{.seq = event.seq, .idem = {}};
    if (auto const* input = std::get_if<InputReceived>(&event.body)) {
        earlier.turn = input->turn;
        earlier.behind = input->behind;
        earlier.idem = input->idem;
    } else if (auto const* started = std::get_if<TaskStarted>(&event.body)) {
        earlier.task = started->task;
        earlier.idem = started->idem;
    } else if (auto const* changed = std::get_if<TaskChanged>(&event.body)) {
        earlier.task = changed->task;
        earlier.idem = changed->idem;
    } else if (auto const* sent = std::get_if<MailSent>(&event.body)) {
        earlier.idem = sent->idem;
    } else if (auto const* received = std::get_if<MailReceived>(&event.body)) {
        earlier.idem = received->idem;
    }
    return earlier.idem.empty() ? std::nullopt : std::optional(std::move(earlier));
}

std::string earlier_key(std::string const& idem_key) {
    return idem_key.empty() ? "" : "i" + idem_key;
}

namespace {

std::string taken_key(char kind, OutboxKey const& key) {
    return kind + key.from.bare() + '.' + std::to_string(key.seq) + '.' + std::to_string(key.n);
}

}  // namespace

std::string taken_key(Command const& command) {
    if (auto const* c = std::get_if<Deliver>(&command.body)) return taken_key('o', c->key);
    if (auto const* c = std::get_if<Undelivered>(&command.body)) return taken_key('u', c->key);
    return {};
}

bool is_taken_key(std::string_view key) { return key.starts_with('o') || key.starts_with('u'); }

std::string progress_key(PendingId const& pending, std::string const& key) {
    return pause_prefix('p', pending.call, pending.generation) + short_hex(sha256(key));
}

std::string note_key(CallNo call, Generation generation, Sha256 const& digest) {
    return pause_prefix('n', call, generation) + short_hex(digest);
}

std::string note_slot_key(CallNo call, Generation generation, std::uint32_t number) {
    return pause_prefix('N', call, generation) + std::to_string(number);
}

std::vector<std::string> keys_of(Event const& event) {
    if (auto const earlier = earlier_in(event))
        return {earlier_key(earlier->idem.substr(0, earlier->idem.find('.')))};
    if (auto const* e = std::get_if<Progressed>(&event.body); e && !e->key.empty()) {
        return {progress_key(e->pending, e->key)};
    }
    if (auto const* e = std::get_if<Note>(&event.body)) {
        return {note_key(e->call, e->generation, e->digest),
                note_slot_key(e->call, e->generation, e->number)};
    }
    return {};
}

Wanted wanted(State const& state, Command const& command) {
    Wanted out;
    out.earlier = earlier_key(command.idem_key);
    out.taken = taken_key(command);
    std::visit(Wants{state, out}, command.body);
    return out;
}

std::vector<PendingChange> pending_changes(State const& before, Event const& event) {
    std::vector<PendingChange> out;
    std::visit(Changes{before, event, out}, event.body);
    return out;
}

}  // namespace dormouse::session
