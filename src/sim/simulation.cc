#include "sim/simulation.h"

#include "sim/checks/end_checks.h"
#include "sim/cluster.h"

#include <utility>

namespace dormouse::sim {

using namespace dormouse::session;

namespace {

class Simulation {
public:
    explicit Simulation(Settings const& settings)
        : settings_(settings),
          world_(settings.seed),
          durable_(world_, findings_),
          knobs_(knobs_of(world_, settings)),
          drawn_(knobs_.text()),
          cluster_(world_, durable_, findings_, knobs_, settings.bug),
          clients_(world_, durable_, findings_, knobs_, [this] { return cluster_.server(); }) {}

    Report run() {
        cluster_.open();
        clients_.begin();
        cluster_.plan_faults();
        be_busy();
        calm_down();
        come_to_rest();
        check_end();
        return report();
    }

private:
    [[nodiscard]] static unsigned processes_of(Settings const& settings) {
        bool const more = settings.processes == 0 && needs_processes(settings.bug);
        return more ? 2 : settings.processes;
    }

    [[nodiscard]] static Knobs knobs_of(World& world, Settings const& settings) {
        Knobs knobs = draw_knobs(world, processes_of(settings), settings.falls_back);
        if (!needs_fall_back(settings.bug)) return knobs;
        knobs.falls_back = true;
        bool const by_stamps_alone = settings.bug == Bug::stamp_ignored;
        if (by_stamps_alone) knobs.notices_fall = false;
        if (by_stamps_alone) knobs.signals_lost = 1'000;
        return knobs;
    }

    void be_busy() {
        Duration const end = world_.elapsed() + knobs_.busy;
        while (world_.elapsed() < end) {
            world_.run_for(Duration(1'000));
            cluster_.watch_stores();
            if (knobs_.quiet) watch_liveness();
        }
    }

    void calm_down() {
        knobs_.store = {};
        knobs_.agents.stalls = 0;
        knobs_.beats_failed = 0;
        cluster_.calm_down();
        world_.run_for(Duration(70'000));  // a clock that steps is guarded for a minute
        waiting_.clear();
    }

    void come_to_rest() {
        constexpr int rounds_max = 600;
        for (int round = 0; round < rounds_max; ++round) {
            bool const rest = all_rest() && all_sent() && !world_.next_outside();
            if (rest) return;
            world_.run_for(Duration(3'000));
            if (!cluster_.any()) continue;
            watch_liveness();
            Duration const next = next_of_all();
            if (next <= Duration(5'000)) continue;
            bool const nobody_comes = next == Duration::max();
            if (nobody_comes) clients_.answer_open();
            if (!nobody_comes) world_.leap(next - Duration(1'000));
        }
        for (auto const& [id, session] : durable_.sessions()) {
            if (!is_idle(session.state)) findings_.add("liveness: stuck: " + id.text());
        }
    }

    [[nodiscard]] bool all_sent() {
        auto const live = cluster_.live();
        return !live.empty() && !live.front()->has_messages();
    }

    [[nodiscard]] bool all_rest() const {
        for (auto const& [id, session] : durable_.sessions()) {
            if (!is_idle(session.state)) return false;
        }
        return true;
    }

    // Time until a client acts or something falls due.
    [[nodiscard]] Duration next_of_all() const {
        Duration next = world_.next_outside().value_or(Duration::max());
        for (auto const& [id, session] : durable_.sessions()) {
            auto const at = next_timer(session.state);
            if (at) next = std::min(next, *at - cluster_.now());
        }
        return next;
    }

    // P5: outstanding effects are started, and due work is done, within seconds.
    void watch_liveness() {
        std::set<Awaited> now;
        for (auto const& [id, session] : durable_.sessions()) {
            for (auto const& [effect, what] : outstanding(session.state)) {
                if (!cluster_.has_started(id, effect)) now.insert({id, effect.since, effect.call});
            }
            if (is_late(id, session.state))
                now.insert({id, 0, static_cast<CallNo>(session.state.head)});
        }
        for (Awaited const& one : now) {
            int const rounds = ++waiting_[one];
            if (rounds == 3) findings_.add("liveness: " + describe(one));
        }
        std::erase_if(waiting_, [&](auto const& entry) { return !now.contains(entry.first); });
    }

    // A timer has passed, and it is not that of a poll in progress.
    [[nodiscard]] bool is_late(SessionId id, State const& state) const {
        bool const active = state.lifecycle == Lifecycle::active;
        for (Timer const& timer : state.timers) {
            if (timer.at + Duration(1'000) >= cluster_.now()) return false;
            if (!active && timer.kind != TimerKind::deadline) continue;
            if (timer.kind != TimerKind::poll) return true;
            EffectId const poll{state.calls.at(timer.call).pause->polled, timer.call};
            if (!cluster_.has_started(id, poll)) return true;
        }
        return false;
    }

    struct Awaited {
        SessionId session;
        Seq since = 0;  // 0: a passed timer, with the head in `call`
        CallNo call = 0;
        friend auto operator<=>(Awaited const&, Awaited const&) = default;
    };

    [[nodiscard]] static std::string describe(Awaited const& one) {
        std::string const what = one.since == 0 ? "a time has passed and nothing happened: "
                                                : "an outstanding effect is not started: ";
        return what + one.session.text() + " " + std::to_string(one.since) + "." +
               std::to_string(one.call);
    }

    void check_end() {
        cluster_.end();
        if (world_.spins()) findings_.add("liveness: the work of one instant never ends");
        if (!findings_.all().empty()) return;
        store::MemoryStore store(cluster_.disk());
        check_store(store, durable_, findings_);
        check_sessions(durable_, findings_);
        check_outbox(durable_, findings_);
        check_histories(clients_.history(), durable_, findings_);
    }

    [[nodiscard]] Report report() const {
        Report report;
        report.seed = settings_.seed;
        report.knobs = drawn_;
        report.findings = findings_.all();
        report.hash = world_.hash();
        report.processes = knobs_.processes;
        report.falls_back = settings_.falls_back;
        report.kills = cluster_.kills();
        report.sessions = durable_.sessions().size();
        report.events = durable_.events();
        report.requests = clients_.requests();
        report.acknowledged = clients_.acknowledged();
        report.effects = cluster_.effects();
        report.virtual_ms = world_.elapsed().count();
        report.types = durable_.types();
        return report;
    }

    Settings const settings_;
    World world_;
    Findings findings_;
    Durable durable_;
    Knobs knobs_;
    std::string const drawn_;
    Cluster cluster_;
    Clients clients_;
    std::map<Awaited, int> waiting_;
};

}  // namespace

Report simulate(Settings const& settings) { return Simulation(settings).run(); }

std::string Report::text() const {
    std::string out;
    for (std::string const& finding : findings) out += finding + "\n";
    out += knobs + "\n";
    return out + "replay: dormouse-sim " + (falls_back ? "--falls " : "") + std::to_string(seed) +
           " 1 " + std::to_string(processes) + "\n";
}

}  // namespace dormouse::sim
