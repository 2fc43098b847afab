// A lane reads and decides again if its memory may differ from the store, because another process
// appends to the same session.
#include "runner/lane/lane.h"

#include "base/check.h"
#include "runner/lane/rows.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

bool Lane::adopts(Request const& request) {
    return !request.on_read && std::holds_alternative<Adopt>(request.incoming.command.body);
}

namespace {

// A submission in the inbox that came as a webhook.
struct Delivered {
    std::size_t place = 0;
    PendingId call;
    std::vector<Bits128> keys;
};

// Returns true if another call has the delivery. A kept delivery is known, too, and may get its
// call between the two reads.
Result<bool> has_call(port::Store& store, Bits128 const& key) {
    auto const digest = store.delivered(key);
    if (!digest) return std::unexpected(digest.error());
    if (!*digest) return false;
    auto const kept = store.kept_delivery(key);
    if (!kept) return std::unexpected(kept.error());
    return !kept->has_value();
}

// Returns true if the call waits, and another one has its delivery. A settled call has its own
// answer, with the receipt.
Result<bool> is_taken(port::Store& store, Delivered const& one) {
    auto const& call = one.call;
    auto const row = store.pending(call.session, call.call, call.generation);
    if (!row) return std::unexpected(row.error());
    if (!*row || (*row)->status != port::PendingStatus::waiting) return false;
    for (Bits128 const& key : one.keys) {
        auto known = has_call(store, key);
        if (!known || *known) return known;
    }
    return false;
}

// Returns the places of those whose delivery another call has, from the last one.
Result<std::vector<std::size_t>> find_taken(port::Store& store,
                                            std::vector<Delivered> const& submissions) {
    std::vector<std::size_t> out;
    for (Delivered const& one : submissions) {
        auto const taken = is_taken(store, one);
        if (!taken) return std::unexpected(taken.error());
        if (*taken) out.insert(out.begin(), one.place);
    }
    return out;
}

}  // namespace

// Another append came first: reads what is stored now, and decides the same requests on it. They
// keep their time and their random bytes. The store also refuses an append with a delivery that
// another call has: the submission is a duplicate.
void Lane::decide_again() {
    CHECK(shut_);
    ++moved_;
    std::vector<Request> again;
    for (Decided& decided : std::exchange(leaving_, {})) {
        Request& request = decided.request;
        if (adopts(request)) continue;  // load() adds it
        if (decided.attachments)
            give_attachments(std::move(*decided.attachments), request.incoming.command);
        request.check = {};
        again.push_back(std::move(request));
    }
    keep_waiting(std::move(again));
    drop_memory();
    return_messages();
    std::vector<Delivered> submissions;
    for (std::size_t i = 0; i < inbox_.size(); ++i) {
        auto const* const submit = std::get_if<Submit>(&inbox_[i].incoming.command.body);
        if (submit && !submit->delivery_keys.empty())
            submissions.push_back({i, submit->pending, submit->delivery_keys});
    }
    if (submissions.empty()) return load_again();
    auto question = [submissions = std::move(submissions)](port::Store& store) {
        return find_taken(store, submissions);
    };
    auto use = [self = shared_from_this()](Result<std::vector<std::size_t>> const& taken) {
        if (!taken) return self->forget(taken.error());
        std::vector<Request> duplicates;
        for (std::size_t const place : *taken) {
            auto const at = self->inbox_.begin() + static_cast<std::ptrdiff_t>(place);
            duplicates.push_back(std::move(*at));
            self->inbox_.erase(at);
        }
        for (Request& one : duplicates) one.reply(Answer{.outcome = Answer::Outcome::duplicate});
        self->unless_exhausted([&] { self->load_again(); });
    };
    port::ask(services_.journal, std::move(question), std::move(use), port::read_key(id_));
}

namespace {

// Random, so that processes that append to one session do not keep step.
Duration between(Duration least, Duration most, Random const& random) {
    auto const steps = static_cast<std::uint64_t>((most - least).count()) + 1;
    return least + Duration(static_cast<Duration::rep>((random[0] * 256U + random[1]) % steps));
}

constexpr Duration load_delay_min{1};
constexpr Duration load_delay_max{32};
constexpr Duration share_min{2};  // what another process needs to read a session and to append
constexpr Duration share_max{6};

}  // namespace

// The longer it has been in vain, the longer it waits.
void Lane::load_again() {
    CHECK(shut_ && moved_ > 0);
    if (moved_ >= contested_from) shared_turns_ = turns_shared;
    if (moved_ <= moved_at_once) return load();
    auto const most = std::min(load_delay_max, Duration(2) * (moved_ - moved_at_once));
    services_.schedule.after(
        between(load_delay_min, most, services_.entropy.random()),
        [self = shared_from_this()] { self->unless_exhausted([&] { self->load(); }); });
}

