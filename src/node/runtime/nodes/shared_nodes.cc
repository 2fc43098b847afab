#include "runtime/nodes/shared_nodes.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace dormouse::runtime {

using runner::Membership;

namespace {

using Table = std::vector<port::NodeRow>;

// Whether a process of `before` has no share of what is due any more.
bool one_left(Table const& before, Table const& now) {
    return std::ranges::any_of(before, [&](port::NodeRow const& row) {
        auto const found = std::ranges::find(now, row.epoch, &port::NodeRow::epoch);
        return !row.draining && (found == now.end() || found->draining);
    });
}

}  // namespace

template <class Ask, class Use> void SharedNodes::on_thread(Ask ask, Use use) {
    using Answer = decltype(ask());
    auto const answer = std::make_shared<Answer>(fail(Code::store_unavailable, "was not asked"));
    auto job = [answer, ask = std::move(ask)](std::stop_token const& /*token*/) {
        *answer = ask();
    };
    auto done = [answer, use = std::move(use)](bool /*ran*/) { use(std::move(*answer)); };
    std::ignore = services_.thread.run(std::move(job), scope_.guard(std::move(done)));
}

void SharedNodes::start(Listener listener) {
    listener_ = std::move(listener);
    beat();
}

void SharedNodes::drain() { self_.draining = true; }

void SharedNodes::beat() {
    auto const ask = [this, self = self_]() -> Result<TimedReply> {
        auto const sent = clock_();
        auto beat = services_.store.beat(self);
        if (!beat) return std::unexpected(std::move(beat.error()));
        return TimedReply{*std::move(beat), sent, clock_()};
    };
    on_thread(ask, [this, epoch = self_.epoch, sent = clock_()](Result<TimedReply> reply) {
        answered(epoch, sent, std::move(reply));
        wait(clock_());
    });
}

// Waits until the next heartbeat is due, or a change must be sent with one.
void SharedNodes::wait(Duration since) {
    using Messages = Result<std::vector<std::string>>;
    auto const messages = std::make_shared<Messages>();
    Duration const limit = std::max(Duration(0), since + Membership::beat_every - clock_());
    auto job = [this, messages, limit](std::stop_token const& token) {
        std::stop_callback const ended(token, [this] { services_.channel.end_wait(); });
        *messages = services_.channel.receive(limit);
    };
    auto done = [this, messages, since](bool /*ran*/) { on_messages(*messages, since); };
    std::ignore = services_.thread.run(std::move(job), scope_.guard(std::move(done)));
}

// An empty text: a heartbeat brings the change.
void SharedNodes::on_messages(Result<std::vector<std::string>> const& messages, Duration since) {
    bool changed = false;
    bool const some = messages && !messages->empty();
    for (std::string const& text : messages.value_or(std::vector<std::string>())) {
        changed = changed || text.empty();
        if (!text.empty()) listener_.on_message(text);
    }
    Duration const now = clock_();
    Duration const due = since + (changed ? beat_apart : Membership::beat_every);
    if (some && !changed && due > now) return wait(since);
    services_.loop.after(std::max(Duration(0), due - now), scope_.guard([this] { beat(); }));
}

// An answer that took longer than the gap between heartbeats says nothing about the others: the
// next one begins to watch them again.
void SharedNodes::answered(Epoch epoch, Duration sent, Result<TimedReply> reply) {
    refused_ = reply ? 0 : refused_ + 1;
    refusal_ = reply ? std::nullopt : std::optional(reply.error());
    if (!reply) return;
    port::HeartbeatReply const& beat = reply->beat;
    listener_.measured(store_clock_.measured(reply->sent, reply->received, beat.clock));
    if (epoch != self_.epoch) return;
    if (!beat.taken) {
        members_.fenced();
        permission_.end();
        return listener_.fenced();
    }
    auto const before = std::exchange(table_, beat.nodes);
    std::vector<Membership::Node> table;
    for (port::NodeRow const& row : table_) table.push_back({row.epoch, row.counter, row.draining});
    for (auto const& unresponsive : members_.arrived(epoch, sent, clock_(), table)) {
        auto const row = std::ranges::find(table_, unresponsive.epoch, &port::NodeRow::epoch);
        if (row != table_.end()) remove(*row);
    }
    permission_.extend(sent + Membership::start_limit);
    listener_.on_heartbeat(beat);
    if (one_left(before, table_)) listener_.left();
}

void SharedNodes::remove(port::NodeRow const& unresponsive) {
    auto const ask = [this, unresponsive] { return services_.store.remove(unresponsive); };
    on_thread(ask, [this, epoch = unresponsive.epoch](Result<bool> done) {
        if (!done || !*done) return;
        members_.removed(epoch);
        std::erase_if(table_, [&](port::NodeRow const& row) { return row.epoch == epoch; });
        ++removed_;
        listener_.left();
    });
}

void SharedNodes::rejoin(port::Fn<void()> done) {
    auto const joined = std::make_shared<Epoch>(0);
    auto join = [this, joined](port::Store& /*store*/) -> Result<void> {
        auto const epoch = services_.store.join();
        if (!epoch) return std::unexpected(epoch.error());
        *joined = *epoch;
        return {};
    };
    auto use = [this, joined, done = std::move(done)](Result<void> const& result) mutable {
        if (!result) {
            auto again = [this, done = std::move(done)]() mutable { rejoin(std::move(done)); };
            return services_.loop.after(rejoin_again, scope_.guard(std::move(again)));
        }
        self_.epoch = *joined;
        members_.rejoined();
        permission_.end();
        ++fenced_;
        done();
        listener_.joined();
    };
    services_.journal.write(std::move(join), scope_.guard(std::move(use)));
}

}  // namespace dormouse::runtime
