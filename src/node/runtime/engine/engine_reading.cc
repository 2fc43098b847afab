#include "runner/read/read_history.h"
#include "runtime/engine/engine.h"
#include "runtime/views.h"

#include <mutex>

// Read operations: sessions, messages and events.
namespace dormouse {

namespace {

constexpr std::size_t pieces_max = 10'000;  // of text, for one slow observer; further ones are
                                            // dropped

bool at_rest(session::State const& state) {
    auto const now = activity(state);
    return now == session::Activity::idle || now == session::Activity::waiting_async;
}

}  // namespace

// Waits until the session is idle or sleeps, or until its time is up. On the loop.
struct Runtime::Engine::Resting {
    std::shared_ptr<runner::Lane> lane;
    std::uint64_t watch = 0;
    std::optional<runtime::Reply<SessionView>> reply;

    void end() { end(lane ? runtime::session_view(lane->state()) : SessionView{}); }
    void end(Result<SessionView> with) {
        if (!reply) return;
        if (auto const kept = std::exchange(lane, nullptr)) kept->unwatch(watch);
        auto then = std::move(*reply);
        reply.reset();
        then(std::move(with));
    }
};

// A reader of one session. On the loop, except what the mutex protects.
struct Runtime::Engine::Follow {
    SessionId session;
    Seq next = 1;
    std::shared_ptr<runner::Lane> lane;
    std::uint64_t watch = 0;
    bool busy = false;   // events are being delivered to the observer
    bool stale = false;  // more events came meanwhile
    // Recursive: the observer may end its own subscription while it runs.
    std::recursive_mutex mutex;
    bool ended = false;  // protected by mutex
    std::function<void(Event const&)> observer;
    std::function<void(std::string const&)> on_text;
    std::vector<std::string> pieces;  // of text, not yet delivered
    bool speaking = false;            // some are being delivered

