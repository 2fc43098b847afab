#include "sim/cluster.h"

#include <algorithm>

namespace dormouse::sim {

using namespace dormouse::session;

Cluster::Cluster(World& world, Durable& durable, Findings& findings, Knobs const& knobs, Bug bug)
    : world_(world), durable_(durable), findings_(findings), knobs_(knobs), bug_(bug) {
    CHECK(knobs.processes >= 1 && knobs.processes <= processes_max);
    for (std::size_t i = 0; i < knobs.processes; ++i) {
        places_.push_back(std::make_unique<Place>(Machine(world), i));
        Duration const wrong = world.between(-knobs.clocks_apart, knobs.clocks_apart);
        places_.back()->machine.step_clock(wrong);
    }
}

void Cluster::open() {
    for (auto const& place : places_) open(*place);
}

void Cluster::open(Place& place) {
    // As main() does: the process ends and its supervisor starts another.
    auto failed = [this, &place] {
        world_.outside(Duration(1),
                       [this, &place] { kill(place, world_.between(Duration(1), Duration(500))); });
    };
    place.process = std::make_unique<Process>(Process::Outside{
        place.machine, disk_, beats_, durable_, findings_, started_, knobs_, bug_,
        first_number(place), std::move(failed), [this, &place] { signal_others(place); }});
    place.process->runner().start();
}

void Cluster::signal_others(Place const& place) {
    for (auto const& other : places_) {
        if (other.get() == &place || !other->process || world_.happens(knobs_.signals_lost))
            continue;
        other->machine.after(world_.between(Duration(0), knobs_.signals_late),
                             [&process = *other->process] { process.signal(); });
    }
}

// Each process has numbers of its own, as in blocks that it takes from a database.
std::uint64_t Cluster::first_number(Place const& place) const {
    constexpr std::uint64_t each = std::uint64_t{1} << 36U;
    std::uint64_t const begin = place.number * each + 1;
    std::uint64_t next = begin;
    auto const take = [&](std::uint64_t number) {
        if (number >= next && number < begin + each - 1) next = number + 1;
    };
    std::scoped_lock const lock(disk_->mutex);
    for (auto const& [number, session] : disk_->sessions) take(number);
    for (auto const& [key, row] : disk_->outbox) {
        if (row.makes) take(row.makes->number());
    }
    return next;
}

void Cluster::kill(Place& place, Duration down) {
    if (!place.process) return;
    ++kills_;
    place.machine.kill();
    place.process.reset();
    world_.outside(down, [this, &place] { open(place); });
}

void Cluster::kill_now(Place& place) {
    bool const longer = world_.happens(100);
    kill(place, world_.between(Duration(1), Duration(longer ? 30'000 : 1'500)));
}

void Cluster::plan_faults() {
    for (auto const& place : places_) {
        if (knobs_.life > Duration(0)) plan_kill(*place);
        if (knobs_.clock_steps) plan_clock_step(*place);
        if (knobs_.freezes) plan_freeze(*place);
        if (knobs_.cuts) plan_cut(*place);
    }
    if (knobs_.disk_breaks) plan_break();
    if (knobs_.falls_back) plan_fall_back();
}

void Cluster::plan_kill(Place& place) {
    Duration life = world_.between(Duration(10), 2 * knobs_.life);
    bool const in_recovery = world_.happens(200);
    if (in_recovery) life = world_.between(Duration(0), Duration(60));
    world_.outside(life, [this, &place] {
        if (calm_) return;
        runner::Runner* const runner = place.process ? &place.process->runner() : nullptr;
        bool const politely = runner && !runner->draining() && world_.happens(150);
        if (politely) {
            auto const end = [this, &place] { kill_now(place); };
            runner->drain([this, end] { world_.outside(Duration(0), end); });
        } else {
            kill_now(place);
        }
        plan_kill(place);
    });
}

void Cluster::plan_clock_step(Place& place) {
    world_.outside(world_.between(Duration(500), knobs_.busy), [this, &place] {
        if (calm_) return;
        Duration const far = Duration(world_.happens(300) ? 100'000'000 : 30'000);
        place.machine.step_clock(world_.between(-far, far));
        plan_clock_step(place);
    });
}

void Cluster::plan_break() {
    Place& place = *places_[world_.below(places_.size())];
    world_.outside(world_.between(Duration(0), knobs_.busy), [this, &place] {
        if (place.process && !calm_) place.process->break_down();
    });
}

// Short ones that nobody notices, and ones after which others have taken over.
void Cluster::plan_freeze(Place& place) {
    world_.outside(world_.between(Duration(500), knobs_.busy), [this, &place] {
        if (calm_) return;
        place.machine.freeze();
        Duration const most = Duration(world_.happens(500) ? 60'000 : 5'000);
        world_.outside(world_.between(Duration(100), most), [&place] { place.machine.thaw(); });
        plan_freeze(place);
    });
}

void Cluster::plan_cut(Place& place) {
    world_.outside(world_.between(Duration(500), knobs_.busy), [this, &place] {
        if (calm_) return;
        if (place.process) place.process->cut();
        world_.outside(world_.between(Duration(100), Duration(20'000)), [&place] {
            if (place.process) place.process->reconnect();
        });
        plan_cut(place);
    });
}

// An asynchronous standby is promoted: all writes since it got its newest ones are lost.
void Cluster::plan_fall_back() {
    world_.outside(world_.between(Duration(500), knobs_.busy / 2), [this] {
        if (calm_) return;
        auto promote = [this, disk = disk_->copy(), beats = beats_,
                        durable = durable_.copy()]() mutable {
            if (calm_) return;
            fall_back(std::move(disk), std::move(beats), std::move(durable));
            plan_fall_back();
        };
        world_.outside(world_.between(Duration(1), Duration(4'000)), std::move(promote));
    });
}

void Cluster::fall_back(store::MemoryData disk, Beats beats, Durable::Copy durable) {
    // A process that joins gets no epoch of the lost history: on PostgreSQL the first connection
    // after a promotion raises the sequence.
    disk.epoch = disk_->epoch;
    disk_->fall_back(std::move(disk));
    beats_ = std::move(beats);
    durable_.fall_back(std::move(durable));
    started_.forget(durable_.newest_loss());
    for (Process* const process : live()) process->forget_lost();
}

void Cluster::calm_down() {
    calm_ = true;
    for (auto const& place : places_) {
        place->machine.thaw();
        if (places_.size() > 1) place->machine.correct_clock();
        if (!place->process) continue;
        if (places_.size() > 1) place->process->reconnect();
        bool const broken = place->process->journal().stopped();
        if (broken || world_.happens(300)) kill(*place, Duration(100));
    }
}

void Cluster::end() {
    for (auto const& place : places_) {
        place->machine.kill();
        place->process.reset();
    }
}

Clients::Server Cluster::server() {
    Place& place = *places_[places_.size() == 1 ? 0 : world_.below(places_.size())];
    bool const answers = place.process && !place.machine.frozen();
    if (!answers) return {};
    return {&place.process->runner(), &place.machine};
}

std::vector<Process*> Cluster::live() {
    std::vector<Process*> out;
    for (auto const& place : places_) {
        if (place->process) out.push_back(place->process.get());
    }
    return out;
}

bool Cluster::any() const {
    return std::ranges::any_of(places_,
                               [](auto const& place) { return place->process != nullptr; });
}

bool Cluster::has_started(SessionId session, EffectId effect) const {
    return std::ranges::any_of(places_, [&](auto const& place) {
        return place->process && place->process->witness().has_started(session, effect);
    });
}

Time Cluster::now() const {
    Time first = Time::max();
    for (auto const& place : places_) {
        if (place->process) first = std::min(first, place->machine.now());
    }
    return first == Time::max() ? places_.front()->machine.now() : first;
}

void Cluster::watch_stores() {
    for (auto const& place : places_) {
        bool const dead = place->process && place->process->journal().failure_reported();
        place->stopped_for = dead && !place->machine.frozen() ? place->stopped_for + 1 : 0;
        if (place->stopped_for < 4) continue;
        findings_.add("liveness: a store that failed for good was not noticed");
        kill(*place, Duration(1));
        place->stopped_for = 0;
    }
}

}  // namespace dormouse::sim
