#include "io/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace dormouse::io {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

// The lines of a log with one format.
struct Written {
    explicit Written(LogOptions::Form form, LogLevel level = LogLevel::debug)
        : log({level, form, [this](std::string_view line) { lines.emplace_back(line); }}) {}
    std::vector<std::string> lines;
    Log log;
};

TEST(Log, Json_OneObjectForEachLine) {
    Written out(LogOptions::Form::json);
    out.log.warn("store is slow",
                 {{"took_ms", 1'250}, {"file", "a \"b\""}, {"retry", true}, {"share", 0.5}});
    ASSERT_EQ(out.lines.size(), 1U);
    EXPECT_THAT(
        out.lines[0],
        MatchesRegex("\\{\"time\":\"[0-9]+-[0-9]+-[0-9]+T[0-9:]+\\.[0-9]+Z\",\"level\":.*"));
    EXPECT_THAT(out.lines[0], EndsWith(R"("level":"warn","message":"store is slow","took_ms":1250,)"
                                       R"("file":"a \"b\"","retry":true,"share":0.5})"));
}

TEST(Log, Text_WritesKeysAndValues) {
    Written out(LogOptions::Form::text);
    out.log.info(
        "listening",
        {{"address", "127.0.0.1:3676"}, {"agents", 2}, {"why", "two words"}, {"empty", ""}});
    EXPECT_THAT(
        out.lines.at(0),
        EndsWith("info listening address=127.0.0.1:3676 agents=2 why=\"two words\" empty=\"\""));
}

TEST(Log, LineBreaksInValues_AreEscaped) {
    Written json(LogOptions::Form::json);
    json.log.info("a\nb", {{"x", "1\n{\"level\":\"error\"}\x1b[2J"}, {"bytes", "\xff\xfe"}});
    EXPECT_THAT(json.lines.at(0), Not(HasSubstr("\n")));
    EXPECT_THAT(json.lines.at(0), HasSubstr(R"(\u000a{\"level\")"));
    EXPECT_THAT(json.lines.at(0), HasSubstr(R"("bytes":"\u00ff\u00fe")"));
    Written text(LogOptions::Form::text);
    text.log.info("a\nb", {{"x", "1\n2\x1b[2J"}});
    EXPECT_THAT(text.lines.at(0), Not(HasSubstr("\n")));
    EXPECT_THAT(text.lines.at(0), Not(HasSubstr("\x1b")));
}

TEST(Log, JsonLine_BidiAndC1Characters_Escaped) {
    Written json(LogOptions::Form::json);
    json.log.info("a", {{"x", "\u202e\u009b2J \u00e4\U000e0041\u2066"}});
    EXPECT_THAT(json.lines.at(0),
                HasSubstr("\"x\":\"\\u202e\\u009b2J \u00e4\\udb40\\udc41\\u2066\""));
}

TEST(Log, FieldsNamedAsSecrets_AreHidden) {
    for (auto const form : {LogOptions::Form::json, LogOptions::Form::text}) {
        Written out(form);
        out.log.error(
            "refused",
            {{"authorization", "Bearer abc"}, {"webhook_secret", "abc"}, {"token", "abc"}});
        EXPECT_THAT(out.lines.at(0), Not(HasSubstr("abc")));
    }
}

// spdlog forwards anything that is not a std::exception.
TEST(Log, ReceiverThatThrows_LosesOnlyThatLine) {
    int lines = 0;
    Log log({LogLevel::debug, LogOptions::Form::json, [&](std::string_view) {
                 ++lines;
                 if (lines == 1) throw 7;
                 if (lines == 2) throw std::runtime_error("full");
             }});
    for (int i = 0; i < 3; ++i) EXPECT_NO_THROW(log.info("hello", {}));
    EXPECT_EQ(lines, 3);
}

TEST(Log, LinesBelowTheLevel_AreNotWritten) {
    Written out(LogOptions::Form::text, LogLevel::warn);
    out.log.debug("no");
    out.log.info("no");
    out.log.warn("yes");
    out.log.error("yes");
    EXPECT_EQ(out.lines.size(), 2U);
    EXPECT_FALSE(out.log.writes(LogLevel::info));
    EXPECT_TRUE(out.log.writes(LogLevel::error));
}

TEST(Log, Braces_ArePrintedUnchanged) {
    Written out(LogOptions::Form::text);
    out.log.info("{} %v", {{"x", "{0}"}});
    EXPECT_THAT(out.lines.at(0), EndsWith("{} %v x={0}"));
}

}  // namespace
}  // namespace dormouse::io
