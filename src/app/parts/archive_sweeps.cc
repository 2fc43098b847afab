#include "app/parts/archive_sweeps.h"

#include "app/commands/views.h"
#include "app/parts/stores.h"
#include "session/command.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace dormouse::app {

namespace {

constexpr std::size_t deletions_at_once = 64;  // other work runs in between
constexpr std::size_t skipped_max = 10'000;
constexpr Duration first_after{2'000};
constexpr Duration look_again_after{10'000};  // whether this server leads now

}  // namespace

// One sweep: it writes files on another thread; the sessions in them are deleted afterwards.
struct ArchiveSweeps::Job {
    ArchivePlan plan;
    std::string store;
    std::optional<store::MasterKeys> keys;
    Result<ArchiveReport> report = ArchiveReport{};
    std::vector<std::pair<SessionId, Seq>> removed = {};
    std::size_t at = 0;    // how many of them were deleted or refused
    bool changed = false;  // one of them had new events
    bool checks = false;   // only whether files have content that was redacted since
    std::size_t open = 0;  // are being deleted

    void run(std::stop_token const& stop) {
        plan.stopped = [stop] { return stop.stop_requested(); };
        plan.remove = [this](SessionId session, Seq head) {
            removed.emplace_back(session, head);
            return std::expected<void, std::string>();
        };
        auto const view = open_view_of(store, keys);
        if (view)
            report = archive_completed(*view->store, plan, keys);
        else
            report = std::unexpected(view.error());
    }
};

Result<void> check_archive(config::Config const& config) {
    std::string const& to = config.archive.to;
    if (to.empty()) return {};
    if (in_memory(config.store))
        return dormouse::fail(Code::bad_value,
                              "to: a store of kind memory is not archived: its sessions end with "
                              "the server");
    if (std::filesystem::path(to).is_absolute()) return {};
    return dormouse::fail(Code::bad_value, "to: must be an absolute path");
}

ArchiveSweeps::ArchiveSweeps(Services services, config::Config const& config, std::string data)
    : services_(std::move(services)),
      data_(std::move(data)),
      settings_(config.archive),
      store_(config.store) {}

void ArchiveSweeps::attach_to(serve::ServingSettings& settings) {
    settings.archive = [this]() -> std::optional<port::ArchiveStatus> {
        if (settings_.to.empty()) return std::nullopt;
        auto out = status_;
        out.directory = settings_.to;
        return out;
    };
}

// Not before the first heartbeats: until then each of several servers takes itself for the leader.
void ArchiveSweeps::start() {
    phase_ = Phase::waiting;
    services_.loop.after(first_after, timer_.guard([this] { sweep(); }));
}

void ArchiveSweeps::apply(config::Config const& config) {
    if (settings_ == config.archive) return;
    bool const moved = settings_.to != config.archive.to;
    settings_ = config.archive;
    skipped_.clear();
    if (moved) status_.why.clear();
    if (phase_ != Phase::waiting) return;  // the next sweep has the new settings
    timer_.end();
    sweep();
}

void ArchiveSweeps::stop() {
    phase_ = Phase::stopped;
    timer_.end();
    job_.request_stop();
}

void ArchiveSweeps::sweep() {
    if (settings_.to.empty()) return;  // until the next apply()
    if (services_.leads()) return begin_job();
    status_.why.clear();  // another server archives
    phase_ = Phase::waiting;
    services_.loop.after(std::min(settings_.interval, look_again_after),
                         timer_.guard([this] { sweep(); }));
}

void ArchiveSweeps::begin_job() {
    auto keys = master_keys(store_);
    if (!keys) return fail(keys.error().detail);
    auto job = std::make_shared<Job>(
        Job{.plan = {.directory = settings_.to,
                     .until = services_.clock.now() - settings_.completed_after,
                     .sessions_max = settings_.sessions_per_sweep,
                     .skipped = skipped_,
                     .remove = {},
                     .stopped = {}},
            .store = store_place(store_, data_),
            .keys = *std::move(keys)});
    begin(job);
}

void ArchiveSweeps::begin(std::shared_ptr<Job> const& job) {
    phase_ = Phase::sweeping;
    job_ = services_.workers.run([job](std::stop_token const& stop) { job->run(stop); },
                                 scope_.guard([this, job](bool ran) { written(job, ran); }));
}

void ArchiveSweeps::written(std::shared_ptr<Job> const& job, bool ran) {
    if (phase_ == Phase::stopped) return;
    if (!ran) return fail("too much other work is queued");
    remove_next(job);
}

// A session that changed meanwhile refuses, and stays.
void ArchiveSweeps::remove_next(std::shared_ptr<Job> const& job) {
    if (phase_ == Phase::stopped) return;
    if (job->at == job->removed.size()) return finish(*job);
    std::size_t const end = std::min(job->at + deletions_at_once, job->removed.size());
    job->open = end - job->at;
    for (std::size_t i = std::exchange(job->at, end); i < end; ++i) {
        auto const& [session, head] = job->removed[i];
        services_.runner.command(
            session, session::Delete{.if_match = head, .only_completed = true}, runner::Asker{},
            scope_.guard([this, job](Result<session::Answer> const& answer) {
                if (answer) ++status_.deleted;
                if (!answer && answer.error().code == Code::precondition_failed)
                    job->changed = true;
                if (--job->open == 0) remove_next(job);
            }));
    }
}

void ArchiveSweeps::finish(Job const& job) {
    if (!job.report) return fail(job.report.error().detail);
    if (!job.checks) count(job);
    if (job.changed) return begin_check(job);  // finds again what failed
    if (auto const& failed = job.report->failed; !failed.empty())
        return fail("has content that was redacted: " + failed.front());
    wait();
}

void ArchiveSweeps::count(Job const& job) {
    ArchiveReport const& report = *job.report;
    status_.sessions += report.archived;
    status_.bytes += report.bytes;
    status_.swept_at = services_.clock.now();
    status_.why.clear();
    // Sessions that could not be moved are skipped until all others were tried.
    bool const last = report.archived + report.before + report.left.size() < job.plan.sessions_max;
    std::size_t const left = skipped_.size() + report.left.size();
    status_.left = last ? left : std::max<std::uint64_t>(status_.left, left);
    if (last || left > skipped_max) skipped_.clear();
    for (auto const& [session, why] : report.left)
        if (!last && skipped_.size() < skipped_max) skipped_.insert(session);
}

// A session may have been redacted while its file was written. The next sweep finds it, too.
void ArchiveSweeps::begin_check(Job const& swept) {
    auto job = std::make_shared<Job>(Job{
        .plan = {.directory = swept.plan.directory, .sessions_max = 0, .remove = {}, .stopped = {}},
        .store = swept.store,
        .keys = swept.keys,
        .checks = true});
    begin(job);
}

void ArchiveSweeps::fail(std::string const& why) {
    ++status_.failures;
    status_.why = why;
    services_.warn(why);
    wait();
}

void ArchiveSweeps::wait() {
    phase_ = Phase::waiting;
    services_.loop.after(settings_.interval, timer_.guard([this] { sweep(); }));
}

}  // namespace dormouse::app
