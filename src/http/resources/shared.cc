#include "http/resources/shared.h"
#include "http/resources/waits.h"
#include "http/streams/changes.h"

#include "base/text/text.h"

#include <algorithm>

namespace dormouse::http {

void read_history(Api& api, SessionId session, port::Fn<void(Result<Snapshot>)> done) {
    runner::read_history(api.services().runner, session, std::move(done));
}

std::uint64_t Query::number(std::string_view name, std::uint64_t by_default, std::uint64_t least,
                            std::uint64_t most) {
    auto const text = request.query_value(name);
    if (!text) return by_default;
    auto const number = parse_number(*text);
    if (number && *number >= least && *number <= most) return *number;
    if (!error) {
        error =
            bad_value("?" + std::string(name), "must be a number from " + std::to_string(least) +
                                                   " to " + std::to_string(most));
    }
    return by_default;
}

Duration Query::wait() {
    return Duration(static_cast<std::int64_t>(number("wait", 0, 0, 50)) * 1'000);
}

// A long poll: finished once, by the session, the clock or the client.
struct Waits::Wait {
    port::Fn<void()> stop;  // ends the subscription
    port::Fn<void()> done;
    Time until{};
    ExchangePtr exchange;

    void finish() {
        if (!done) return;
        auto then = std::exchange(done, {});
        exchange.reset();
        std::exchange(stop, {})();
        then();
    }
};

void Waits::add(std::shared_ptr<Wait> wait) {
    waits_.push_back(std::move(wait));
    if (!std::exchange(armed_, true)) arm();
}

void Waits::arm() {
    services_.loop.after(sweep_every, scope_.guard([this] { sweep(); }));
}

// One timer for all waits checks the clock and the clients a few times a second.
void Waits::sweep() {
    auto const now = services_.runner.now();
    bool const ends = services_.runner.draining();
    for (auto const& wait : std::exchange(waits_, {})) {
        if (!wait->done) continue;
        auto const& who = wait->exchange->principal;
        bool const revoked = who && !who->valid(now);
        if (ends || revoked || wait->until <= now || wait->exchange->responder->gone()) {
            wait->finish();
        } else {
            waits_.push_back(wait);
        }
    }
    armed_ = !waits_.empty();
    if (armed_) arm();
}

void wait_until(Api& api, std::shared_ptr<runner::Lane> lane, Duration time, ExchangePtr x,
                std::function<bool(session::State const&)> ready, port::Fn<void()> done) {
    if (time == Duration(0) || ready(lane->state())) return done();
    auto const wait = std::make_shared<Waits::Wait>();
    wait->done = std::move(done);
    wait->until = api.services().runner.now() + time;
    wait->exchange = std::move(x);
    wait->exchange->free_body();
    std::weak_ptr<Waits::Wait> const weak = wait;
    // The lane outlives its watchers.
    auto const watch = lane->watch([weak, ready = std::move(ready), at = lane.get()] {
        auto const self = weak.lock();
        if (self && self->done && ready(at->state())) self->finish();
    });
    wait->stop = [lane = std::move(lane), watch] { lane->unwatch(watch); };
    api.waits().add(wait);
}

void wait_for_change(Api& api, port::Projects const& projects, std::optional<SessionId> session,
                     Time until, ExchangePtr x, port::Fn<void()> done) {
    auto const wait = std::make_shared<Waits::Wait>();
    wait->done = std::move(done);
    wait->until = until;
    wait->exchange = std::move(x);
    wait->exchange->free_body();
    auto const watch = api.changes().watch(projects, session, [weak = std::weak_ptr(wait)] {
        if (auto const self = weak.lock()) self->finish();
    });
    wait->stop = [&api, watch] { api.changes().unwatch(watch); };
    api.waits().add(wait);
}

}  // namespace dormouse::http
