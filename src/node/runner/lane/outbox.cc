#include "runner/lane/outbox.h"

#include "base/check.h"
#include "runner/read/reading.h"
#include "runner/repair/unreadable.h"
#include "wire/outbox_json.h"

#include <algorithm>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

Outbox::Outbox(Services services, Send send, Delivered on_delivered)
    : services_(std::move(services)),
      send_(std::move(send)),
      on_delivered_(std::move(on_delivered)) {}

void Outbox::add(std::vector<port::OutboxRow> rows) {
    // Another process may have stored earlier ones for the same receiver.
    if (!services_.alone) {
        doubt();
        return scan();
    }
    if (settled_ != doubts_) return;  // the scan finds them, in order with earlier ones
    if (known_.size() + rows.size() > known_max) return doubt();
    for (port::OutboxRow& message : rows) {
        CHECK(message.kind == "session");
        enqueue(std::move(message), true);
    }
}

void Outbox::enqueue(port::OutboxRow message, bool is_stored) {
    auto const to = SessionId::parse(message.target);
    if (!to) return;  // damaged row: it stays undelivered
    if (!known_.try_emplace(message.key, is_stored).second) return;
    Pair const pair{message.key.from, *to};
    Queue& queue = queues_[pair];
    queue.push_back(std::move(message));
    if (queue.size() == 1) begin(pair);
}

void Outbox::scan() {
    if (std::exchange(scanning_, true)) return;
    auto const limit = static_cast<std::uint32_t>(std::min(known_.size(), known_max)) + page;
    auto question = [limit](port::OutboxStore& store) {
        return store.due_messages("session", Time::max(), limit);
    };
    port::ask(services_.journal, std::move(question),
              scope_.guard([this, limit, doubts = doubts_](auto found) {
                  scanned(doubts, limit, std::move(found));
              }));
}

void Outbox::scanned(std::uint64_t doubts, std::uint32_t limit,
                     Result<std::vector<port::OutboxRow>> found) {
    CHECK(scanning_ && doubts <= doubts_);
    scanning_ = false;
    if (!found) return;
    bool const all = found->size() < limit;
    if (all) settled_ = std::max(settled_, doubts);
    CHECK(settled_ <= doubts_);
    for (port::OutboxRow& message : *found) {
        if (known_.size() < known_max) enqueue(std::move(message), false);
    }
    if (!services_.alone && all && doubts != doubts_) scan();
}

void Outbox::begin(Pair const& pair) {
    CHECK(queues_.contains(pair));
    if (on_their_way_ >= in_transit_max) return ready_.push_back(pair);
    ++on_their_way_;
    CHECK(on_their_way_ <= in_transit_max);
    attempt(pair);
}

// Posted to the loop: what starts here may be answered at once.
void Outbox::begin_next() {
    CHECK(on_their_way_ > 0);
    --on_their_way_;
    if (ready_.empty()) return;
    services_.loop.post(scope_.guard([this] {
        if (ready_.empty() || on_their_way_ >= in_transit_max) return;
        Pair const pair = ready_.front();
        ready_.pop_front();
        begin(pair);
    }));
}

// A message that may have been accepted already is neither delivered nor sent back before the store
// is asked: a receiver deleted meanwhile does not remember it, and one that refused it may accept
// it now.
void Outbox::attempt(Pair const& pair, int changed) {
    CHECK(on_their_way_ > 0);
    port::OutboxKey const key = queues_.at(pair).front().key;
    if (std::exchange(known_.at(key), false)) return deliver(pair, changed);
    auto question = [key](port::OutboxStore& store) { return store.outbox_message(key); };
    port::ask(services_.journal, std::move(question),
              scope_.guard([this, pair, key, changed](Result<std::optional<port::OutboxRow>> row) {
                  if (!row) return again(pair, false);
                  if (*row) return deliver_stored(pair, std::move(**row), changed);
                  on_delivered_({key.from, key.seq, key.n},
                                Answer{.outcome = Answer::Outcome::duplicate});
                  next(pair, false);
              }));
}

// If the store fell back to an earlier state, another message may have the key by now.
void Outbox::deliver_stored(Pair const& pair, port::OutboxRow row, int changed) {
    port::OutboxRow& message = queues_.at(pair).front();
    CHECK(message.key == row.key);
    if (row.target != message.target) return next(pair, false);  // the next scan finds it
    message = std::move(row);
    deliver(pair, changed);
}

void Outbox::deliver(Pair const& pair, int changed) {
    port::OutboxRow const& message = queues_.at(pair).front();
    CHECK(on_their_way_ > 0 && message.key.from == pair.first);
    auto what = wire::read_outbox_body(message.body);
    if (!what) return again(pair, true);  // from a newer release, which will deliver it
    Deliver command{{message.key.from, message.key.seq, message.key.n}, std::move(*what)};
    auto const* const run = std::get_if<StartRun>(&command.what);
    if (!run || !run->fork) return give(pair, std::move(command), changed);
    auto question = [key = command.key](port::JournalStore& store) {
        return read_past(store, key.from, key.seq);
    };
    auto give_past = [this, pair, changed, command = std::move(command)](
                         Result<std::optional<Create::ForkOf>> past) mutable {
        if (!past) return again(pair, is_unreadable(past.error()));
        command.past = *std::move(past);
        give(pair, std::move(command), changed);
    };
    port::ask(services_.journal, std::move(question), scope_.guard(std::move(give_past)));
}

