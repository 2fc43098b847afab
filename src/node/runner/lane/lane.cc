#include "runner/lane/lane.h"

#include "base/check.h"
#include "base/trace.h"
#include "runner/lane/draft.h"
#include "runner/lane/rows.h"
#include "runner/repair/unreadable.h"
#include "session/limits.h"
#include "wire/admit.h"
#include "wire/audit.h"
#include "wire/journal/spill.h"
#include "wire/state_json.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

Error stopping() { return {Code::draining, "The server is stopping.", {}, 1'000}; }

namespace {

std::unexpected<Error> not_found() { return fail(Code::not_found, "This id was not found."); }

}  // namespace

Lane::Lane(SessionId id, LaneServices const& services, bool fresh) : id_(id), services_(services) {
    if (!fresh) return;
    state_.emplace();
    state_->id = id;
}

void Lane::receive(Incoming incoming, Reply reply) {
    CHECK(reply);
    trace();
    if (inbox_.size() >= inbox_max)
        return reply(fail(Code::overloaded, "Too much waits for this session."));
    auto prepared = prepare(incoming.command, services_.settings.limits().output_bytes);
    if (!prepared) {
        reply(std::unexpected(std::move(prepared.error())));
        if (may_sleep()) services_.observer.rested(id_);
        return;
    }
    receive_prepared(std::move(incoming), std::move(reply));
}

void Lane::receive_prepared(Incoming incoming, Reply reply) {
    CHECK(reply);
    if (inbox_.size() >= inbox_max)
        return reply(fail(Code::overloaded, "Too much waits for this session."));
    inbox_.emplace_back(std::move(incoming), std::move(reply), OnRead{});
    turn();
}

Result<void> Lane::prepare(Command& command, std::size_t output_bytes) {
    if (auto admitted = wire::admit(command); !admitted) return admitted;
    wire::spill(command, output_bytes);
    return {};
}

void Lane::read(OnRead done) {
    CHECK(done);
    if (inbox_.size() >= inbox_max)
        return done(fail(Code::overloaded, "Too much waits for this session."));
    inbox_.push_back({{}, {}, std::move(done)});
    turn();
}

void Lane::turn() {
    if (shut_ || inbox_.empty()) return;
    CHECK(leaving_.empty() && fresh_.empty());  // no append of this session is under way
    shut_ = true;
    if (state_ && !repairs() && !takes_over()) {
        look_up();
    } else {
        load();
    }
}

// Returns true if a Repair waits: then the session is read from its journal alone.
bool Lane::repairs() const {
    return std::ranges::any_of(inbox_, [](Request const& request) {
        return std::holds_alternative<Repair>(request.incoming.command.body) && !request.on_read;
    });
}

void Lane::load() {
    CHECK(shut_);
    auto use = [self = shared_from_this()](Result<LoadedSession> result) {
        self->loaded(std::move(result));
    };
    if (!repairs()) return services_.loads.read({id_, known_}, std::move(use));
    auto rebuild = [id = id_, known = known_](port::Store& store) {
        return compared(store, read_again(store, id), known);
    };
    port::ask(services_.journal, std::move(rebuild), std::move(use), port::read_key(id_));
}

void Lane::unless_exhausted(std::function<void()> const& step) {
    try {
        step();
    } catch (std::bad_alloc const&) {
        forget({Code::overloaded, "There is not enough memory for this session now.", {}, 1'000});
    }
}

void Lane::loaded(Result<LoadedSession> result) {
    CHECK(shut_);
    if (!result) return forget(result.error());
    unless_exhausted([&] { take_up_state(std::move(*result)); });
}

namespace {

// The store fell back. An effect of this process whose intent it kept may have run, and its outcome
// be lost, as by a crash.
void add_own_intents(State const& state, Epoch own, Adopt& adopt) {
    if (intent_epochs(state).contains(own)) adopt.gone.push_back(own);
}

}  // namespace

void Lane::take_up_state(LoadedSession read) {
    trace();
    CHECK(shut_);  // nobody reads the state while it is replaced
    CHECK(read.state.id == id_ && leaving_.empty() && fresh_.empty());
    state_ = std::move(read.state);
    newest_ = {state_->head, read.stamp};
    driver_ = read.driver;
    known_ = {};
    if (read.lost) drop_lost_effects();
    snapshots_.loaded(read.snapshot_bytes, read.tail_bytes);
    wake_known_ = read.wake_known;
    stored_wake_ = read.wake_at;
    stored_turn_ = read.turn;
    rows_ = std::move(read.rows);
    recent_.clear();
    recent_bytes_ = 0;
    remember(read.tail);
    if (rows_) {
        std::ranges::stable_partition(inbox_, [](Request const& request) {
            return std::holds_alternative<Repair>(request.incoming.command.body) &&
                   !request.on_read;
        });
    }
    bool const exists =
        state_->lifecycle != Lifecycle::none && state_->lifecycle != Lifecycle::deleted;
    // The first command of a new driver settles what the previous one left in doubt (rule 3).
    if (exists && drives()) {
        Request adopt;
        adopt.incoming.at = services_.schedule.now();
        adopt.incoming.random = services_.entropy.random();
        Adopt body = adoption();
        if (read.lost) add_own_intents(*state_, services_.nodes.epoch(), body);
        adopt.incoming.command.body = std::move(body);
        adopt.reply = [](Result<Answer>) {};
        inbox_.insert(inbox_.begin(), std::move(adopt));
    }
    look_up();
}

Adopt Lane::adoption() const {
    CHECK(state_);
    Adopt out;
    for (auto const& [no, call] : state_->calls) {
        bool const asks = call.phase == CallPhase::gating || call.phase == CallPhase::awaiting_gate;
        bool const missing = asks && !services_.agents.has_gate(gate_of(call));
        bool const named = missing && std::ranges::find(out.missing_gates, gate_of(call)) !=
                                          out.missing_gates.end();
        if (missing && !named) out.missing_gates.push_back(gate_of(call));
    }
    for (Epoch const epoch : intent_epochs(*state_)) {
        if (services_.nodes.gone(epoch)) out.gone.push_back(epoch);
    }
    return out;
}

// Reads closed things that waiting commands name, before they are decided. Exact, because closed
// things never change.
void Lane::look_up() {
    unless_exhausted([&] { look_up_closed(); });
}

void Lane::look_up_closed() {
    CHECK(shut_ && state_);
    std::vector<std::pair<std::size_t, Wanted>> questions;
    for (std::size_t i = 0; i < inbox_.size(); ++i) {
        Request& request = inbox_[i];
        if (request.on_read || request.looked_up) continue;
        request.looked_up = true;
        Wanted wanted = session::wanted(*state_, request.incoming.command);
        if (wanted.receipt) {
            auto const known = closed_.find({wanted.receipt->call, wanted.receipt->generation});
            bool const same =
                known != closed_.end() && wanted.note && known->second.digest == *wanted.note;
            if (same) wanted.receipt.reset();
        }
        if (earlier_.contains(wanted.earlier)) wanted.earlier.clear();
        if (progress_.contains(wanted.progress)) wanted.progress.clear();
        if (taken_.contains(wanted.taken)) wanted.taken.clear();
        want_totals(request.incoming, wanted);
        bool const nothing = !wanted.receipt && wanted.earlier.empty() && wanted.progress.empty() &&
                             wanted.taken.empty() && wanted.totals.empty();
        if (!nothing) questions.emplace_back(i, std::move(wanted));
    }
    if (questions.empty()) return decide_batch();
    auto const places =
        std::make_shared<std::vector<std::pair<std::size_t, Wanted>>>(std::move(questions));
    auto read = [id = id_, base = state_->base.through,
                 places](port::JournalStore& store) -> Result<std::vector<Found>> {
        std::vector<Found> out;
        for (auto const& [place, wanted] : *places) {
            auto found = read_found(store, id, wanted, base);
            if (!found) return std::unexpected(std::move(found.error()));
            out.push_back(std::move(*found));
        }
        return out;
    };
    port::ask(
        services_.journal, std::move(read),
        [self = shared_from_this(), places](Result<std::vector<Found>> found) {
            if (!found) return self->look_again(found.error());
            for (std::size_t i = 0; i < places->size(); ++i) {
                self->inbox_[(*places)[i].first].found = std::move((*found)[i]);
            }
            self->decide_batch();
        },
        port::read_key(id_));
}

// Decides the waiting commands, in order, into one append. Commands that came while closed things
// were being read wait for the next.
void Lane::decide_batch() {
    unless_exhausted([&] { decide_waiting(); });
}

void Lane::decide_waiting() {
    CHECK(shut_ && state_);
    CHECK(fresh_.empty() && leaving_.empty());  // no append of this session is under way
    if (lost_its_driver()) {
        keep_waiting(std::exchange(inbox_, {}));
        return load();
    }
    if (messages_in_doubt_) return_messages();
    // An Adopt that was queued before a drain, or before this process took part under a new epoch,
    // would start runs again.
    if (!drives()) std::erase_if(inbox_, adopts);
    Draft draft;
    draft.append.session = id_;
    draft.append.epoch = services_.nodes.epoch();
    draft.drives = drives();
    draft.append.after = state_->head;
    draft.append.stamp = newest_.stamp;
    counted_ = meter_of(*state_);
    notes_.clear();
    std::vector<Request> waiting = std::exchange(inbox_, {});
    leaving_.reserve(waiting.size());
    auto next = waiting.begin();
    try {
        while (next != waiting.end() && draft.bytes < append_bytes_max) {
            if (!next->on_read && !next->looked_up) break;
            bool const repair =
                rows_ && std::holds_alternative<Repair>(next->incoming.command.body);
            decide_one(*next, draft);
            ++next;
            take_computed(draft);
            if (repair) break;  // what was looked up for the other commands is outdated
        }
    } catch (std::logic_error const& misfit) {
        keep_waiting({std::make_move_iterator(next), std::make_move_iterator(waiting.end())});
        std::string const why = std::string("Its state contradicts itself: ") + misfit.what() + ".";
        return forget(unreadable(id_, {Code::internal, why}));
    } catch (std::bad_alloc const&) {
        keep_waiting({std::make_move_iterator(next), std::make_move_iterator(waiting.end())});
        throw;
    }
    keep_waiting({std::make_move_iterator(next), std::make_move_iterator(waiting.end())});
    if (draft.records.empty() && !must_write_driver()) return compare(late_after);
    send(std::move(draft));
}

// Puts `rest` in front of newer commands. Its look-ups are dropped: they are older than the append
// in progress.
void Lane::keep_waiting(std::vector<Request> rest) {
    if (rest.empty()) return;
    for (Request& request : rest) {
        request.looked_up = false;
        request.found = {};
    }
    std::ranges::move(inbox_, std::back_inserter(rest));
    inbox_ = std::move(rest);
}

// Removes the outbox row in the same append, and remembers the message by its key.
void Lane::take_up(OutboxKey const& message, Command const& command, Decision const& decision,
                   port::Append& append) {
    CHECK(!decision.events.empty());
    std::string key = taken_key(command);
    taken_.insert(key);
    append.keys.push_back({std::move(key), decision.events.front().seq});
    append.taken.push_back({message.from, message.seq, message.n});
}

void Lane::decide_one(Request& request, Draft& draft) {
    CHECK(shut_ && state_);
    trace();
    auto const leave = [&](Result<Answer> answer, std::shared_ptr<Attachments> attachments) {
        leaving_.emplace_back(std::move(request), std::move(answer), std::move(attachments));
    };
    if (request.on_read) return leave(Answer{}, nullptr);
    if (!may_touch(request.incoming.rights)) return leave(not_found(), nullptr);
    Context context = context_of(request);
    context.drives = draft.drives && is_here();  // a command of this turn may have moved it
    if (!check_values(request, context)) return set_aside(std::move(request));
    auto attachments = std::make_shared<Attachments>(take_attachments(request.incoming.command));
    auto const quarantined = quarantined_in(*state_);
    Decision decision = decide(*state_, request.incoming.command, context);
    CHECK(state_->id == id_);
    services_.numbers.take(decision.sessions);
    auto answer = std::move(decision.answer);
    write_down(request, *attachments, quarantined, std::move(decision), draft);
    leave(std::move(answer), std::move(attachments));
}

void Lane::write_down(Request const& request, Attachments const& attachments,
                      std::vector<InboxItem> const& quarantined, Decision decision, Draft& draft) {
    CHECK(state_);
    for (OutboxMessage const& message : decision.outbox)
        draft.append.outbox.push_back(outbox_row(*state_, message, request.incoming.at));
    if (decision.took) take_up(*decision.took, request.incoming.command, decision, draft.append);
    add_attachments(attachments, decision.events, draft.append);
    add_rewritten(attachments, *state_, decision.events, draft.append);
    add_quarantined(quarantined, *state_, decision.events, draft.append);
    add_rules(decision, draft.append);
    std::size_t const before = draft.records.size();
    for (Event& event : decision.events) {
        remember_closed(event);
        for (std::string& key : keys_of(event))
            draft.append.keys.push_back({std::move(key), event.seq});
        if (auto line = wire::audit_line(id_, event))
            draft.append.audit.push_back(std::move(*line));
        draft.records.push_back(wire::record(id_, std::move(event)));
        draft.bytes += draft.records.back()->data.size();
    }
    for (KeptArtifact& kept : decision.artifacts) {
        CHECK(kept.bytes);
        draft.bytes += kept.bytes->size();
        draft.append.artifacts.push_back({kept.seq, std::move(kept.bytes)});
    }
    for (PendingChange const& change : decision.pending)
        draft.append.pending.push_back(pending_row(change));
    auto const mine = std::span<wire::RecordPtr const>(draft.records).subspan(before);
    for (port::OutboxRow& row : services_.messages.outgoing(*state_, mine, decision.pending))
        draft.append.outbox.push_back(std::move(row));
}

void Lane::send(Draft draft) {
    CHECK(shut_ && state_);
    trace();
    State const& state = *state_;
    CHECK(state.head <= limits::seq_max);
    port::Append& append = draft.append;
    CHECK(state.head == append.after + draft.records.size());
    next_driver_.reset();
    if (draft.drives || driver_ == append.epoch)
        next_driver_ = outstanding(state).empty() ? 0 : append.epoch;
    if (next_driver_) append.drive = *next_driver_ != 0 ? port::Drive::keep : port::Drive::leave;
    append.frame.first = append.after + 1;
    if (draft.records.empty()) return write(std::move(append));
    append.frame.count = static_cast<std::uint32_t>(draft.records.size());
    append.frame.bytes = wire::pack(id_, draft.records);
    append.wake_at = wake_at(state);
    append.wake_changed = !wake_known_ || append.wake_at != stored_wake_;
    append.row = changed_row(state, draft.records, stored_turn_);
    append.claims_alias = claims_alias(draft.records);
    append.erase = state.lifecycle == Lifecycle::deleted;
    append.day_sums = day_sums(draft.records);
    if (append.after == 0) append.create_key = create_key_;
    snapshots_.appended(append.frame.bytes.size());
    if (!append.erase && (snapshots_.due() || append.base || append.rewrite)) add_snapshot(append);
    stored_wake_ = append.wake_at;
    stored_turn_ = row_turn(state);
    wake_known_ = true;
    if (rows_) rebuild_rows(append);
    cut_ = append.base || append.rewrite;
    fresh_ = std::move(draft.records);
    sending_ = append.outbox;
    write(std::move(append));
}

void Lane::write(port::Append append) {
    CHECK(shut_);
    auto done = [self = shared_from_this(),
                 given_at = services_.schedule.monotonic()](port::AppendResult durable) {
        if (durable) self->confirmed_at_ = given_at;
        self->committed(std::move(durable));
    };
    services_.writer.append(std::move(append), std::move(done));
}

// Rows that this append itself adds are newer than those read from the journal.
void Lane::rebuild_rows(port::Append& append) {
    CHECK(rows_);
    append.rows_rebuilt = true;
    append.rebuilt_after = state_->base.through;
    auto const rows = *std::exchange(rows_, {});
    for (port::PendingRow const& row : rows.pending) {
        bool const newer = std::ranges::any_of(append.pending, [&](port::PendingRow const& one) {
            return one.call == row.call && one.generation == row.generation;
        });
        if (!newer) append.pending.push_back(row);
    }
    append.keys.insert(append.keys.end(), rows.keys.begin(), rows.keys.end());
    append.row = session_row(*state_);
    add_snapshot(append);
}

void Lane::add_snapshot(port::Append& append) {
    CHECK(state_);
    append.snapshot =
        port::SnapshotRow{state_->head, wire::snapshot_format, wire::write_state(*state_)};
    snapshots_.taken(append.snapshot->state.size());
}

void Lane::committed(port::AppendResult durable) {
    CHECK(shut_ && state_);
    using Cause = port::AppendError::Cause;
    bool const moved = !durable && durable.error().cause == Cause::moved;
    if (moved && moved_ < moved_max) return unless_exhausted([&] { decide_again(); });
    if (!durable && durable.error().cause == Cause::fenced) services_.observer.fenced();
    if (!durable) return forget(durable.error());
    CHECK(state_->head == newest_.head + fresh_.size());
    newest_ = {state_->head, *durable};
    if (next_driver_ && has_lost_driver()) services_.observer.took_over();
    driver_ = next_driver_.value_or(driver_);
    if (is_late(late_after) && begins_run()) read_before_effects();
    unless_exhausted([&] { take_up_commit(); });
}

void Lane::take_up_commit() {
    CHECK(shut_ && state_);
    if (fresh_.empty()) return release();  // only the driver was written
    CHECK(fresh_.back()->event.seq == state_->head);
    remember(fresh_);
    if (std::exchange(cut_, false)) forget_cut();
    take_up_rules();
    services_.observer.appended(*this, std::exchange(fresh_, {}));
    if (!sending_.empty()) services_.messages.outbox_added(std::exchange(sending_, {}));
    release();
}

namespace {

// A callback may run out of memory. That request alone fails: destroying the function tells its
// caller that there is no answer.
template <class Answer>
void call(port::Fn<void(Result<Answer>)>& reply, std::type_identity_t<Result<Answer>> answer) {
    try {
        reply(std::move(answer));
    } catch (std::bad_alloc const&) {  // NOLINT(bugprone-empty-catch): see above
    }
}

void call(port::Fn<void()>& wake) {
    try {
        wake();
    } catch (std::bad_alloc const&) {  // NOLINT(bugprone-empty-catch): as above
    }
}

}  // namespace

void Lane::release() {
    trace();
    CHECK(shut_ && state_ && fresh_.empty());
    moved_ = 0;
    for (Decided& out : std::exchange(leaving_, {})) {
        if (out.request.on_read) {
            bool const exists =
                state_->lifecycle != Lifecycle::none && state_->lifecycle != Lifecycle::deleted;
            call(out.request.on_read, exists ? Result<Lane const*>(this) : not_found());
        } else {
            call(out.request.reply, std::move(out.answer));
        }
    }
    auto const watchers = watchers_;
    for (auto const& [id, wake] : watchers) {
        if (watchers_.contains(id)) call(*wake);
    }
    if (outdated_)
        drop_memory();  // what it names may be of a history that is lost
    else
        dispatch();
    reopen();
}

// Drops from memory what retention or a redaction has removed.
void Lane::forget_cut() {
    CHECK(shut_ && state_);
    Seq const through = std::max(state_->base.through, state_->redacted);
    std::erase_if(recent_, [&](auto const& record) { return record->event.seq <= through; });
    recent_bytes_ = 0;
    for (wire::RecordPtr const& record : recent_) recent_bytes_ += weight_of(*record);
    closed_.clear();
    earlier_.clear();
    progress_.clear();
}

// The disk may or may not hold what memory holds. Drops the state; it is read again when needed.
// Running effects continue: an outcome is a command like any other.
void Lane::forget(Error const& error) {
    CHECK(shut_);
    services_.observer.store_failed(error);
    drop_memory();
    moved_ = 0;
    auto const refuse = [&error](Request& request) {
        request.on_read ? call(request.on_read, std::unexpected(error))
                        : call(request.reply, std::unexpected(error));
    };
    for (Decided& out : std::exchange(leaving_, {})) refuse(out.request);
    for (Request& request : std::exchange(inbox_, {})) refuse(request);
    reopen();
}

void Lane::reopen() {
    CHECK(shut_ && leaving_.empty());
    if (!inbox_.empty() && shared_turns_ > 0) return let_others_append();
    shut_ = false;
    if (!inbox_.empty()) return turn();
    if (state_) {
        if (auto const at = next_time()) services_.schedule.wake_soon(id_, *at);
    }
    if (may_sleep()) services_.observer.rested(id_);
}

bool Lane::may_sleep() const {
    return !shut_ && inbox_.empty() && checking_ == 0 && running_.empty() && watchers_.empty();
}

std::optional<std::string> Lane::missing_gate() const {
    if (!state_ || state_->awaiting_gate.empty()) return std::nullopt;
    return gate_of(state_->calls.at(*state_->awaiting_gate.begin()));
}

std::uint64_t Lane::watch(port::Fn<void()> wake) {
    CHECK(wake);
    watchers_.emplace(++next_watcher_, std::make_shared<port::Fn<void()>>(std::move(wake)));
    return next_watcher_;
}

void Lane::unwatch(std::uint64_t id) {
    watchers_.erase(id);
    if (may_sleep()) services_.observer.rested(id_);
}

void Lane::abandon() {
    abandoned_ = true;
    inbox_.clear();
    leaving_.clear();
    watchers_.clear();
}

}  // namespace dormouse::runner