    // On a callback thread. False: the subscription has ended.
    template <class T, class F>
    bool show(runtime::Notes& notes, std::vector<T> const& what, F const& to) {
        for (T const& one : what) {
            std::lock_guard const lock(mutex);
            if (!ended) ended = !notes.guard("an observer", [&] { to(one); });
            if (ended) return false;
        }
        return true;
    }
    // On the loop.
    void let_go() {
        if (auto const kept = std::exchange(lane, nullptr)) kept->unwatch(watch);
    }
};

// On the loop. The runtime ends: answers callers that wait for a session, and releases the readers'
// lanes.
void Runtime::Engine::let_go() {
    for (auto const& weak : std::exchange(resting_, {})) {
        if (auto const one = weak.lock()) one->end(std::unexpected(runtime::ended()));
    }
    for (auto const& weak : std::exchange(follows_, {})) {
        if (auto const one = weak.lock()) one->let_go();
    }
}

void Runtime::Engine::read_view(SessionId session, runtime::Reply<SessionView> reply) {
    node_.runner.read_lane(
        session, [reply = std::move(reply)](Result<std::shared_ptr<runner::Lane>> lane) mutable {
            if (!lane) return reply(std::unexpected(std::move(lane.error())));
            reply(runtime::session_view((*lane)->state()));
        });
}

void Runtime::Engine::wait_idle(SessionId session, Duration limit,
                                runtime::Reply<SessionView> reply) {
    node_.runner.read_lane(session, [this, limit, reply = std::move(reply)](
                                        Result<std::shared_ptr<runner::Lane>> lane) mutable {
        if (!lane) return reply(std::unexpected(std::move(lane.error())));
        if (at_rest((*lane)->state())) return reply(runtime::session_view((*lane)->state()));
        auto const resting = std::make_shared<Resting>();
        resting->lane = *std::move(lane);
        resting->reply.emplace(std::move(reply));
        resting->watch = resting->lane->watch([resting] {
            if (resting->lane && at_rest(resting->lane->state())) resting->end();
        });
        std::erase_if(resting_, [](auto const& weak) { return weak.expired(); });
        resting_.push_back(resting);
        services_.loop.after(limit, [this, resting] {
            if (!resting->lane) return;
            // The read waits for appends before it, so the answer is durable.
            node_.runner.read_lane(
                resting->lane->id(),
                [resting](Result<std::shared_ptr<runner::Lane>>) { resting->end(); });
        });
    });
}

void Runtime::Engine::messages(SessionId session, runtime::Reply<std::vector<Message>> reply) {
    runner::read_history(node_.runner, session,
                         [reply = std::move(reply)](Result<runner::Snapshot> snapshot) mutable {
                             if (!snapshot)
                                 return reply(std::unexpected(std::move(snapshot.error())));
                             reply(runtime::messages(snapshot->history));
                         });
}

void Runtime::Engine::events(SessionId session, Seq after,
                             runtime::Reply<std::vector<Event>> reply) {
    node_.runner.read_events(
        session, after + 1,
        [session, reply = std::move(reply)](Result<runner::Runner::Read> read) mutable {
            if (!read) return reply(std::unexpected(std::move(read.error())));
            std::vector<Event> out;
            for (wire::RecordPtr const& record : read->records)
                out.push_back(runtime::event(session, *record));
            reply(std::move(out));
        });
}

void Runtime::Engine::follow(SessionId session, Seq after,
                             std::function<void(Event const&)> observer,
                             std::function<void(std::string const&)> on_text,
                             runtime::Reply<Following> reply) {
    auto const follow = std::make_shared<Follow>();
    follow->session = session;
    follow->next = after + 1;
    follow->observer = std::move(observer);
    follow->on_text = std::move(on_text);
    node_.runner.read_lane(session, [this, follow, reply = std::move(reply)](
                                        Result<std::shared_ptr<runner::Lane>> lane) mutable {
        if (!lane) return reply(std::unexpected(std::move(lane.error())));
        follow->lane = *std::move(lane);
        std::erase_if(follows_, [](auto const& weak) { return weak.expired(); });
        follows_.push_back(follow);
        if (follow->on_text) listeners_[follow->session].push_back(follow);
        follow->watch = follow->lane->watch([this, follow] {
            if (follow->lane && follow->lane->state().head >= follow->next) pump(follow);
        });
        // The last copy of this ends the subscription, on any thread.
        auto end = [callbacks = callbacks_.share(), follow](void*) {
            {
                std::lock_guard const lock(follow->mutex);
                follow->ended = true;
            }
            callbacks->post([follow] { follow->let_go(); });
        };
        reply(Following(std::shared_ptr<void>(nullptr, std::move(end))));
        pump(follow);
    });
}

void Runtime::Engine::pump(std::shared_ptr<Follow> const& follow) {
    if (!follow->lane) return;
    if (follow->busy) {
        follow->stale = true;
        return;
    }
    follow->busy = true;
    follow->stale = false;
    node_.runner.read_events(follow->session, follow->next,
                             [this, follow](Result<runner::Runner::Read> read) {
                                 std::vector<Event> events;
                                 if (read) {
                                     for (wire::RecordPtr const& record : read->records)
                                         events.push_back(runtime::event(follow->session, *record));
                                 }
                                 if (!events.empty()) return hand_over(follow, std::move(events));
                                 follow->busy = false;
                                 if (std::exchange(follow->stale, false)) pump(follow);
                             });
}

void Runtime::Engine::hand_over(std::shared_ptr<Follow> const& follow, std::vector<Event> events) {
    Seq const next = events.back().seq + 1;
    callbacks_->run(
        [this, callbacks = callbacks_.share(), follow, next, events = std::move(events)] {
            if (!follow->show(callbacks->notes(), events, follow->observer)) return;
            callbacks->post([this, follow, next] {
                follow->busy = false;
                follow->next = next;
                pump(follow);  // there may be more
            });
        });
}

// Delivers text that a model streams. Removes readers that have ended.
void Runtime::Engine::text(SessionId session, port::Delta const& delta) {
    auto const found = listeners_.find(session);
    if (found == listeners_.end() || delta.kind != port::Delta::Kind::text) return;
    std::erase_if(found->second, [&](std::weak_ptr<Follow> const& weak) {
        auto const follow = weak.lock();
        if (!follow || !follow->lane) return true;
        if (follow->pieces.size() < pieces_max) follow->pieces.push_back(delta.text);
        hand_over_output(follow);
        return false;
    });
    if (found->second.empty()) listeners_.erase(found);
}

void Runtime::Engine::hand_over_output(std::shared_ptr<Follow> const& follow) {
    if (follow->speaking || follow->pieces.empty()) return;
    follow->speaking = true;
    callbacks_->run(
        [this, callbacks = callbacks_.share(), follow, texts = std::exchange(follow->pieces, {})] {
            follow->show(callbacks->notes(), texts, follow->on_text);
            callbacks->post([this, follow] {
                follow->speaking = false;
                hand_over_output(follow);
            });
        });
}

}  // namespace dormouse
