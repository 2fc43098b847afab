#include "cli/bench/report.h"

#include "json/json.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace dormouse::cli {
namespace {

// Formats `value` with `digits` digits after the point.
std::string number(double value, int digits) {
    std::array<char, 64> out{};
    std::snprintf(out.data(), out.size(), "%.*f", digits, value);
    return out.data();
}

// 12345.6 → "12,346"
std::string count(double value) {
    auto out = number(value, 0);
    for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > 0; at -= 3) {
        out.insert(static_cast<std::size_t>(at), ",");
    }
    return out;
}

// Formats two durations in microseconds as milliseconds: "0.25 / 0.61".
std::string pair_ms(double p50_us, double p99_us) {
    return number(p50_us / 1000, 2) + " / " + number(p99_us / 1000, 2);
}

double ratio(double value, double by) { return by == 0 ? 0 : value / by; }

std::string row(std::vector<std::string> const& cells) {
    std::string out = "|";
    for (auto const& cell : cells) out += " " + cell + " |";
    return out + "\n";
}

std::string jobs_table(BenchReport const& report) {
    auto const sync = report.disk.overwrite.p50();
    auto out =
        row({"connections", "pauses/s", "p50 / p99 ms", "resumes/s", "p50 / p99 ms",
             "ack p50 / p99 ms", "acks alone/s", "ack p50 ÷ fdatasync", "pauses/s ÷ fdatasync/s"});
    out += row(std::vector<std::string>(9, "---:"));
    for (auto const& job : report.jobs) {
        out += row({std::to_string(job.connections), count(job.pauses_per_s),
                    pair_ms(job.pause_p50_us, job.pause_p99_us), count(job.resumes_per_s),
                    pair_ms(job.resume_p50_us, job.resume_p99_us),
                    pair_ms(job.ack_p50_us, job.ack_p99_us), count(job.acks_per_s),
                    number(ratio(job.ack_p50_us, sync), 1) + " ×",
                    number(ratio(job.pauses_per_s, report.disk.overwrite.rate()), 2) + " ×"});
    }
    return out;
}

std::string disk_text(DiskFigures const& disk) {
    auto const line = [](std::string const& name, Samples const& samples) {
        return "fdatasync of 4 KiB, " + name + ": p50 / p99 " +
               pair_ms(samples.p50(), samples.p99()) + " ms, " + count(samples.rate()) + "/s\n";
    };
    return line("overwrite", disk.overwrite) + line("append", disk.append);
}

std::string cpu_text(std::vector<JobFigures> const& jobs) {
    std::string out;
    for (auto const& job : jobs) {
        out += "CPU at " + std::to_string(job.connections) + ": ";
        // It is unknown of servers that ran before.
        if (job.server_us_per_phase > 0)
            out += "server " + number(job.server_us_per_phase, 0) + " µs a phase, ";
        out += "client " + number(job.client_us_per_request, 0) + " µs a request\n";
    }
    return out;
}

std::string dormant_text(DormantFigures const& d) {
    auto out = row({"asleep", "value"}) + row({"---", "---:"});
    out += row({"sessions", count(static_cast<double>(d.sessions))});
    out += row({"put to sleep over HTTP", count(d.load_per_s) + "/s"});
    out += row({"disk, each", count(d.bytes_each) + " B"});
    out += row({"start to ready", number(d.ready_ms, 1) + " ms"});
    out += row({"resident at start", number(d.rss_mib, 1) + " MiB"});
    out += row({"CPU in " + number(d.asleep_s, 0) + " s", number(d.asleep_cpu_ms, 0) + " ms"});
    out += row({"next expiry, asked over HTTP", number(d.next_expiry_us / 1000, 3) + " ms"});
    out += row({"ready after SIGKILL under load", number(d.killed_ready_ms, 1) + " ms"});
    out += row({"read back, still asleep",
                std::to_string(d.checked) + " of " + std::to_string(d.checked)});
    return out;
}