// A process whose memory is up to date would always append before those that must read first.
void Lane::let_others_append() {
    CHECK(shut_ && shared_turns_ > 0);
    --shared_turns_;
    services_.schedule.after(between(share_min, share_max, services_.entropy.random()),
                             [self = shared_from_this()] {
                                 self->shut_ = false;
                                 self->turn();
                             });
}

// The rows found contradict memory: another process may have cut the history meanwhile.
void Lane::look_again(Error const& error) {
    CHECK(shut_);
    bool const outdated = !services_.nodes.alone() && error.code == Code::internal;
    if (!outdated || moved_ == moved_max) return forget(error);
    ++moved_;
    std::erase_if(inbox_, adopts);  // load() adds it
    keep_waiting(std::exchange(inbox_, {}));
    drop_memory();
    load_again();
}

// Compares numbers and stamp: frames of others arrive in any order, and more than once.
bool Lane::has(port::Frame const& frame) const {
    if (!state_ || frame.count == 0) return false;
    Seq const last = frame.first + frame.count - 1;
    return newest_.head > last ||
           (newest_.head == last && newest_.stamp == port::stamp_of(id_, frame));
}

// Answers that no append carries leave only if memory is what the store holds. A late comparison
// says nothing about a run that is about to start (is_late): it is made again. A store that is slow
// for long delays the start by little, because each repetition may take twice as long.
void Lane::compare(Duration late_after) {
    CHECK(shut_ && state_ && fresh_.empty());
    auto use = [self = shared_from_this(), late_after,
                begun_at = services_.schedule.monotonic()](Result<bool> fresh) {
        if (!fresh) return self->forget(fresh.error());
        if (*fresh) self->confirmed_at_ = begun_at;
        if (*fresh && self->is_late(late_after) && self->begins_run())
            return self->compare(2 * late_after);
        if (*fresh) return self->release();
        if (self->moved_ == moved_max) return self->forget(port::moved(self->id_).error());
        self->unless_exhausted([&] { self->decide_again(); });
    };
    services_.freshness.compare(id_, newest_, std::move(use));
}

// Returns true if this process does the session's outstanding work. A draining one begins nothing
// more: its appends contain outcomes and no intents, so that another process continues.
bool Lane::drives() const {
    if (services_.schedule.draining() || !is_here()) return false;
    if (driver_ == 0) return !is_held_elsewhere();
    return driver_ == services_.nodes.epoch() || services_.nodes.gone(driver_);
}

Epoch Lane::holder_of(Call const& call) const {
    port::Nodes const& nodes = services_.nodes;
    Json const& kept = call.pause ? call.pause->terms.state : call.kept;
    if (nodes.alone() || kept.is_null()) return 0;
    Epoch const holder = services_.effects.holder(call.spec.tool, kept);
    return holder == nodes.epoch() || nodes.works(holder) ? holder : 0;
}

// Returns true if only another process can continue a call with its answer. Polls need no driver:
// poll_delay().
bool Lane::is_held_elsewhere() const {
    return state_ && std::ranges::any_of(state_->calls, [&](auto const& one) {
               Call const& call = one.second;
               if (call.pause && call.pause->terms.poll_every) return false;
               Epoch const holder = holder_of(call);
               return holder != 0 && holder != services_.nodes.epoch();
           });
}

bool Lane::holds() const {
    return state_ && std::ranges::any_of(state_->calls, [&](auto const& one) {
               return holder_of(one.second) == services_.nodes.epoch();
           });
}

// Returns true if what the session's agent keeps can be on this machine.
bool Lane::is_here() const {
    port::Nodes const& nodes = services_.nodes;
    if (!state_ || state_->node.empty() || nodes.alone() || state_->node == nodes.name())
        return true;
    return !services_.agents.is_placed(state_->agent);
}

// The process that did the outstanding work does it no longer.
bool Lane::has_lost_driver() const {
    return driver_ != 0 && driver_ != services_.nodes.epoch() && services_.nodes.gone(driver_);
}

// Its driver is gone: the session is read again, and what the driver left in doubt is settled.
bool Lane::takes_over() const {
    return !services_.schedule.draining() && is_here() && has_lost_driver();
}

// Returns when something is due for people in a session that no process drives, because it waits
// for its node.
std::optional<Time> Lane::next_for_people() const {
    CHECK(state_);
    if (is_here() || (driver_ != 0 && !has_lost_driver())) return std::nullopt;
    bool const active = state_->lifecycle == Lifecycle::active;
    for (Timer const& timer : state_->timers) {
        bool const for_people = timer.kind == TimerKind::near || timer.kind == TimerKind::remind ||
                                timer.kind == TimerKind::mail;
        if (timer.kind == TimerKind::deadline || (active && for_people)) return timer.at;
    }
    return std::nullopt;
}

