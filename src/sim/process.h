#pragma once
// One life of a server process: a store on a disk that outlives it, the shipped runner, and its
// environment. Destroying the object is SIGKILL.

#include "agent/builtin.h"
#include "runner/lane/cut.h"
#include "runner/mail_service.h"
#include "runner/runner.h"
#include "sim/bugs.h"
#include "sim/checks/witness.h"
#include "sim/inputs.h"
#include "sim/knobs.h"
#include "store/memory/memory_store.h"

namespace dormouse::sim {

class Process : private runner::Observer {
public:
    // What outlives a process.
    struct Outside {
        World& world;
        std::shared_ptr<store::MemoryDisk> disk;
        Durable& durable;
        Findings& findings;
        Started& started;
        agent::Registry const& registry;
        agent::MailSlot& mail;
        Knobs const& knobs;
        Bug bug;
        std::function<void()> failed;  // a sync failed
    };

    explicit Process(Outside const& outside)
        : store_(outside.disk),
          journal_(
              outside.world, store_, outside.knobs.store,
              [&durable = outside.durable](port::Append const& append) { durable.take(append); }),
          planted_journal_(outside.world, journal_, outside.bug),
          planted_loop_(outside.world, outside.bug),
          agents_(outside.world, outside.registry, outside.knobs.agents),
          witness_(agents_, outside.durable, outside.findings, outside.started, epoch(outside.bug)),
          planted_effects_(outside.world, witness_, outside.bug),
          nodes_(epoch(outside.bug)),
          runner_({planted_loop_, outside.world, outside.world, planted_journal_, nodes_,
                   planted_effects_, agents_},
                  options(outside), *this),
          cutter_(runner_, planted_loop_, planted_journal_, keep_of(outside.knobs), {}),
          post_(planted_loop_, planted_journal_, runner_),
          mail_(outside.mail),
          failed_(outside.failed) {
        mail_.mailer = &post_;
    }
    ~Process() override { mail_.mailer = nullptr; }
    Process(Process const&) = delete;
    Process& operator=(Process const&) = delete;

    [[nodiscard]] runner::Runner& runner() { return runner_; }
    [[nodiscard]] Witness const& witness() const { return witness_; }
    [[nodiscard]] StoreOnLoop const& journal() const { return journal_; }
    // Messages between sessions are still undelivered.
    [[nodiscard]] bool has_posts() {
        auto const rows = store_.due_messages("session", Time::max(), 1);
        return !rows || !rows->empty();
    }
    void break_down() { journal_.break_down(); }

private:
    void delta(SessionId, session::AskModel const&, port::Delta const&) override {}
    void appended(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records) override {
        cutter_.appended(lane, records);
    }
    void posted() override {}
    void delivered(session::OutboxKey const& key, Result<session::Answer> const& answer) override {
        post_.delivered(key, answer);
    }
    void swept(std::size_t) override {}
    void failed() override { failed_(); }

    [[nodiscard]] Epoch epoch(Bug bug) const {
        return bug == Bug::epoch_not_counted ? 1 : store_.epoch();
    }
    [[nodiscard]] static runner::Keep keep_of(Knobs const& knobs) {
        runner::Keep keep;
        if (knobs.messages != 0) keep.messages = knobs.messages;
        if (knobs.age != Duration(0)) keep.age = knobs.age;
        if (knobs.bytes != 0) keep.bytes = knobs.bytes;
        return keep;
    }
    [[nodiscard]] runner::Options options(Outside const& outside) {
        runner::Options options;
        options.next_session_number = store_.next_session_number();
        options.rules = store_.rules().value_or(std::vector<port::RuleRow>());
        options.resident_max = outside.knobs.resident;
        options.scan_every = outside.knobs.scan;
        options.limits.output_bytes = output_bytes;
        return options;
    }

    store::MemoryStore store_;
    StoreOnLoop journal_;
    PlantedJournal planted_journal_;
    PlantedLoop planted_loop_;
    Agents agents_;
    Witness witness_;
    PlantedEffects planted_effects_;
    port::OneNode nodes_;
    runner::Runner runner_;
    runner::HistoryCutter cutter_;
    runner::MailService post_;
    agent::MailSlot& mail_;
    std::function<void()> const failed_;
};

}  // namespace dormouse::sim
