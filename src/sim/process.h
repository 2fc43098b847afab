#pragma once
// One life of a server process: a store on a disk that outlives it and that others may share, the
// shipped runner, and its environment. Destroying the object is SIGKILL.

#include "agent/builtin.h"
#include "runner/lane/cut.h"
#include "runner/mail_service.h"
#include "runner/runner.h"
#include "sim/bugs.h"
#include "sim/checks/watched_store.h"
#include "sim/checks/witness.h"
#include "sim/feed_reader.h"
#include "sim/inputs.h"
#include "sim/knobs.h"
#include "sim/nodes.h"

namespace dormouse::sim {

class Process : private runner::Observer {
public:
    // The objects that outlive a process.
    struct Outside {
        Machine& machine;
        std::shared_ptr<store::MemoryDisk> disk;
        Beats& beats;
        Durable& durable;
        Findings& findings;
        Started& started;
        Knobs const& knobs;
        Bug bug;
        std::uint64_t first_number;      // of the sessions that it creates
        std::function<void()> failed;    // a sync failed
        std::function<void()> appended;  // it has appended
    };

    explicit Process(Outside const& outside)
        : store_(outside.disk, outside.knobs.processes > 1, outside.bug, outside.findings),
          journal_(outside.machine, store_, outside.knobs.store,
                   [&durable = outside.durable,
                    appended = outside.appended](port::Append const& append) {
                       durable.take(append);
                       appended();
                   }),
          planted_journal_(outside.machine, journal_, outside.bug),
          planted_loop_(outside.machine, outside.bug),
          registry_(make_registry(outside.machine.world(), [this] { return &mail_service_; })),
          agents_(outside.machine, *registry_, outside.knobs.agents),
          shared_nodes_(store_.shared() ? std::make_unique<SharedNodes>(
                                              outside.machine, store_, outside.beats,
                                              outside.knobs.beats_failed,
                                              SharedNodes::Listener{[this] { heartbeat(); },
                                                                    [this] { runner_.fenced(); }})
                                        : nullptr),
          alone_(store_.epoch()),
          nodes_(shared_nodes_ ? static_cast<port::Nodes&>(*shared_nodes_) : alone_, outside.bug),
          witness_(agents_, outside.durable, outside.findings, outside.started, nodes_,
                   [this] { return !store_.takes_part() && store_.epoch() != unknown_; }),
          planted_effects_(outside.machine.world(), witness_, outside.bug),
          runner_({planted_loop_, outside.machine, outside.machine.world(), planted_journal_,
                   nodes_, planted_effects_, agents_},
                  options(outside), *this),
          cutter_(runner_, planted_loop_, planted_journal_, keep_of(outside.knobs), {}),
          mail_service_(planted_loop_, planted_journal_, runner_),
          feed_(planted_journal_, store_.feed_head().value_or(0),
                [&durable = outside.durable, notices = outside.knobs.notices_fall] {
                    return notices ? durable.falls() : 0;
                },
                {[this](port::FeedRow const& row) { runner_.appended_elsewhere(row); },
                 [this] { runner_.forget_memory(); }}),
          bug_(outside.bug),
          failed_(outside.failed) {}
    ~Process() override = default;
    Process(Process const&) = delete;
    Process& operator=(Process const&) = delete;

    [[nodiscard]] runner::Runner& runner() { return runner_; }
    [[nodiscard]] Witness const& witness() const { return witness_; }
    [[nodiscard]] StoreOnLoop const& journal() const { return journal_; }
    // Messages between sessions are still undelivered.
    [[nodiscard]] bool has_messages() {
        auto const rows = store_.due_messages("session", Time::max(), 1);
        return !rows || !rows->empty();
    }
    void break_down() { journal_.break_down(); }
    // The disk fell back: it may not know of this process any more.
    void forget_lost() {
        witness_.forget_lost();
        if (!store_.takes_part()) unknown_ = store_.epoch();
    }
    // Another process says that it has appended.
    void signal() { feed_.read(); }
    // The network to the store, for everything that this process sends. REQUIRES: it is not alone.
    void cut() {
        shared_nodes_->cut(true);
        journal_.cut();
    }
    void reconnect() {
        shared_nodes_->cut(false);
        if (journal_.is_cut()) journal_.reconnect();
    }

private:
    void heartbeat() {
        if (bug_ != Bug::signals_trusted) feed_.read();
    }
    void delta(SessionId, session::AskModel const&, port::Delta const&) override {}
    void appended(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records) override {
        cutter_.appended(lane, records);
    }
    void outbox_added() override {}
    void delivered(session::OutboxKey const& key, Result<session::Answer> const& answer) override {
        mail_service_.delivered(key, answer);
    }
    void swept(std::size_t) override {}
    void failed() override { failed_(); }

    [[nodiscard]] static runner::Keep keep_of(Knobs const& knobs) {
        runner::Keep keep;
        if (knobs.messages != 0) keep.messages = knobs.messages;
        if (knobs.age != Duration(0)) keep.age = knobs.age;
        if (knobs.bytes != 0) keep.bytes = knobs.bytes;
        return keep;
    }
    [[nodiscard]] runner::Options options(Outside const& outside) {
        runner::Options options;
        options.numbers.first = outside.first_number;
        options.rules = store_.rules().value_or(std::vector<port::RuleRow>());
        options.resident_max = outside.knobs.resident;
        options.resident_time = outside.knobs.resident_time;
        options.scan_every = outside.knobs.scan;
        options.limits.output_bytes = output_bytes;
        if (outside.bug == Bug::runs_forgotten) options.runs_known = 0;
        return options;
    }

    WatchedStore store_;
    StoreOnLoop journal_;
    PlantedJournal planted_journal_;
    PlantedLoop planted_loop_;
    std::unique_ptr<agent::Registry> registry_;
    Agents agents_;
    std::unique_ptr<SharedNodes> shared_nodes_;  // null: the process is alone
    port::OneNode alone_;
    PlantedNodes nodes_;
    Witness witness_;
    PlantedEffects planted_effects_;
    runner::Runner runner_;
    runner::HistoryCutter cutter_;
    runner::MailService mail_service_;
    FeedReader feed_;
    Bug const bug_;
    std::function<void()> const failed_;
    Epoch unknown_ = 0;  // under which the disk forgot this process
};

}  // namespace dormouse::sim
