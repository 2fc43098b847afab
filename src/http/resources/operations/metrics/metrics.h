#pragma once
// Counters for operators. Each is counted when it happens; a scrape reads numbers and sends the
// store two bounded queries. Label values come from small closed sets: never an id, a path or a
// secret. On the loop.

#include "base/enum_words.h"
#include "http/resources/operations/doctor/troubles.h"
#include "http/resources/operations/metrics/exposition.h"
#include "http/resources/operations/metrics/model_work.h"
#include "port/archiving.h"
#include "port/copies.h"
#include "port/database.h"
#include "port/effects.h"
#include "port/exports.h"
#include "port/index.h"
#include "port/meter.h"
#include "runner/runner.h"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dormouse::http {

// Open files, sockets and pipes of this process.
struct OpenFiles {
    std::uint64_t open = 0;
    std::uint64_t max = 0;
};
[[nodiscard]] OpenFiles open_files();

class Metrics final : public port::Meter {
public:
    explicit Metrics(Time start) : start_(start) {}

    // ---- counted when they happen
    // `state`: of their session, after them.
    void appended(session::State const& state, std::vector<wire::RecordPtr> const& records,
                  Time now);
    void submitted(Result<session::Answer> const& answer) override;
    // Counts a validated result: "fits", "misfit", "failed", "refused".
    void validated(std::string_view word) { ++validations_[std::string(word)]; }
    // Names the store at each scrape, for people: without a password.
    void store_is(std::string name) { store_name_ = std::move(name); }
    [[nodiscard]] std::string const& store_name() const { return store_name_; }  // empty: unknown
    // `route` is a pattern of the table, empty for an unknown path.
    void answered(std::string_view method, std::string const& route, int status);
    void committed(std::span<port::AppendResult const> results, Duration time) override;
    void started(std::string_view kind) override { ++effects_[std::string(kind)]; }
    void tool_ended(std::string const& tool, session::ToolOutcome const& outcome) override;
    // One attempt to deliver an outgoing message. `failed`: there will be another one. `withdrawn`:
    // its call ended before any attempt succeeded, and it is not sent any more.
    enum class DeliveryEnd : std::uint8_t { delivered, failed, given_up, withdrawn };
    void delivery_ended(DeliveryEnd end) { ++deliveries_[static_cast<std::size_t>(end)]; }

    [[nodiscard]] Troubles const& troubles() const { return troubles_; }
    [[nodiscard]] DiskTrend& disk_trend() { return disk_trend_; }
    [[nodiscard]] FailingReceivers& receivers() { return receivers_; }
    [[nodiscard]] ModelWork& model_work() { return model_work_; }

    // ---- read at a scrape
    using ModelLoad = port::ModelLoad;
    struct Connections {
        std::size_t open = 0;
        std::size_t streams = 0;
        std::uint64_t refused = 0;
    };
    std::function<std::vector<ModelLoad>()> models = [] { return std::vector<ModelLoad>(); };
    // The model of an agent; empty: it has none. Called once for each agent.
    std::function<std::string(std::string const&)> model_of = [](std::string const&) {
        return std::string();
    };
    // The state of a store that several processes share.
    struct SharedWith {
        std::size_t nodes = 0;         // with this one
        std::uint64_t removed = 0;     // declared dead by this one
        std::uint64_t fenced = 0;      // how often the others declared this one dead
        std::uint64_t taken_over = 0;  // sessions of processes that are gone
        Duration behind{0};            // how long appends of the others have waited to be read here
    };
    std::function<std::optional<SharedWith>()> shared_with = [] {
        return std::optional<SharedWith>();
    };
    // Returns the lost commits of a store on a database server; nullopt for other stores.
    std::function<std::optional<port::LostCommits>()> lost_commits = [] {
        return std::optional<port::LostCommits>();
    };
    std::function<std::vector<port::IndexStatus>()> indexes = [] {
        return std::vector<port::IndexStatus>();
    };
    std::function<std::optional<port::ExportStatus>()> exports = [] {
        return std::optional<port::ExportStatus>();
    };
    std::function<std::optional<port::CopyStatus>()> copy = [] {
        return std::optional<port::CopyStatus>();
    };
    std::function<std::optional<port::ArchiveStatus>()> archive = [] {
        return std::optional<port::ArchiveStatus>();
    };
    // Returns the status of the export of the metrics.
    std::function<std::optional<port::ExportStatus>()> metric_exports = [] {
        return std::optional<port::ExportStatus>();
    };
    std::function<Connections()> connections = [] { return Connections(); };

