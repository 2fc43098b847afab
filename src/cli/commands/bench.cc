// bench: the job of bench/job.h on its own server, next to the speed of the disk at the same time.

#include "cli/bench/report.h"
#include "cli/commands/commands.h"

#include <algorithm>
#include <ostream>

namespace dormouse::cli {
namespace {

constexpr int probe_samples = 150;  // before and after each run, because the speed of a disk varies
constexpr int warm_up_jobs = 200;
constexpr int one_connection_share = 6;  // one connection is slower: it runs a sixth of the jobs

class Bench {
public:
    Bench(Context const& context, BenchArgs const& args, std::string parent)
        : context_(context), args_(args), parent_(std::move(parent)) {}
    [[nodiscard]] Outcome<BenchReport> run();

private:
    [[nodiscard]] Outcome<void> jobs(BenchReport& report);
    [[nodiscard]] Outcome<void> jobs_on(JobTarget const& target, std::string const& folder,
                                        BenchReport& report);
    [[nodiscard]] Outcome<void> jobs_on_running(std::string const& folder, BenchReport& report);
    [[nodiscard]] Outcome<void> rest(BenchReport& report);
    void print_line(std::string const& text) const {
        context_.err << "  " << text << '\n' << std::flush;
    }

    Context const& context_;
    BenchArgs const& args_;
    std::string parent_;
};

// Each round runs all connection counts, so that a slow minute of the machine affects all alike.
Outcome<void> Bench::jobs_on(JobTarget const& target, std::string const& folder,
                             BenchReport& report) {
    auto const few = [&](int most) { return std::min(most, args_.jobs); };
    if (auto const warm = run_job(target, {.connections = 8, .jobs = few(warm_up_jobs)}); !warm)
        return std::unexpected(warm.error());
    auto const probe = [&] { return probe_disk(folder, few(probe_samples), report.disk); };
    std::vector<std::vector<JobFigures>> rounds(args_.connections.size());
    for (int round = 1; round <= args_.rounds; ++round) {
        print_line("round " + std::to_string(round) + " of " + std::to_string(args_.rounds));
        for (std::size_t i = 0; i < args_.connections.size(); ++i) {
            int const connections = args_.connections[i];
            if (auto const probed = probe(); !probed) return probed;
            auto const count = connections == 1 ? args_.jobs / one_connection_share : args_.jobs;
            auto const figures = run_job(target, {connections, count, args_.history});
            if (!figures) return std::unexpected(figures.error());
            if (auto const probed = probe(); !probed) return probed;
            rounds[i].push_back(*figures);
        }
    }
    for (auto const& all : rounds) report.jobs.push_back(median(all));
    return {};
}

Outcome<void> Bench::jobs_on_running(std::string const& folder, BenchReport& report) {
    JobTarget target{.servers = {}, .token = token(context_.global, context_.env)};
    for (auto const& url : args_.on) {
        auto address = parse_url(url);
        if (!address) return std::unexpected(address.error());
        if (address->tls) return failure(status::usage, "bench --on measures http:// only: " + url);
        target.servers.push_back(*std::move(address));
    }
    return jobs_on(target, folder, report);
}

Outcome<void> Bench::jobs(BenchReport& report) {
    auto const folder = TemporaryFolder::make(parent_);
    if (!folder) return std::unexpected(folder.error());
    if (!args_.on.empty()) return jobs_on_running(folder->path(), report);
    auto server = start_server(folder->path());
    if (!server) return std::unexpected(server.error());
    auto const target = target_of(*server);
    if (!target) return std::unexpected(target.error());
    if (auto const ran = jobs_on(*target, folder->path(), report); !ran) return ran;
    return server->stop();
}

Outcome<void> Bench::rest(BenchReport& report) {
    if (args_.dormant > 0) {
        auto const folder = TemporaryFolder::make(parent_);
        if (!folder) return std::unexpected(folder.error());
        auto const figures = measure_dormant(folder->path(), args_.dormant,
                                             [this](std::string const& text) { print_line(text); });
        if (!figures) return std::unexpected(figures.error());
        report.dormant = *figures;
    }
    if (args_.growth) {
        auto const folder = TemporaryFolder::make(parent_);
        if (!folder) return std::unexpected(folder.error());
        auto const figures = measure_growth(folder->path());
        if (!figures) return std::unexpected(figures.error());
        report.growth = *figures;
    }
    return {};
}

Outcome<BenchReport> Bench::run() {
    BenchReport report;
    report.rounds = args_.rounds;
    if (auto const ran = jobs(report); !ran) return std::unexpected(ran.error());
    if (auto const ran = rest(report); !ran) return std::unexpected(ran.error());
    return report;
}

}  // namespace

Outcome<int> execute(Context const& context, BenchArgs const& args) {
    auto const parent = context.global.data.empty() ? std::string(".") : context.global.data;
    auto const report = Bench(context, args, parent).run();
    if (!report) return std::unexpected(report.error());
    context.show(report_json(*report), report_text(*report));
    return status::done;
}

}  // namespace dormouse::cli