std::optional<Time> Lane::waits_elsewhere(Time now) const {
    if (!state_ || is_here()) return std::nullopt;
    Time const again = now + elsewhere_every;
    return std::min(next_for_people().value_or(again), again);
}

// Its driver was declared gone after this turn of the lane began, so that nothing settles what the
// driver left in doubt.
bool Lane::lost_its_driver() const { return takes_over() && std::ranges::none_of(inbox_, adopts); }

// The store names another driver than it must, and no event goes there.
bool Lane::must_write_driver() const {
    CHECK(state_);
    Epoch const own = services_.nodes.epoch();
    Epoch const driver = outstanding(*state_).empty() ? 0 : own;
    return !services_.nodes.alone() && (drives() || driver_ == own) && driver_ != driver;
}

bool Lane::wants_tick(Time now, std::optional<port::Due> const& stored) const {
    if (shut_ || !inbox_.empty()) return false;
    if (!state_ || takes_over()) return true;
    if (stored && (stored->head != state_->head || stored->driver != driver_)) return true;
    if (!drives()) {
        auto const due = next_for_people();
        return (due && *due <= now) || !polls_to_make(now).empty();
    }
    if (stalled(*state_)) return true;  // it was moved here
    for (auto const& [id, effect] : outstanding(*state_)) {
        if (!running_.contains(id)) return true;
    }
    auto const at = next_time();
    return at && *at <= now;
}

// Returns true if the newest answer of the store took so long that it may be outdated: since it was
// given, the store may have lost what it says (a standby was promoted), and another process may
// have continued the session.
bool Lane::is_late(Duration after) const {
    return !services_.nodes.alone() && services_.schedule.monotonic() - confirmed_at_ > after;
}

// Returns true if a tool or an external agent is about to start. Other effects may run twice.
bool Lane::begins_run() const {
    CHECK(state_);
    return may_start() && std::ranges::any_of(outstanding(*state_), [this](auto const& one) {
               auto const& [id, effect] = one;
               auto const* const ask = std::get_if<AskModel>(&effect.what);
               bool const is_run =
                   std::holds_alternative<RunTool>(effect.what) || (ask && ask->external);
               return is_run && !running_.contains(id);
           });
}

// Reads the session again after this turn, before effects start.
void Lane::read_before_effects() {
    CHECK(shut_);
    outdated_ = true;
    inbox_.push_back({{}, {}, [](Result<Lane const*> const& /*lane*/) {}});
}

void Lane::forget_state() {
    outdated_ = shut_;
    if (!shut_) drop_memory();
}

// Not those of an append that is under way. While closed things are looked up, nothing may leave
// the inbox.
void Lane::doubt_messages() {
    messages_in_doubt_ = shut_;
    if (!shut_) return_messages();
}

// If the store fell back to an earlier state, another message may have their place by now.
void Lane::return_messages() {
    messages_in_doubt_ = false;
    auto const messages = std::ranges::stable_partition(inbox_, [](Request const& request) {
        auto const& body = request.incoming.command.body;
        bool const is_message =
            std::holds_alternative<Deliver>(body) || std::holds_alternative<Undelivered>(body);
        return request.on_read || !is_message;
    });
    std::vector<Request> out(std::make_move_iterator(messages.begin()),
                             std::make_move_iterator(messages.end()));
    inbox_.erase(messages.begin(), messages.end());
    for (Request& one : out) {
        CHECK(one.reply);
        one.reply(fail(Code::precondition_failed, "The session changed meanwhile."));
    }
}

// Retention aside, frames do not disappear: the store fell back to an earlier state. An effect of
// the lost history may be made again under the same name, and the first one's outcome is not for
// it.
void Lane::drop_lost_effects() {
    CHECK(shut_);
    std::exchange(history_, std::make_shared<History>())->lost = true;
    for (EffectId const id : std::exchange(running_, {})) services_.effects.stop(id_, id);
    waiting_.clear();
    std::erase_if(inbox_, [](Request const& request) { return request.incoming.of_effect; });
}

void Lane::drop_memory() {
    CHECK(shut_ || (leaving_.empty() && fresh_.empty()));  // no append is under way
    outdated_ = false;
    if (state_ && !services_.nodes.alone()) known_ = newest_;
    state_.reset();
    newest_ = {};
    driver_ = 0;
    fresh_.clear();
    closed_.clear();
    earlier_.clear();
    progress_.clear();
    taken_.clear();
    sending_.clear();
    made_.clear();
    rule_uses_.clear();
    cut_ = false;
    rows_.reset();
    wake_known_ = false;
    stored_turn_.reset();
}

}  // namespace dormouse::runner
