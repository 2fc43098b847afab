#include "cli/bench/job.h"

#include "base/check.h"
#include "json/json.h"

#include <chrono>

namespace dormouse::cli {
namespace {

constexpr std::string_view create_target = "/api/projects/default/sessions?wait=10";
constexpr std::string_view create_body = R"({"agentID":"demo","prompt":{"text":"deploy A"}})";
constexpr std::string_view result_rest =
    R"(","result":{"output":{"status":"ok","url":"https://preview-123.example.com"}}})";
constexpr std::size_t read_back_max = 1000;

std::string unexpected_answer(std::string_view what, int status, std::string_view body) {
    return std::string(what) + " was answered " + std::to_string(status) + ": " +
           std::string(body.substr(0, 300));
}

Outcome<double> timed_run(LoadClient& client, LoadScript& script, std::string const& wrong) {
    auto const start = std::chrono::steady_clock::now();
    if (auto const ran = client.run(script); !ran) return std::unexpected(ran.error());
    auto const seconds = seconds_since(start);
    if (!wrong.empty()) return failure(status::failed, wrong);
    return seconds;
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

}  // namespace

RequestWriter::RequestWriter(Address const& address, std::string const& token) {
    headers_ = " HTTP/1.1\r\nHost: " + address.host + ":" + address.port + "\r\n";
    if (!token.empty()) headers_ += "Authorization: Bearer " + token + "\r\n";
}

std::string RequestWriter::get(std::string_view target) const {
    return "GET " + std::string(target) + headers_ + "\r\n";
}

std::string RequestWriter::post(std::string_view target, std::string_view body) const {
    return "POST " + std::string(target) + headers_ +
           "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + std::string(body);
}

PauseScript::PauseScript(RequestWriter const& writer, std::int64_t count, std::size_t kept_max)
    : request_(writer.post(create_target, create_body)), left_(count), kept_max_(kept_max) {}

bool PauseScript::next(std::size_t, std::string& out) {
    if (left_ == 0) return false;
    --left_;
    out = request_;
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
        out = writer_.get("/api/sessions/" + sleepers_[link.sleeper].session + "?wait=10");
        return true;
    }
    if (next_ == sleepers_.size()) return false;
    link.sleeper = next_++;
    auto body = R"({"pendingID":")" + sleepers_[link.sleeper].pending;
    body += result_rest;
    out = writer_.post("/async-tool/result", body);
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

bool ReadBackScript::next(std::size_t, std::string& out) {
    if (next_ == sessions_.size()) return false;
    out = writer_.get("/api/sessions/" + sessions_[next_++] + "?wait=10");
    return true;
}

bool ReadBackScript::take(std::size_t, int status, std::string_view body, double) {
    bool const good = status == 200 && body.find(expected_) != std::string_view::npos;
    if (good) ++as_expected;
    if (!good && first_other.empty()) first_other = unexpected_answer("a session", status, body);
    return true;
}

Outcome<JobFigures> run_job(JobTarget const& target, int connections, std::int64_t jobs) {
    auto client = LoadClient::open(target.address, static_cast<std::size_t>(connections));
    if (!client) return std::unexpected(client.error());
    RequestWriter const writer(target.address, target.token);
    auto const count = static_cast<double>(jobs);
    auto const kept = static_cast<std::size_t>(jobs);
    JobFigures figures{.connections = connections, .jobs = jobs};
    auto const server_before = check_process(target.server).cpu_ms;
    auto const client_before = own_cpu_ms();

    PauseScript pause(writer, jobs, kept);
    auto const pause_s = timed_run(*client, pause, pause.wrong);
    if (!pause_s) return std::unexpected(pause_s.error());
    ResumeScript resume(writer, pause.kept, true);
    auto const resume_s = timed_run(*client, resume, resume.wrong);
    if (!resume_s) return std::unexpected(resume_s.error());
    figures.client_us_per_request = (own_cpu_ms() - client_before) * 1000 / (3 * count);
    figures.server_us_per_phase =
        (check_process(target.server).cpu_ms - server_before) * 1000 / (2 * count);

    PauseScript again(writer, jobs, kept);
    if (auto const ran = timed_run(*client, again, again.wrong); !ran)
        return std::unexpected(ran.error());
    ResumeScript acks(writer, again.kept, false);
    auto const acks_s = timed_run(*client, acks, acks.wrong);
    if (!acks_s) return std::unexpected(acks_s.error());
    for (auto const& sleepers : {std::cref(pause.kept), std::cref(again.kept)}) {
        if (auto const read = read_back(*client, writer, sleepers); !read)
            return std::unexpected(read.error());
    }

    figures.pauses_per_s = count / *pause_s;
    figures.pause_p50_us = pause.latency.p50();
    figures.pause_p99_us = pause.latency.p99();
    figures.resumes_per_s = count / *resume_s;
    figures.resume_p50_us = resume.whole.p50();
    figures.resume_p99_us = resume.whole.p99();
    figures.ack_p50_us = resume.ack.p50();
    figures.ack_p99_us = resume.ack.p99();
    figures.acks_per_s = count / *acks_s;
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