    // Counts from the store. Each stops at the limit of its query.
    struct Stored {
        port::OpenPending pending;
        std::size_t outstanding = 0;
        std::optional<Time> next_wake;
        std::uint64_t deliveries_waiting = 0;
        std::uint64_t deliveries_given_up = 0;
    };
    // The file system of the data directory; nullopt: unknown.
    struct Disk {
        std::optional<std::uint64_t> free, size;
        std::optional<std::uint64_t> database;  // nullopt: there is none
    };
    // The values that a scrape reads outside the loop.
    struct Asked {
        std::optional<Stored> stored = {};  // nullopt: the store does not answer
        Disk disk = {};
    };
    static constexpr std::uint32_t pending_max = 10'000;
    static constexpr std::uint32_t outstanding_max = 1'000;
    static constexpr std::uint32_t deliveries_max = 1'000;
    [[nodiscard]] static Result<Stored> ask(port::Store& store, Time now);
    // Asks the file system; it may block. `directory` is empty: there is none.
    [[nodiscard]] static Disk disk_of(std::string const& directory);
    // Omits the gauges of what did not answer.
    [[nodiscard]] std::vector<port::MeasureFamily> collect(runner::Runner const& runner,
                                                           Asked const& asked) const;
    [[nodiscard]] Time start() const { return start_; }

private:
    using Counts = std::map<std::string, std::uint64_t, std::less<>>;
    [[nodiscard]] static Counts zeros(std::span<std::string_view const> words) {
        Counts out;
        for (std::string_view const word : words) out.emplace(word, 0);
        return out;
    }

    void note(session::State const& state, session::Event const& event);
    void spent(session::State const& state, session::Usage const& usage);
    void settled(session::CallStatus status) { ++settled_[std::string(session::text(status))]; }
    void write_runner(Exposition& out, runner::Runner const& runner) const;
    void write_stored(Exposition& out, Stored const& stored, Time now) const;
    void write_calls(Exposition& out) const;
    void write_work(Exposition& out) const;
    void write_usage(Exposition& out) const;
    void write_deliveries(Exposition& out, std::optional<Stored> const& stored) const;
    void write_store(Exposition& out) const;
    void write_http(Exposition& out) const;
    void write_nodes(Exposition& out) const;
    void write_indexes(Exposition& out, Time now) const;
    void write_exports(Exposition& out) const;
    void write_copy(Exposition& out, Time now) const;
    void write_archive(Exposition& out, Time now) const;
    void write_process(Exposition& out) const;

    struct Spent {
        std::string model;
        session::Usage usage;
    };

    // Names of tools, and pairs of agent and project; further ones count as "other".
    static constexpr std::size_t tools_max = 100, spenders_max = 200;
    static constexpr std::array<double, 14> latency_bounds{.001, .002, .005, .01, .025, .05, .1,
                                                           .25,  .5,   1,    2.5, 5,    10,  30};
    static constexpr std::array<double, 9> batch_bounds{1, 2, 4, 8, 16, 32, 64, 128, 256};

    Time const start_;
    std::string store_name_ = {};  // empty: not shown
    Counts events_;
    Counts paused_ = zeros(words_of<session::PauseReason>);
    Counts settled_ = zeros(words_of<session::CallStatus>);
    Counts submissions_{{"applied", 0},  {"duplicate", 0}, {"counted", 0},
                        {"conflict", 0}, {"expired", 0},   {"not_found", 0}};
    Counts validations_{{"fits", 0}, {"misfit", 0}, {"failed", 0}, {"refused", 0}};
    Counts effects_{{"model", 0}, {"tool", 0}, {"gate", 0}, {"poll", 0}};
    std::array<std::uint64_t, 2> model_failures_{};                       // [1]: will be retried
    std::map<std::pair<std::string, std::string>, std::uint64_t> tools_;  // by tool and outcome
    std::map<std::string, bool> tool_names_;
    std::map<std::pair<std::string, std::string>, Spent> spent_;  // by agent and project
    std::array<std::uint64_t, words_of<DeliveryEnd>.size()> deliveries_{};
    std::map<std::tuple<std::string, std::string, int>, std::uint64_t> answers_;
    std::uint64_t appends_ = 0;
    std::uint64_t moved_ = 0;  // appends that another one preceded
    Counts store_errors_;
    Histogram resume_{latency_bounds};
    Histogram batch_{batch_bounds};
    Histogram commit_{latency_bounds};
    Troubles troubles_;
    ModelWork model_work_;
    DiskTrend disk_trend_;
    FailingReceivers receivers_;
};

}  // namespace dormouse::http
