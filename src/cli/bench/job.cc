#include "cli/bench/job.h"

#include "base/check.h"
#include "cli/bench/history.h"
#include "json/json.h"

#include <chrono>

namespace dormouse::cli {
namespace {

constexpr std::string_view create_target = "/api/projects/default/sessions?wait=10";
constexpr std::string_view create_body = R"({"agentID":"demo","prompt":{"text":"deploy A"}})";
constexpr std::string_view result_rest =
    R"(","result":{"output":{"status":"ok","url":"https://preview-123.example.com"}}})";
constexpr std::size_t read_back_max = 1000;

// The cost of a phase.
struct Cost {
    double seconds = 0;
    double server_ms = 0;  // CPU
    double client_ms = 0;  // CPU
};

Outcome<Cost> timed_run(LoadClient& client, LoadScript& script, std::string const& wrong,
                        pid_t server) {
    auto const server_before = check_process(server).cpu_ms;
    auto const client_before = own_cpu_ms();
    auto const start = std::chrono::steady_clock::now();
    if (auto const ran = client.run(script); !ran) return std::unexpected(ran.error());
    Cost const cost{seconds_since(start), check_process(server).cpu_ms - server_before,
                    own_cpu_ms() - client_before};
    if (!wrong.empty()) return failure(status::failed, wrong);
    return cost;
}

Outcome<void> read_back(LoadClient& client, RequestWriter const& writer,
                        std::vector<Sleeper> const& sleepers) {
    std::vector<std::string> sample;
    auto const stride = sleepers.size() / read_back_max + 1;
    for (std::size_t i = 0; i < sleepers.size(); i += stride) sample.push_back(sleepers[i].session);
    auto const count = sample.size();
    ReadBackScript script(writer, std::move(sample), "idle");
    if (auto const ran = client.run(script); !ran) return ran;
    if (script.as_expected == count) return {};
    return failure(status::failed, std::to_string(count - script.as_expected) + " of " +
                                       std::to_string(count) +
                                       " sessions are not idle: " + script.first_other);
}

struct Paused {
    Cost cost;
    std::vector<Sleeper> sleepers;
    Samples latency;
    int requests = 1;  // of each session
};

// The pause phase of sessions that have a history: only the turn that pauses is measured.
Outcome<Paused> pause_later(LoadClient& client, RequestWriter const& writer, pid_t server,
                            JobPlan const& plan) {
    CreateScript create(writer, plan.jobs);
    if (auto const ran = timed_run(client, create, create.wrong, server); !ran)
        return std::unexpected(ran.error());
    TurnScript grow(writer, create.sessions, turns_of(plan.history));
    if (auto const ran = timed_run(client, grow, grow.wrong, server); !ran)
        return std::unexpected(ran.error());
    TurnScript pause(writer, create.sessions, {1, "deploy A"});
    auto const cost = timed_run(client, pause, pause.wrong, server);
    if (!cost) return std::unexpected(cost.error());
    if (pause.sleepers.size() != create.sessions.size())
        return failure(status::failed, "only " + std::to_string(pause.sleepers.size()) + " of " +
                                           std::to_string(create.sessions.size()) +
                                           " sessions sleep");
    return Paused{*cost, std::move(pause.sleepers), std::move(pause.latency), 2};
}

Outcome<Paused> pause_all(LoadClient& client, RequestWriter const& writer, pid_t server,
                          JobPlan const& plan) {
    if (plan.history > 0) return pause_later(client, writer, server, plan);
    PauseScript pause(writer, plan.jobs, static_cast<std::size_t>(plan.jobs));
    auto const cost = timed_run(client, pause, pause.wrong, server);
    if (!cost) return std::unexpected(cost.error());
    return Paused{*cost, std::move(pause.kept), std::move(pause.latency)};
}

}  // namespace

std::string unexpected_answer(std::string_view what, int status, std::string_view body) {
    return std::string(what) + " was answered " + std::to_string(status) + ": " +
           std::string(body.substr(0, 300));
}

RequestWriter::RequestWriter(std::vector<Address> const& servers, std::string const& token) {
    CHECK(!servers.empty());
    for (auto const& server : servers) {
        auto headers = " HTTP/1.1\r\nHost: " + server.host + ":" + server.port + "\r\n";
        if (!token.empty()) headers += "Authorization: Bearer " + token + "\r\n";
        headers_.push_back(std::move(headers));
    }
}

std::string RequestWriter::get(std::size_t connection, std::string_view target) const {
    return "GET " + std::string(target) + headers_[connection % headers_.size()] + "\r\n";
}

std::string RequestWriter::post(std::size_t connection, std::string_view target,
                                std::string_view body) const {
    return "POST " + std::string(target) + headers_[connection % headers_.size()] +
           "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + std::string(body);
}

PauseScript::PauseScript(RequestWriter const& writer, std::int64_t count, std::size_t kept_max)
    : writer_(writer), left_(count), kept_max_(kept_max) {}

bool PauseScript::next(std::size_t connection, std::string& out) {
    if (left_ == 0) return false;
    --left_;
    out = writer_.post(connection, create_target, create_body);
    return true;
}

bool PauseScript::take(std::size_t, int status, std::string_view body, double took_us) {
    auto const session = member_text(body, "id");
    auto const pending = member_text(body, "pendingID");
    if (status != 201 || session.empty() || pending.empty()) {
        wrong = unexpected_answer("a new session", status, body);
        return false;
    }
    latency.add(took_us);
    if (kept.size() < kept_max_) {
        kept.push_back({std::string(session), std::string(pending)});
    } else if (kept_max_ > 0) {
        kept[static_cast<std::size_t>(done) % kept_max_] = {std::string(session),
                                                            std::string(pending)};
    }
    ++done;
    if (on_done) on_done(done);
    return true;
}

