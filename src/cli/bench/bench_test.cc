#include "cli/bench/history.h"
#include "cli/bench/report.h"
#include "cli/client/test_server.h"
#include "json/json.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace dormouse::cli {
namespace {

TEST(Samples, Percentiles_AreSamples) {
    Samples samples;
    EXPECT_EQ(samples.p50(), 0);
    for (int i = 100; i >= 1; --i) samples.add(i);
    EXPECT_EQ(samples.p50(), 50);
    EXPECT_EQ(samples.p99(), 99);
    EXPECT_EQ(samples.percentile(1), 100);
    EXPECT_EQ(samples.percentile(0), 1);
    EXPECT_NEAR(samples.rate(), 1e6 / 50.5, 0.01);
}

TEST(Samples, MedianOfEvenNumber_IsTheLowerMiddle) {
    EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2);
    EXPECT_EQ(median(std::vector<double>{7}), 7);
}

TEST(ReplyHead, IncompleteHead_IsNotParsed) {
    std::string const head = "HTTP/1.1 201 Created\r\nX: y\r\ncontent-LENGTH: 12\r\n\r\n";
    for (std::size_t cut = 0; cut < head.size(); ++cut)
        EXPECT_FALSE(reply_head(head.substr(0, cut))) << cut;
    auto const parsed = reply_head(head + "rest");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->status, 201);
    EXPECT_EQ(parsed->size, head.size());
    EXPECT_EQ(parsed->content_length, 12U);
}

TEST(ReplyHead, NoContentLength_IsNotParsed) {
    EXPECT_FALSE(reply_head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
    EXPECT_FALSE(reply_head("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"));
}

TEST(MemberText, Name_FindsItsStringOnly) {
    auto const json = R"({"projectID":"p","id":"ses_1","pendingIDs":["x"],"pendingID":"pnd_1"})";
    EXPECT_EQ(member_text(json, "id"), "ses_1");
    EXPECT_EQ(member_text(json, "pendingID"), "pnd_1");
    EXPECT_EQ(member_text(json, "none"), "");
}

class Load : public testing::Test {
protected:
    Load() : servers_{*parse_url(server_.url())}, writer_(servers_, "t") {}

    FakeServer server_;
    std::vector<Address> servers_;
    RequestWriter writer_;
};

constexpr char const* asleep =
    R"({"id":"ses_1","activity":{"type":"waiting_async","pendingID":"pnd_1"}})";

TEST_F(Load, PausesAndResumes_AreCountedAndTimed) {
    server_.answer("POST /api/projects/default/sessions?wait=10", 201, asleep);
    server_.answer("POST /async-tool/result", 200, R"({"outcome":"applied"})");
    server_.answer("GET /api/sessions/ses_1?wait=10", 200, R"({"activity":{"type":"idle"}})");
    auto client = LoadClient::open(servers_, 3);
    ASSERT_TRUE(client);
    PauseScript pause(writer_, 10, 4);
    ASSERT_TRUE(client->run(pause));
    EXPECT_EQ(pause.done, 10);
    EXPECT_EQ(pause.kept.size(), 4U);
    EXPECT_EQ(pause.latency.us.size(), 10U);
    ResumeScript resume(writer_, pause.kept, true);
    ASSERT_TRUE(client->run(resume));
    EXPECT_EQ(resume.wrong, "");
    EXPECT_EQ(resume.ack.us.size(), 4U);
    EXPECT_EQ(resume.whole.us.size(), 4U);
    EXPECT_GE(resume.whole.p50(), resume.ack.p50());
    ReadBackScript read(writer_, {"ses_1", "ses_1"}, "idle");
    ASSERT_TRUE(client->run(read));
    EXPECT_EQ(read.as_expected, 2U);
}

TEST_F(Load, UnexpectedReply_EndsTheRunAndIsQuoted) {
    server_.answer("POST /api/projects/default/sessions?wait=10", 503, R"({"code":"overloaded"})");
    auto client = LoadClient::open(servers_, 1);
    ASSERT_TRUE(client);
    PauseScript pause(writer_, 10, 10);
    ASSERT_TRUE(client->run(pause));
    EXPECT_EQ(pause.wrong, R"(a new session was answered 503: {"code":"overloaded"})");
}

TEST_F(Load, ServerCloses_EndsTheRun) {
    server_.close_after(2);
    server_.answer("POST /api/projects/default/sessions?wait=10", 201, asleep);
    auto client = LoadClient::open(servers_, 1);
    ASSERT_TRUE(client);
    PauseScript pause(writer_, 10, 10);
    auto const ran = client->run(pause);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().exit, status::unreachable);
    EXPECT_EQ(pause.done, 2);
}

TEST_F(Load, Connections_AreSpreadOverTheServers) {
    FakeServer other;
    for (auto* const server : {&server_, &other})
        server->answer("POST /api/projects/default/sessions?wait=10", 201, asleep);
    servers_.push_back(*parse_url(other.url()));
    RequestWriter const writer(servers_, "t");
    EXPECT_NE(writer.get(0, "/x"), writer.get(1, "/x")) << "each has its own Host";
    EXPECT_EQ(writer.get(0, "/x"), writer.get(2, "/x"));
    auto client = LoadClient::open(servers_, 2);
    ASSERT_TRUE(client);
    PauseScript pause(writer, 2, 2);
    ASSERT_TRUE(client->run(pause));
    EXPECT_EQ(pause.wrong, "");
    EXPECT_EQ(server_.seen().size(), 1U);
    EXPECT_EQ(other.seen().size(), 1U);
}

