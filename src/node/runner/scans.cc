// Finds what is due in the store, and wakes its sessions.
#include "base/check.h"
#include "runner/repair/unreadable.h"
#include "runner/runner.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {
constexpr Duration unreadable_every{60'000};  // delay for parked_ entries without a gate
}  // namespace

void Runner::wake_soon(SessionId session, Time at) {
    if (at > now() + 2 * options_.scan_every) return;
    wakes_.insert({at, session});
    arm();
}

void Runner::arm() {
    if (wakes_.empty()) return;
    Time const next = wakes_.begin()->first;
    if (armed_ && *armed_ <= next) return;
    armed_ = next;
    Duration const delay = std::max(Duration(0), next - now());
    services_.loop.after(delay, scope_.guard([this, next] {
        if (armed_ != next) return;
        armed_.reset();
        fire();
    }));
}

void Runner::fire() {
    CHECK(!armed_);
    Time const now = this->now();
    // A tick that changes nothing may wake its session again at once: other work comes first.
    std::vector<SessionId> due;
    while (!wakes_.empty() && wakes_.begin()->first <= now) {
        due.push_back(wakes_.begin()->second);
        wakes_.erase(wakes_.begin());
    }
    for (SessionId const& session : due) tick(session, {});
    arm();
}

// The driver does the due work; if it is dead, any process does, after a first scan that shares its
// sessions by number. Sessions without a driver are shared by number until their work is overdue.
bool Runner::is_for_another(port::Due const& due) const {
    port::Nodes const& nodes = services_.nodes;
    if (due.driver == nodes.epoch()) return false;
    bool const ours = nodes.has_share(due.session.number());
    if (due.driver != 0) return !nodes.gone(due.driver) || (by_share_ && !ours);
    return due.at + overdue_after > now() && !ours;
}

void Runner::tick(SessionId session, std::optional<port::Due> const& stored) {
    if (draining_ || failed_ || held()) return;
    auto const parked = parked_.find(session);
    if (parked != parked_.end() && (!parked->second.next || *parked->second.next > now())) return;
    auto const resident = lanes_.find(session);
    if (resident != lanes_.end() && !resident->second->wants_tick(now(), stored)) return;
    // An unreadable session is not read again each second; a request for it reads it again.
    lane(session)->receive(make(Tick{}, {}), [this, session](Result<Answer> const& answer) {
        if (!answer && is_unreadable(answer.error()))
            parked_[session] = {{}, now() + unreadable_every};
    });
}

void Runner::process_left() {
    left_ = true;
    scan();
}

// The timer of an earlier scan counts no more.
void Runner::scan() {
    if (failed_) return;
    if (std::exchange(scanning_, true)) {
        scan_again_ = true;
        return;
    }
    ++scans_;
    by_share_ = std::exchange(left_, false);
    release_old();
    outbox_.scan();
    watch_budgets();
    scan_page(now() + options_.scan_every, std::nullopt);
}

void Runner::scan_page(Time until, std::optional<port::Due> after) {
    auto question = [until, after](port::WakeStore& store) {
        return store.due(until, after, scan_page_size);
    };
    CHECK(scanning_);
    auto use = [this, until](Result<std::vector<port::Due>> due) {
        Time const now = this->now();
        bool const alone = services_.nodes.alone();
        for (port::Due const& one : due ? *due : std::vector<port::Due>()) {
            if (is_for_another(one)) continue;
            if (one.at <= now) {
                tick(one.session, alone ? std::nullopt : std::optional(one));
            } else {
                wake_soon(one.session, one.at);
            }
        }
        recovered_ = recovered_ || due.has_value();
        if (due && due->size() == scan_page_size) return scan_page(until, due->back());
        scanned();
    };
    port::ask(services_.journal, std::move(question), scope_.guard(std::move(use)));
}

void Runner::scanned() {
    CHECK(scanning_);
    scanning_ = false;
    if (std::exchange(scan_again_, false)) return scan();
    services_.loop.after(options_.scan_every, scope_.guard([this, last = scans_] {
        if (last == scans_) scan();
    }));
}

}  // namespace dormouse::runner