ResumeScript::ResumeScript(RequestWriter const& writer, std::vector<Sleeper> const& sleepers,
                           bool observe)
    : writer_(writer), sleepers_(sleepers), observe_(observe) {}

bool ResumeScript::next(std::size_t connection, std::string& out) {
    if (connection >= links_.size()) links_.resize(connection + 1);
    auto& link = links_[connection];
    if (link.watches) {
        out = writer_.get(connection,
                          "/api/sessions/" + sleepers_[link.sleeper].session + "?wait=10");
        return true;
    }
    if (next_ == sleepers_.size()) return false;
    link.sleeper = next_++;
    auto body = R"({"pendingID":")" + sleepers_[link.sleeper].pending;
    body += result_rest;
    out = writer_.post(connection, "/async-tool/result", body);
    return true;
}

bool ResumeScript::take(std::size_t connection, int status, std::string_view body, double took_us) {
    auto& link = links_[connection];
    auto const expected = link.watches ? R"("type":"idle")" : R"("outcome":"applied")";
    if (status != 200 || body.find(expected) == std::string_view::npos) {
        wrong = unexpected_answer(link.watches ? "a resumed session" : "a result", status, body);
        return false;
    }
    if (link.watches) {
        whole.add(link.ack_us + took_us);
        link.watches = false;
    } else {
        ack.add(took_us);
        link.ack_us = took_us;
        link.watches = observe_;
    }
    return true;
}

ReadBackScript::ReadBackScript(RequestWriter const& writer, std::vector<std::string> sessions,
                               std::string activity)
    : writer_(writer),
      sessions_(std::move(sessions)),
      expected_(R"("type":")" + std::move(activity) + "\"") {}

bool ReadBackScript::next(std::size_t connection, std::string& out) {
    if (next_ == sessions_.size()) return false;
    out = writer_.get(connection, "/api/sessions/" + sessions_[next_++] + "?wait=10");
    return true;
}

bool ReadBackScript::take(std::size_t, int status, std::string_view body, double) {
    bool const good = status == 200 && body.find(expected_) != std::string_view::npos;
    if (good) ++as_expected;
    if (!good && first_other.empty()) first_other = unexpected_answer("a session", status, body);
    return true;
}

Outcome<JobFigures> run_job(JobTarget const& target, JobPlan const& plan) {
    auto client = LoadClient::open(target.servers, static_cast<std::size_t>(plan.connections));
    if (!client) return std::unexpected(client.error());
    RequestWriter const writer(target.servers, target.token);
    auto const count = static_cast<double>(plan.jobs);

    auto const pause = pause_all(*client, writer, target.server, plan);
    if (!pause) return std::unexpected(pause.error());
    ResumeScript resume(writer, pause->sleepers, true);
    auto const resumed = timed_run(*client, resume, resume.wrong, target.server);
    if (!resumed) return std::unexpected(resumed.error());
    auto const again = pause_all(*client, writer, target.server, plan);
    if (!again) return std::unexpected(again.error());
    ResumeScript acks(writer, again->sleepers, false);
    auto const acked = timed_run(*client, acks, acks.wrong, target.server);
    if (!acked) return std::unexpected(acked.error());
    for (auto const& sleepers : {std::cref(pause->sleepers), std::cref(again->sleepers)}) {
        if (auto const read = read_back(*client, writer, sleepers); !read)
            return std::unexpected(read.error());
    }

    JobFigures figures{.connections = plan.connections, .jobs = plan.jobs};
    figures.client_us_per_request =
        (pause->cost.client_ms + resumed->client_ms) * 1000 / ((pause->requests + 2) * count);
    figures.server_us_per_phase = (pause->cost.server_ms + resumed->server_ms) * 1000 / (2 * count);
    figures.pauses_per_s = count / pause->cost.seconds;
    figures.pause_p50_us = pause->latency.p50();
    figures.pause_p99_us = pause->latency.p99();
    figures.resumes_per_s = count / resumed->seconds;
    figures.resume_p50_us = resume.whole.p50();
    figures.resume_p99_us = resume.whole.p99();
    figures.ack_p50_us = resume.ack.p50();
    figures.ack_p99_us = resume.ack.p99();
    figures.acks_per_s = count / acked->seconds;
    figures.ack_alone_p50_us = acks.ack.p50();
    figures.ack_alone_p99_us = acks.ack.p99();
    return figures;
}

JobFigures median(std::vector<JobFigures> const& rounds) {
    CHECK(!rounds.empty());
    auto middle = rounds.front();
    for (auto const member :
         {&JobFigures::pauses_per_s, &JobFigures::pause_p50_us, &JobFigures::pause_p99_us,
          &JobFigures::resumes_per_s, &JobFigures::resume_p50_us, &JobFigures::resume_p99_us,
          &JobFigures::ack_p50_us, &JobFigures::ack_p99_us, &JobFigures::acks_per_s,
          &JobFigures::ack_alone_p50_us, &JobFigures::ack_alone_p99_us,
          &JobFigures::client_us_per_request, &JobFigures::server_us_per_phase}) {
        std::vector<double> values;
        for (auto const& round : rounds) values.push_back(round.*member);
        middle.*member = median(std::move(values));
    }
    return middle;
}

}  // namespace dormouse::cli
