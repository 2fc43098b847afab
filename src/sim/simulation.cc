#include "sim/simulation.h"

#include "sim/checks/end_checks.h"
#include "sim/clients.h"
#include "sim/process.h"

#include <optional>
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
          knobs_(draw_knobs(world_)),
          drawn_(knobs_.text()),
          registry_(make_registry(world_, mail_)),
          clients_(world_, durable_, findings_, knobs_, [this] { return up(); }) {}

    Report run() {
        open();
        clients_.begin();
        if (knobs_.life > Duration(0)) plan_kill();
        if (knobs_.clock_steps) plan_clock_step();
        if (knobs_.disk_breaks) plan_break();
        be_busy();
        calm_down();
        come_to_rest();
        check_end();
        return report();
    }

private:
    [[nodiscard]] runner::Runner* up() { return process_ ? &process_->runner() : nullptr; }

    void open() {
        // As main() does: the process ends and its supervisor starts another.
        auto failed = [this] {
            world_.outside(Duration(1),
                           [this] { kill(world_.between(Duration(1), Duration(500))); });
        };
        process_ = std::make_unique<Process>(Process::Outside{world_, disk_, durable_, findings_,
                                                              started_, *registry_, *mail_, knobs_,
                                                              settings_.bug, std::move(failed)});
        up()->start();
        waiting_.clear();
    }

    void kill(Duration down) {
        if (!process_) return;
        ++kills_;
        world_.kill();
        process_.reset();
        world_.outside(down, [this] { open(); });
    }

    void plan_kill() {
        Duration life = world_.between(Duration(10), 2 * knobs_.life);
        bool const in_recovery = world_.happens(200);
        if (in_recovery) life = world_.between(Duration(0), Duration(60));
        world_.outside(life, [this] {
            if (calm_) return;
            bool const politely = process_ && !up()->draining() && world_.happens(150);
            if (politely) {
                up()->drain([this] { world_.outside(Duration(0), [this] { kill_now(); }); });
            } else {
                kill_now();
            }
            plan_kill();
        });
    }

    void kill_now() {
        bool const longer = world_.happens(100);
        kill(world_.between(Duration(1), Duration(longer ? 30'000 : 1'500)));
    }

    void plan_clock_step() {
        world_.outside(world_.between(Duration(500), knobs_.busy), [this] {
            if (calm_) return;
            Duration const far = Duration(world_.happens(300) ? 100'000'000 : 30'000);
            world_.step_clock(world_.between(-far, far));
            plan_clock_step();
        });
    }

    void plan_break() {
        world_.outside(world_.between(Duration(0), knobs_.busy), [this] {
            if (process_ && !calm_) process_->break_down();
        });
    }

    void be_busy() {
        Duration const end = world_.monotonic() + knobs_.busy;
        while (world_.monotonic() < end) {
            world_.run_for(Duration(1'000));
            watch_store();
            if (knobs_.quiet) watch_liveness();
        }
    }

    // P10: a store that cannot write any more must end the process.
    void watch_store() {
        bool const dead = process_ && process_->journal().stopped();
        stopped_for_ = dead ? stopped_for_ + 1 : 0;
        if (stopped_for_ < 4) return;
        findings_.add("liveness: a store that failed for good was not noticed");
        kill(Duration(1));
        stopped_for_ = 0;
    }

    void calm_down() {
        calm_ = true;
        knobs_.store = {};
        knobs_.agents.stalls = 0;
        bool const broken = process_ && process_->journal().stopped();
        if (broken || world_.happens(300)) kill(Duration(100));
        world_.run_for(Duration(70'000));  // a clock that steps is guarded for a minute
        waiting_.clear();
    }

    void come_to_rest() {
        constexpr int rounds_max = 600;
        for (int round = 0; round < rounds_max; ++round) {
            bool const sent = process_ && !process_->has_posts();
            bool const rest = all_rest() && sent && !world_.next_outside();
            if (rest) return;
            world_.run_for(Duration(3'000));
            if (!process_) continue;
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
            if (at) next = std::min(next, *at - world_.now());
        }
        return next;
    }

    // P5: outstanding effects are started, and due work is done, within seconds.
    void watch_liveness() {
        std::set<Awaited> now;
        for (auto const& [id, session] : durable_.sessions()) {
            for (auto const& [effect, what] : outstanding(session.state)) {
                bool const runs = process_ && process_->witness().has_started(id, effect);
                if (!runs) now.insert({id, effect.since, effect.call});
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
            if (timer.at + Duration(1'000) >= world_.now()) return false;
            if (!active && timer.kind != TimerKind::deadline) continue;
            if (timer.kind != TimerKind::poll) return true;
            EffectId const poll{state.calls.at(timer.call).pause->polled, timer.call};
            if (!process_ || !process_->witness().has_started(id, poll)) return true;
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
        world_.kill();
        process_.reset();
        if (!findings_.all().empty()) return;
        store::MemoryStore store(disk_);
        check_store(store, durable_, findings_);
        check_sessions(durable_, findings_);
        check_posts(durable_, findings_);
        check_histories(clients_.history(), durable_, findings_);
    }

    [[nodiscard]] Report report() const {
        Report report;
        report.seed = settings_.seed;
        report.knobs = drawn_;
        report.findings = findings_.all();
        report.hash = world_.hash();
        report.kills = kills_;
        report.sessions = durable_.sessions().size();
        report.events = durable_.events();
        report.requests = clients_.requests();
        report.acknowledged = clients_.acknowledged();
        report.effects = started_.effects;
        report.virtual_ms = world_.monotonic().count();
        report.types = durable_.types();
        return report;
    }

    Settings const settings_;
    World world_;
    Findings findings_;
    Durable durable_;
    Knobs knobs_;
    std::string const drawn_;
    std::shared_ptr<agent::MailSlot> mail_ = std::make_shared<agent::MailSlot>();
    std::unique_ptr<agent::Registry> registry_;
    std::shared_ptr<store::MemoryDisk> disk_ = std::make_shared<store::MemoryDisk>();
    Started started_;
    Clients clients_;
    std::unique_ptr<Process> process_;
    std::map<Awaited, int> waiting_;
    bool calm_ = false;
    int stopped_for_ = 0;
    std::uint64_t kills_ = 0;
};

}  // namespace

Report simulate(Settings const& settings) { return Simulation(settings).run(); }

std::string Report::text() const {
    std::string out;
    for (std::string const& finding : findings) out += finding + "\n";
    out += knobs + "\n";
    return out + "replay: dormouse-sim " + std::to_string(seed) + "\n";
}

}  // namespace dormouse::sim