std::string growth_text(GrowthFigures const& g) {
    return std::to_string(g.turns) + " turns of " +
           number(static_cast<double>(g.content_bytes) / g.turns / 1024, 1) +
           " KiB: " + count(static_cast<double>(g.file_bytes)) + " bytes of file for " +
           count(static_cast<double>(g.content_bytes)) + " bytes of text, " +
           number(g.factor(), 2) + " ×\n";
}

// Rounds to three digits after the point, enough for microseconds and rates.
double rounded(double value) { return std::round(value * 1000) / 1000; }

void write(json::Writer& out, std::string_view name, Samples const& samples) {
    out.key(name).begin_object();
    out.member("p50Us", rounded(samples.p50())).member("p99Us", rounded(samples.p99()));
    out.member("perS", rounded(samples.rate())).end_object();
}

void write(json::Writer& out, JobFigures const& job) {
    out.begin_object().member("connections", job.connections).member("jobs", job.jobs);
    constexpr std::pair<char const*, double JobFigures::*> members[] = {
        {"pausesPerS", &JobFigures::pauses_per_s},
        {"pauseP50Us", &JobFigures::pause_p50_us},
        {"pauseP99Us", &JobFigures::pause_p99_us},
        {"resumesPerS", &JobFigures::resumes_per_s},
        {"resumeP50Us", &JobFigures::resume_p50_us},
        {"resumeP99Us", &JobFigures::resume_p99_us},
        {"ackP50Us", &JobFigures::ack_p50_us},
        {"ackP99Us", &JobFigures::ack_p99_us},
        {"acksAlonePerS", &JobFigures::acks_per_s},
        {"ackAloneP50Us", &JobFigures::ack_alone_p50_us},
        {"ackAloneP99Us", &JobFigures::ack_alone_p99_us},
        {"clientCpuUsPerRequest", &JobFigures::client_us_per_request},
        {"serverCpuUsPerPhase", &JobFigures::server_us_per_phase},
    };
    for (auto const& [name, member] : members) out.member(name, rounded(job.*member));
    out.end_object();
}

void write(json::Writer& out, DormantFigures const& d) {
    out.begin_object().member("sessions", d.sessions).member("loadPerS", rounded(d.load_per_s));
    out.member("bytes", d.bytes).member("bytesEach", rounded(d.bytes_each));
    out.member("readyMs", rounded(d.ready_ms)).member("rssMib", rounded(d.rss_mib));
    out.member("asleepCpuMs", rounded(d.asleep_cpu_ms)).member("asleepS", rounded(d.asleep_s));
    out.member("nextExpiryUs", rounded(d.next_expiry_us))
        .member("killedReadyMs", rounded(d.killed_ready_ms));
    out.member("jobsBeforeKill", d.jobs_before_kill);
    out.member("readBack", static_cast<std::uint64_t>(d.checked)).end_object();
}

}  // namespace

std::string report_text(BenchReport const& report) {
    auto out = report.rounds == 1 ? std::string("One round")
                                  : "Median of " + std::to_string(report.rounds) + " rounds";
    out += ", over HTTP, client on the same machine.\n\n";
    out += jobs_table(report) + "\n" + disk_text(report.disk) + cpu_text(report.jobs);
    if (report.dormant) out += "\n" + dormant_text(*report.dormant);
    if (report.growth) out += "\n" + growth_text(*report.growth);
    return out;
}

Json report_json(BenchReport const& report) {
    json::Writer out;
    out.begin_object().member("rounds", report.rounds).key("fdatasync").begin_object();
    write(out, "overwrite", report.disk.overwrite);
    write(out, "append", report.disk.append);
    out.end_object().key("jobs").begin_array();
    for (auto const& job : report.jobs) write(out, job);
    out.end_array().key("dormant");
    if (report.dormant) {
        write(out, *report.dormant);
    } else {
        out.null();
    }
    out.key("growth");
    if (report.growth) {
        out.begin_object().member("turns", report.growth->turns);
        out.member("contentBytes", report.growth->content_bytes)
            .member("fileBytes", report.growth->file_bytes);
        out.member("factor", rounded(report.growth->factor())).end_object();
    } else {
        out.null();
    }
    return out.end_object().json();
}

}  // namespace dormouse::cli