TEST_F(Load, SessionWithHistory_PausesInItsLastTurn) {
    server_.answer("POST /api/projects/default/sessions", 201, R"({"id":"ses_1"})");
    server_.answer("POST /api/sessions/ses_1/prompt?wait=10", 200, "{}");
    server_.answer("GET /api/sessions/ses_1?wait=10", 200, asleep);
    auto client = LoadClient::open(servers_, 2);
    ASSERT_TRUE(client);
    CreateScript create(writer_, 2);
    ASSERT_TRUE(client->run(create));
    EXPECT_EQ(create.wrong, "");
    TurnScript turns(writer_, create.sessions, turns_of(5000));
    ASSERT_TRUE(client->run(turns));
    EXPECT_EQ(turns.wrong, "");
    EXPECT_EQ(turns.latency.us.size(), 6U) << "three turns of each";
    ASSERT_EQ(turns.sleepers.size(), 2U);
    EXPECT_EQ(turns.sleepers[0].pending, "pnd_1");
}

TEST(TurnsOfAHistory, PromptsAndReplies_HaveItsBytes) {
    EXPECT_EQ(turns_of(1000).count, 1);
    EXPECT_EQ(turns_of(1000).text.size(), 500U);
    EXPECT_EQ(turns_of(102'400).count, 50);
    EXPECT_EQ(turns_of(102'400).text.size(), 1024U);
    EXPECT_EQ(turns_of(1).text.size(), 1U);
}

TEST(DiskProbe, Probe_TakesTheRequestedNumberOfSamples) {
    auto const folder = TemporaryFolder::make(std::filesystem::temp_directory_path().string());
    ASSERT_TRUE(folder);
    DiskFigures figures;
    ASSERT_TRUE(probe_disk(folder->path(), 5, figures));
    EXPECT_EQ(figures.overwrite.us.size(), 5U);
    EXPECT_EQ(figures.append.us.size(), 5U);
    EXPECT_GT(figures.overwrite.p50(), 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder->path()));
}

TEST(DataBytes, Files_AreCountedButLogAndToken) {
    auto const folder = TemporaryFolder::make(std::filesystem::temp_directory_path().string());
    ASSERT_TRUE(folder);
    std::ofstream(folder->path() + "/sessions.db") << std::string(1000, 'x');
    std::ofstream(folder->path() + "/sessions.db-wal") << std::string(10, 'x');
    std::ofstream(folder->path() + "/token") << "secret";
    std::ofstream(folder->path() + "/server.log") << "words";
    EXPECT_EQ(data_bytes(folder->path()), 1010U);
}

TEST(ProcessFigures, OfThisProcess_ArePositive) {
    auto const figures = check_process(getpid());
    EXPECT_GT(figures.rss_mib, 0.5);
    EXPECT_GE(figures.cpu_ms, 0);
}

TEST(Content, Content_IsTheTextOfPromptsResultsAndAnswers) {
    auto const messages = R"([{"parts":[{"type":"text","text":"12345"}]},)"
                          R"({"parts":[{"type":"tool","state":{"output":"123"}},)"
                          R"({"type":"tool","state":{"output":null}}]}])";
    EXPECT_EQ(content_bytes(json::View(messages)), 8U);
}

BenchReport sample_report() {
    BenchReport report;
    report.rounds = 3;
    for (int i = 0; i < 4; ++i) report.disk.overwrite.add(100);
    JobFigures job{.connections = 32, .jobs = 8000};
    job.pauses_per_s = 17234.5;
    job.ack_p50_us = 250;
    job.ack_p99_us = 610;
    report.jobs.push_back(job);
    return report;
}

TEST(Report, Text_IsATableWithRatios) {
    auto const text = report_text(sample_report());
    EXPECT_NE(text.find("| 32 | 17,234 |"), std::string::npos) << text;
    EXPECT_NE(text.find("0.25 / 0.61"), std::string::npos) << text;
    EXPECT_NE(text.find("| 2.5 × | 1.72 × |"), std::string::npos) << text;
}

TEST(Report, Json_HasEveryPart) {
    auto report = sample_report();
    report.dormant = DormantFigures{.sessions = 10, .next_expiry_us = 150};
    report.growth = GrowthFigures{.turns = 100, .content_bytes = 1000, .file_bytes = 2000};
    auto const json = report_json(report);
    ASSERT_TRUE(json::check(json.text()));
    json::View const view(json);
    EXPECT_EQ(view.at_pointer("/jobs/0/connections").integer(), 32);
    EXPECT_EQ(view["fdatasync"]["overwrite"]["p50Us"].integer(), 100);
    EXPECT_EQ(view["dormant"]["sessions"].integer(), 10);
    EXPECT_EQ(view["dormant"]["nextExpiryUs"].integer(), 150);
    EXPECT_EQ(view["growth"]["factor"].integer(), 2);
}

TEST(Report, MedianOfRounds_IsTakenPerMember) {
    JobFigures a{.connections = 1, .pauses_per_s = 10, .ack_p50_us = 3};
    JobFigures b{.connections = 1, .pauses_per_s = 30, .ack_p50_us = 1};
    JobFigures c{.connections = 1, .pauses_per_s = 20, .ack_p50_us = 2};
    auto const middle = median({a, b, c});
    EXPECT_EQ(middle.pauses_per_s, 20);
    EXPECT_EQ(middle.ack_p50_us, 2);
}

}  // namespace
}  // namespace dormouse::cli
