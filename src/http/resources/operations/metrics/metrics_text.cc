#include "http/resources/operations/metrics/metrics.h"

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>

// Writes GET /metrics, family by family.
namespace dormouse::http {

using session::Usage;

namespace {

double seconds_of(Time at) { return static_cast<double>(to_ms(at)) / 1'000; }

template <class Counts>
void write_counts(Exposition& out, Counts const& counts, char const* label) {
    for (auto const& [word, count] : counts) out.sample(count, {{label, word}});
}

std::uint64_t resident_bytes() {
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void write_disk(Exposition& out, Metrics::Disk const& disk) {
    if (disk.free)
        out.gauge("dormouse_disk_free_bytes", "Free on the file system of the data directory")
            .sample(*disk.free);
    if (disk.size)
        out.gauge("dormouse_disk_size_bytes", "Size of the file system of the data directory")
            .sample(*disk.size);
    if (disk.database)
        out.gauge("dormouse_database_bytes", "SQLite's file and its log").sample(*disk.database);
}

double cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    auto const of = [](timeval const& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return of(used.ru_utime) + of(used.ru_stime);
}

std::uint64_t flag(bool yes) { return yes ? 1 : 0; }

}  // namespace

OpenFiles open_files() {
    OpenFiles out;
    std::error_code error;
    std::filesystem::directory_iterator files("/proc/self/fd", error);
    for (; !error && files != std::filesystem::directory_iterator(); files.increment(error))
        ++out.open;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    out.max = limit.rlim_cur;
    return out;
}

std::vector<port::MeasureFamily> Metrics::collect(runner::Runner const& runner,
                                                  Asked const& asked) const {
    auto const& stored = asked.stored;
    Exposition out;
    out.gauge("dormouse_store_answers", "1 while the store answers")
        .sample(flag(stored.has_value()));
    if (!store_name_.empty())
        out.gauge("dormouse_store_info", "1; the label names the store")
            .sample(std::uint64_t{1}, {{"store", store_name_}});
    write_nodes(out);
    write_indexes(out, runner.now());
    write_exports(out);
    write_copy(out, runner.now());
    write_archive(out, runner.now());
    if (stored) write_stored(out, *stored, runner.now());
    write_runner(out, runner);
    write_calls(out);
    write_work(out);
    write_usage(out);
    write_deliveries(out, stored);
    write_store(out);
    write_disk(out, asked.disk);
    write_http(out);
    write_process(out);
    return out.take();
}

void Metrics::write_stored(Exposition& out, Stored const& stored, Time now) const {
    out.gauge("dormouse_pending_calls", "Calls that wait for an outcome; counting ends at 10000")
        .sample(stored.pending.count);
    Duration const age =
        stored.pending.oldest ? std::max(Duration(0), now - *stored.pending.oldest) : Duration(0);
    out.gauge("dormouse_pending_oldest_age_seconds",
              "How long the oldest of the calls counted has waited; 0: none waits")
        .sample(static_cast<double>(age.count()) / 1'000);
    out.gauge("dormouse_sessions_outstanding",
              "Sessions with outstanding work now; counting ends at 1000")
        .sample(std::uint64_t{stored.outstanding});
    if (!stored.next_wake) return;
    out.gauge("dormouse_next_wake_timestamp_seconds",
              "When the next session wakes; 0: one has outstanding work now")
        .sample(seconds_of(*stored.next_wake));
}

void Metrics::write_runner(Exposition& out, runner::Runner const& runner) const {
    out.gauge("dormouse_sessions_resident", "Sessions in memory")
        .sample(std::uint64_t{runner.resident()});
    out.gauge("dormouse_sessions_resident_bytes", "What idle sessions take in memory, about")
        .sample(std::uint64_t{runner.resident_bytes()});
    out.gauge("dormouse_store_failed", "1 after a write to the disk failed: the server stops")
        .sample(flag(runner.failed()));
    out.gauge("dormouse_draining", "1 while the server stops").sample(flag(runner.draining()));
    out.gauge("dormouse_held", "1 while a restored copy holds").sample(flag(runner.held()));
    out.gauge("dormouse_clock_guarded",
              "1 while deadlines are delayed because the clock jumped ahead")
        .sample(flag(runner.clock().holding()));
}

void Metrics::write_calls(Exposition& out) const {
    out.counter("dormouse_calls_paused_total", "Pauses of calls, by what they wait for");
    write_counts(out, paused_, "reason");
    out.counter("dormouse_calls_settled_total", "Pauses that ended, by how");
    write_counts(out, settled_, "status");
    out.counter("dormouse_submissions_total",
                "Outcomes that were offered, by what became of them: applied, duplicate, counted "
                "(a vote), or the code of the refusal");
    write_counts(out, submissions_, "outcome");
    out.counter("dormouse_validations_total",
                "Results that programs were to check, by what became of it: fits, misfit, failed "
                "(the program), refused (too many waited)");
    write_counts(out, validations_, "outcome");
    out.histogram("dormouse_resume_seconds",
                  "From an outcome that lets a session continue to its next request, tool or end",
                  resume_);
    out.counter("dormouse_events_total", "Events appended, by type");
    write_counts(out, events_, "type");
}

void Metrics::write_work(Exposition& out) const {
    out.counter("dormouse_effects_started_total", "Work begun for sessions, by kind");
    write_counts(out, effects_, "kind");
    out.counter("dormouse_tool_attempts_total", "Attempts of tools that ended, by how");
    for (auto const& [key, count] : tools_)
        out.sample(count, {{"tool", key.first}, {"outcome", key.second}});
    out.counter("dormouse_model_failures_total",
                "Failed requests to models, by whether they are tried again");
    out.sample(model_failures_[0], {{"retry", "false"}});
    out.sample(model_failures_[1], {{"retry", "true"}});
    auto const load = models();
    out.gauge("dormouse_model_requests_running", "Requests to models that are on their way");
    for (ModelLoad const& one : load)
        out.sample(std::uint64_t{one.running}, {{"model", one.model}});
    out.gauge("dormouse_model_requests_waiting", "Requests that wait for a model's concurrency");
    for (ModelLoad const& one : load)
        out.sample(std::uint64_t{one.waiting}, {{"model", one.model}});
    model_work_.write(out);
}

void Metrics::write_usage(Exposition& out) const {
    out.counter(
        "dormouse_tokens_total",
        "Tokens of replies; cached and cache_written ones are input, reasoning ones output");
    for (auto const& [who, spent] : spent_) {
        Usage const& usage = spent.usage;
        for (auto const& [kind, count] :
             {std::pair("input", usage.input_tokens), std::pair("output", usage.output_tokens),
              std::pair("cached", usage.cached_tokens),
              std::pair("cache_written", usage.cache_written_tokens),
              std::pair("reasoning", usage.reasoning_tokens)})
            out.sample(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0)),
                       {{"agent", who.first},
                        {"project", who.second},
                        {"model", spent.model},
                        {"kind", kind}});
    }
    out.counter("dormouse_cost_total", "Cost of replies, in units of the currency");
    for (auto const& [who, spent] : spent_)
        for (auto const& [currency, micros] : spent.usage.cost)
            out.sample(static_cast<double>(micros) / 1e6, {{"agent", who.first},
                                                           {"project", who.second},
                                                           {"model", spent.model},
                                                           {"currency", currency}});
}

void Metrics::write_deliveries(Exposition& out, std::optional<Stored> const& stored) const {
    out.counter("dormouse_deliveries_total",
                "Attempts to deliver webhooks and notifications, by how they ended");
    for (std::size_t end = 0; end < deliveries_.size(); ++end)
        out.sample(deliveries_[end], {{"outcome", words_of<DeliveryEnd>[end]}});
    if (!stored) return;
    out.gauge("dormouse_deliveries_waiting",
              "Deliveries that wait, also for another attempt; counting ends at 1000")
        .sample(stored->deliveries_waiting);
    out.gauge("dormouse_deliveries_given_up",
              "Deliveries that were given up and are kept; counting ends at 1000")
        .sample(stored->deliveries_given_up);
}

void Metrics::write_store(Exposition& out) const {
    out.counter("dormouse_appends_total", "Appends that became durable").sample(appends_);
    out.counter("dormouse_appends_moved_total",
                "Appends decided again because another one came first")
        .sample(moved_);
    out.histogram("dormouse_commit_appends", "Appends in one commit", batch_);
    out.histogram("dormouse_commit_seconds", "How long one commit took, its sync included",
                  commit_);
    out.counter("dormouse_append_errors_total", "Appends that the store did not take, by code");
    write_counts(out, store_errors_, "code");
    auto const lost = lost_commits();
    if (!lost) return;
    out.counter("dormouse_lost_commits_total",
                "Commits whose answer was lost with the connection, by what became of them");
    for (auto const& [outcome, count] :
         {std::pair("committed", lost->committed), std::pair("not_committed", lost->not_committed),
          std::pair("unknown", lost->unknown)})
        out.sample(count, {{"outcome", outcome}});
}

void Metrics::write_http(Exposition& out) const {
    out.counter("dormouse_http_requests_total",
                "Answers, by the route's pattern; streams count when they begin");
    for (auto const& [key, count] : answers_) {
        auto const& [method, route, status] = key;
        std::string const code = std::to_string(status) + "xx";
        out.sample(count, {{"method", method}, {"route", route}, {"code", code}});
    }
    Connections const open = connections();
    out.gauge("dormouse_http_connections", "Open connections, streams among them")
        .sample(std::uint64_t{open.open});
    out.gauge("dormouse_http_streams", "Open event streams").sample(std::uint64_t{open.streams});
    out.counter("dormouse_http_connections_refused_total", "Connections turned away at the limit")
        .sample(open.refused);
}

void Metrics::write_nodes(Exposition& out) const {
    auto const shared = shared_with();
    if (!shared) return;
    out.gauge("dormouse_nodes", "Processes that share the store, this one among them")
        .sample(std::uint64_t{shared->nodes});
    out.counter("dormouse_nodes_removed_total", "Processes whose place this one took")
        .sample(shared->removed);
    out.counter("dormouse_fenced_total", "How often the other processes declared this one dead")
        .sample(shared->fenced);
    out.counter("dormouse_takeovers_total",
                "Sessions at work of processes that are gone, which this one continued")
        .sample(shared->taken_over);
    out.gauge("dormouse_feed_behind_seconds",
              "How long the oldest append of the other processes has waited to be read here; 0: "
              "none waits")
        .sample(static_cast<double>(shared->behind.count()) / 1'000);
}

void Metrics::write_indexes(Exposition& out, Time now) const {
    auto const all = indexes();
    if (all.empty()) return;
    out.gauge("dormouse_index_up", "Whether the index works: 1, or 0 while it fails");
    for (auto const& one : all)
        out.sample(std::uint64_t{one.state != port::IndexState::failed}, {{"index", one.name}});
    out.gauge("dormouse_index_behind_seconds",
              "How long the oldest append that the index lacks has waited; 0: it lacks none");
    for (auto const& one : all) {
        Duration const behind = std::max(Duration(0), now - one.behind_since.value_or(now));
        out.sample(static_cast<double>(behind.count()) / 1'000, {{"index", one.name}});
    }
    out.counter("dormouse_index_documents_total", "Documents written to the index");
    for (auto const& one : all) out.sample(one.documents, {{"index", one.name}});
    out.counter("dormouse_index_rebuilds_total", "How often the index was made again");
    for (auto const& one : all) out.sample(one.rebuilds, {{"index", one.name}});
    out.counter("dormouse_index_failures_total", "Attempts to write the index that failed");
    for (auto const& one : all) out.sample(one.failures, {{"index", one.name}});
}

void Metrics::write_exports(Exposition& out) const {
    auto const traces = exports();
    if (!traces) return;
    out.gauge("dormouse_trace_export_up", "Whether the collector takes spans: 1, or 0 while not")
        .sample(std::uint64_t{traces->works()});
    out.counter("dormouse_spans_exported_total", "Spans that the collector took")
        .sample(traces->exported);
    out.counter("dormouse_spans_dropped_total", "Spans that the collector will never get")
        .sample(traces->dropped);
    out.gauge("dormouse_spans_waiting", "Spans that wait for the collector")
        .sample(traces->waiting);
    out.counter("dormouse_trace_export_failures_total", "Attempts to send spans that failed")
        .sample(traces->failures);
}

void Metrics::write_copy(Exposition& out, Time now) const {
    auto const all = copy();
    if (!all) return;
    out.gauge("dormouse_copy_up", "Whether the continuous copy works: 1, or 0 while it fails")
        .sample(std::uint64_t{all->works()});
    if (all->copied_at) {
        Duration const age = std::max(Duration(0), now - *all->copied_at);
        out.gauge("dormouse_copy_age_seconds", "Age of the newest state in the continuous copy")
            .sample(static_cast<double>(age.count()) / 1'000);
    }
    out.gauge("dormouse_copy_feed_position", "Newest position of the feed in the copy")
        .sample(all->feed);
    out.gauge("dormouse_copy_increment_seconds", "How long the newest increment took")
        .sample(static_cast<double>(all->took.count()) / 1'000);
    out.counter("dormouse_copy_bytes_total", "Bytes written to the copy").sample(all->bytes);
    out.counter("dormouse_copy_objects_total", "Objects written to the copy").sample(all->objects);
    out.counter("dormouse_copy_bases_total", "How often a whole copy was begun").sample(all->bases);
    out.counter("dormouse_copy_failures_total", "Attempts to write the copy that failed")
        .sample(all->failures);
}

void Metrics::write_archive(Exposition& out, Time now) const {
    auto const all = archive();
    if (!all) return;
    out.gauge("dormouse_archive_up", "Whether the archive is written: 1, or 0 while it fails")
        .sample(std::uint64_t{all->works()});
    if (all->swept_at) {
        Duration const age = std::max(Duration(0), now - *all->swept_at);
        out.gauge("dormouse_archive_age_seconds", "Time since the newest sweep that worked")
            .sample(static_cast<double>(age.count()) / 1'000);
    }
    out.counter("dormouse_archived_sessions_total", "Sessions written to the archive")
        .sample(all->sessions);
    out.counter("dormouse_archived_bytes_total", "Bytes written to the archive").sample(all->bytes);
    out.gauge("dormouse_archive_left_sessions",
              "Sessions that are old enough but could not be archived")
        .sample(all->left);
    out.counter("dormouse_archive_failures_total", "Sweeps of the archive that failed")
        .sample(all->failures);
}

void Metrics::write_process(Exposition& out) const {
    out.gauge("process_start_time_seconds", "When the process started, since the Unix epoch")
        .sample(seconds_of(start_));
    out.gauge("process_resident_memory_bytes", "Resident memory").sample(resident_bytes());
    OpenFiles const files = open_files();
    out.gauge("process_open_fds", "Open file descriptors").sample(files.open);
    out.gauge("process_max_fds", "How many it may open").sample(files.max);
    out.counter("process_cpu_seconds_total", "User and system CPU time").sample(cpu_seconds());
}

}  // namespace dormouse::http
