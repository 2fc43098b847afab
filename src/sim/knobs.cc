#include "sim/knobs.h"

namespace dormouse::sim {

namespace {

// Mostly 0 or small: many faults at once hide each other.
unsigned some(World& world, unsigned most) {
    auto const kind = world.below(10);
    if (kind < 4) return 0;
    if (kind < 9) return static_cast<unsigned>(world.below(most / 4 + 1));
    return most;
}

void draw_faults(World& world, Knobs& knobs) {
    knobs.store.commit_lost = some(world, 100);
    knobs.store.commit_hidden = some(world, 100);
    knobs.store.append_lost = some(world, 60);
    knobs.store.sync_failed = some(world, 10);
    knobs.store.slow = some(world, 40);
    knobs.store.read_failed = some(world, 80);
    knobs.agents.stalls = some(world, 20);
    knobs.agents.after_stop = some(world, 500);
    bool const killed = world.happens(850);
    knobs.life = killed ? world.between(Duration(1'000), Duration(15'000)) : Duration(0);
    knobs.clock_steps = world.happens(250);
    knobs.disk_breaks = world.happens(150);
}

void draw_processes(World& world, Knobs& knobs, unsigned processes, bool falls_back) {
    unsigned const drawn = 1 + static_cast<unsigned>(world.below(5) / 2);
    knobs.processes = processes != 0 ? processes : drawn;
    if (knobs.processes == 1) return;
    knobs.scan = Duration(1'000);
    knobs.signals_lost = some(world, 1'000);
    knobs.signals_late = Duration(world.happens(300) ? 5'000 : 5);
    if (knobs.quiet) return;
    knobs.freezes = world.happens(400);
    knobs.cuts = world.happens(300);
    knobs.beats_failed = some(world, 400);
    if (world.happens(300)) knobs.clocks_apart = Duration(600'000);
    knobs.falls_back = world.happens(200) || falls_back;
    knobs.notices_fall = world.happens(500);
}

}  // namespace

Knobs draw_knobs(World& world, unsigned processes, bool falls_back) {
    Knobs knobs;
    knobs.quiet = world.happens(200);
    knobs.sessions = 1 + static_cast<unsigned>(world.below(6));
    knobs.prompts = 1 + static_cast<unsigned>(world.below(5));
    bool const at_length = world.happens(30);  // covers snapshots, and journals that leave memory
    if (at_length) knobs.sessions = 1;
    if (at_length) knobs.prompts = 80;
    knobs.busy = world.between(Duration(5'000), Duration(at_length ? 120'000 : 40'000));
    if (world.happens(100)) knobs.busy *= 20;  // with long silences
    if (world.happens(500)) knobs.resident = world.below(3);
    if (world.happens(400)) knobs.messages = 3 + static_cast<unsigned>(world.below(8));
    // Some seeds limit age or bytes instead; drawn from the same number, so that other seeds do not
    // change.
    if (knobs.messages == 9) knobs.age = knobs.busy / 8;
    if (knobs.messages == 10) knobs.bytes = 4'096;
    if (knobs.messages >= 9) knobs.messages = 0;
    knobs.agents.model_fails = some(world, 300);
    knobs.agents.model_fails_for_good = some(world, 60);
    knobs.agents.slow = some(world, 100);
    if (knobs.quiet) {
        knobs.life = Duration(0);
        knobs.scan = Duration(3'600'000);
    } else {
        draw_faults(world, knobs);
    }
    draw_processes(world, knobs, processes, falls_back);
    return knobs;
}

std::string Knobs::text() const {
    std::string out = quiet ? "quiet" : "faults";
    auto const add = [&out](std::string_view name, auto number) {
        out += " " + std::string(name) + "=" + std::to_string(number);
    };
    add("sessions", sessions);
    add("prompts", prompts);
    add("busy_ms", busy.count());
    add("life_ms", life.count());
    add("resident", resident);
    add("messages", messages);
    add("age_ms", age.count());
    add("bytes", bytes);
    add("processes", processes);
    add("freezes", freezes ? 1 : 0);
    add("cuts", cuts ? 1 : 0);
    add("beats_failed", beats_failed);
    add("signals_lost", signals_lost);
    add("signals_late_ms", signals_late.count());
    add("clocks_apart_ms", clocks_apart.count());
    add("falls_back", falls_back ? 1 : 0);
    add("notices_fall", notices_fall ? 1 : 0);
    add("clock_steps", clock_steps ? 1 : 0);
    add("disk_breaks", disk_breaks ? 1 : 0);
    add("commit_lost", store.commit_lost);
    add("commit_hidden", store.commit_hidden);
    add("append_lost", store.append_lost);
    add("sync_failed", store.sync_failed);
    add("slow_store", store.slow);
    add("read_failed", store.read_failed);
    add("model_fails", agents.model_fails);
    add("model_fails_for_good", agents.model_fails_for_good);
    add("hangs", agents.stalls);
    add("slow_agents", agents.slow);
    add("after_stop", agents.after_stop);
    return out;
}

}  // namespace dormouse::sim