void Outbox::give(Pair const& pair, Deliver command, int changed) {
    CHECK(command.key.from == pair.first);
    auto use = [this, pair, changed](Result<Answer> answer) {
        bool const once_more = !answer && answer.error().code == Code::precondition_failed;
        if (!once_more) return delivered(pair, std::move(answer));
        if (changed == attempts_at_once) return again(pair, false);
        attempt(pair, changed + 1);
    };
    send_(pair.second, std::move(command), {ActorType::session, pair.first.text()},
          scope_.guard(std::move(use)));
}

void Outbox::delivered(Pair const& pair, Result<Answer> answer) {
    // A full inbox is reported at once: the sender may be able to act on it.
    bool const later = !answer && info(answer.error().code).next == Next::retry &&
                       answer.error().code != Code::inbox_full;
    if (later) return again(pair, is_unreadable(answer.error()));
    port::OutboxKey const& key = queues_.at(pair).front().key;
    CHECK(on_their_way_ > 0 && known_.contains(key));
    on_delivered_({key.from, key.seq, key.n}, answer);
    if (answer) return next(pair, answer->outcome == Answer::Outcome::duplicate);
    send_back(pair, answer.error());
}

void Outbox::send_back(Pair const& pair, Error const& why) {
    port::OutboxRow const& message = queues_.at(pair).front();
    CHECK(message.key.from == pair.first);
    auto what = wire::read_outbox_body(message.body);
    if (!what) return again(pair, true);
    OutboxKey const key{message.key.from, message.key.seq, message.key.n};
    Undelivered back{
        key, pair.second, std::move(*what), {std::string(info(why.code).text), why.detail}};
    send_(
        pair.first, std::move(back), {ActorType::runtime, ""},
        scope_.guard([this, pair](Result<Answer> answer) { sent_back(pair, std::move(answer)); }));
}

// A sender that is gone does not get the message back.
void Outbox::sent_back(Pair const& pair, Result<Answer> answer) {
    if (answer) return next(pair, answer->outcome == Answer::Outcome::duplicate);
    auto const code = answer.error().code;
    if (info(code).next == Next::retry || code == Code::precondition_failed)
        return again(pair, is_unreadable(answer.error()));
    next(pair, true);
}

// A row that could not be removed is found by the next scan and is a duplicate then.
void Outbox::next(Pair const& pair, bool remove) {
    auto const queue = queues_.find(pair);
    CHECK(queue != queues_.end() && !queue->second.empty());
    port::OutboxKey const done = queue->second.front().key;
    CHECK(known_.contains(done));
    queue->second.pop_front();
    unreadable_.erase(pair);
    bool const more = !queue->second.empty();
    if (!more) queues_.erase(queue);
    if (more) {
        attempt(pair);
    } else {
        begin_next();
    }
    if (!remove) {
        known_.erase(done);
        return;
    }
    auto work = [done](port::OutboxStore& store) {
        port::OutboxUpdate update;
        update.key = done;
        update.gone = true;
        return store.update_messages({&update, 1});
    };
    services_.journal.write(std::move(work),
                            scope_.guard([this, done](Result<void> const& removed) {
                                known_.erase(done);
                                if (!removed && services_.failed) services_.failed(removed.error());
                            }));
}

void Outbox::again(Pair const& pair, bool unreadable) {
    CHECK(queues_.contains(pair));  // its oldest message stays
    begin_next();
    if (!unreadable) {
        unreadable_.erase(pair);
        return services_.loop.after(retry_every, scope_.guard([this, pair] { begin(pair); }));
    }
    Unreadable& waits = unreadable_[pair];
    waits.delay = std::clamp(2 * waits.delay, retry_every, unreadable_every_max);
    waits.number = ++attempts_;
    services_.loop.after(waits.delay, scope_.guard([this, pair, number = waits.number] {
        begin_waiting(pair, number);
    }));
}

// Does nothing if that attempt was already made.
void Outbox::begin_waiting(Pair const& pair, std::uint64_t number) {
    auto const found = unreadable_.find(pair);
    if (found == unreadable_.end() || found->second.number != number) return;
    found->second.number = 0;
    begin(pair);
}

void Outbox::retry(SessionId session) {
    for (auto& [pair, waits] : unreadable_) {
        bool const its = pair.first == session || pair.second == session;
        if (!its || waits.number == 0) continue;
        waits.delay = {};
        services_.loop.post(
            scope_.guard([this, pair, number = waits.number] { begin_waiting(pair, number); }));
    }
}

}  // namespace dormouse::runner
