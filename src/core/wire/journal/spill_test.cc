#include "wire/journal/spill.h"

#include "json/json.h"
#include "session/limits.h"

#include <gtest/gtest.h>

namespace dormouse::wire {
namespace {

using namespace session;

Submit spilled(Json output, std::size_t output_bytes) {
    Command command;
    Submit submit;
    submit.what.output = std::move(output);
    command.body = submit;
    spill(command, output_bytes);
    return std::get<Submit>(command.body);
}

TEST(Spill, SmallOutput_IsUnchanged) {
    Submit const submit = spilled(Json::trusted("\"1234\""), 6);
    EXPECT_EQ(submit.what.output.text(), "\"1234\"");
    EXPECT_TRUE(submit.attached.list.empty());
}

TEST(Spill, EscapedText_IsMeasuredWithoutEscapes) {
    std::string escaped = "{\"a\":[\"";
    std::string plain = escaped;
    for (int i = 0; i < 100; ++i) escaped += "\\u00e4", plain += "ä";
    escaped += "\",1.50]}", plain += "\",1.50]}";
    Submit const submit = spilled(Json::trusted(escaped), 256);
    EXPECT_EQ(submit.what.output.text(), plain);
    EXPECT_TRUE(submit.attached.list.empty());
}

TEST(Spill, LongText_IsStoredAsTextWithHeadAndTail) {
    std::string text = "begin";
    for (int i = 0; i < 1'000; ++i) text += "é";
    text += "end";
    Submit const submit = spilled(Json::trusted(json::quote(text)), 1'024);
    ASSERT_EQ(submit.attached.list.size(), 1U);
    Artifact const& artifact = submit.attached.list.front();
    EXPECT_TRUE(submit.attached.described);
    EXPECT_EQ(*artifact.bytes, text);
    EXPECT_EQ(artifact.digest, sha256(text));
    EXPECT_EQ(artifact.mime, "text/plain; charset=utf-8");
    auto const checked = json::check(submit.what.output.text());
    ASSERT_TRUE(checked);
    json::View const left(*checked);
    EXPECT_TRUE(left["truncated"].boolean_or(false));
    EXPECT_EQ(left["bytes"].integer(), static_cast<std::int64_t>(text.size()));
    std::string const head = left["head"].string_or("");
    std::string const tail = left["tail"].string_or("");
    EXPECT_TRUE(text.starts_with(head) && head.size() == 63) << head;  // 64 would split an é
    EXPECT_TRUE(text.ends_with(tail) && tail.size() == 63) << tail;
}

TEST(Spill, LongValue_IsStoredAsJson_ExcerptFitsWhenEscaped) {
    std::string const control(2'000, '\x01');
    Submit const text = spilled(Json::trusted(json::quote(control)), 1'024);
    EXPECT_LE(text.what.output.size(), 1'024U);
    Submit const object =
        spilled(Json::trusted("{\"a\":" + json::quote(std::string(2'000, 'x')) + "}"), 1'024);
    EXPECT_EQ(object.attached.list.at(0).mime, "application/json");
}

TEST(Spill, Output_OverTheLargestArtifact_IsUnchanged) {
    Submit const submit =
        spilled(Json::trusted(json::quote(std::string(limits::artifact_bytes_max, 'x'))), 1'024);
    EXPECT_TRUE(submit.attached.list.empty());
    EXPECT_GT(submit.what.output.size(), limits::artifact_bytes_max);
}

TEST(Spill, Output_OfExactlyTheLargestArtifact_IsMoved) {
    std::string const whole(limits::artifact_bytes_max - 2, 'x');
    Submit const submit = spilled(Json::trusted("\"" + whole + "\""), 1'024);
    ASSERT_EQ(submit.attached.list.size(), 1U);
    EXPECT_EQ(*submit.attached.list.front().bytes, whole);
}

TEST(Spill, Decision_IsUnchanged) {
    Submit submit;
    submit.what.kind = SubmissionKind::decision;
    submit.what.output = Json::trusted(json::quote(std::string(2'000, 'x')));
    Command command;
    command.body = submit;
    spill(command, 1'024);
    EXPECT_EQ(std::get<Submit>(command.body).what.output, submit.what.output);
}

TEST(Spill, PollOutcome_IsMoved) {
    Command command;
    Json const output = Json::trusted(json::quote(std::string(2'000, 'x')));
    command.body = PollOutcome{{}, 1, Done{output, {}, {}}, {}};
    spill(command, 1'024);
    auto const& done = std::get<Done>(std::get<PollOutcome>(command.body).what);
    EXPECT_TRUE(done.attached.described);
    EXPECT_EQ(*done.attached.list.at(0).bytes, std::string(2'000, 'x'));
    EXPECT_LE(done.output.size(), 1'024U);
}

TEST(Spill, ToolOutcome_IsMoved) {
    Command command;
    Json const output = Json::trusted(json::quote(std::string(2'000, 'x')));
    command.body = ToolOutcome{{}, 1, Done{output, {}, {}}, {}};
    spill(command, 1'024);
    auto const& done = std::get<Done>(std::get<ToolOutcome>(command.body).what);
    EXPECT_TRUE(done.attached.described);
    EXPECT_LT(done.output.size(), 1'024U);
}

}  // namespace
}  // namespace dormouse::wire
