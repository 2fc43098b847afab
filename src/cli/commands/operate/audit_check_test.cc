#include "cli/commands/operate/audit_check.h"

#include "base/crypto/sha256.h"
#include "port/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Row {
    std::uint64_t n;
    std::string line;
    std::string verified = "true";
};

constexpr std::uint64_t second = std::uint64_t{1} << 48;  // the numbers of another server

// Rows from the newest to the oldest.
std::string page_of(std::vector<Row> const& rows, std::vector<std::uint64_t> const& written,
                    std::optional<std::size_t> checked = {}) {
    json::Writer out;
    out.begin_object().member("checked", std::uint64_t{checked.value_or(rows.size())});
    out.key("written").begin_array();
    for (std::uint64_t const n : written) out.value(n);
    out.end_array().key("items").begin_array();
    for (Row const& row : rows) {
        auto const hash = digest_text(port::chained(sha256("before"), row.n, row.line));
        out.begin_object().member("n", row.n).key("line").raw(row.line).member("hash", hash);
        out.key("verified").raw(row.verified).end_object();
    }
    out.end_array().end_object();
    return out.take();
}

AuditCheck::Report checked(std::vector<Row> const& rows, std::vector<std::uint64_t> const& written,
                           std::optional<std::size_t> lines = {}) {
    auto const page = page_of(rows, written, lines);
    AuditCheck check;
    check.add(json::View(page));
    return check.report();
}

std::string trimmed(std::uint64_t through, std::string const& hash) {
    return R"({"type":"audit_trimmed","through":)" + std::to_string(through) + R"(,"hash":")" +
           hash + R"("})";
}

TEST(AuditCheck, WholeChains_NewestOfEachIsNamed) {
    auto const report = checked({{second + 1, "{}"}, {2, "{}"}, {1, "{}"}}, {2, second + 1});
    EXPECT_THAT(report.findings, IsEmpty());
    EXPECT_EQ(report.lines, 3);
    ASSERT_EQ(report.newest.size(), 2U);
    EXPECT_EQ(report.newest[0].number, 2U);
    EXPECT_EQ(report.newest[1].number, second + 1);
}

TEST(AuditCheck, NoLines_AreNoFinding) { EXPECT_THAT(checked({}, {}).findings, IsEmpty()); }

TEST(AuditCheck, ChangedLine_IsNamed) {
    EXPECT_THAT(checked({{2, "{}", "false"}, {1, "{}"}}, {2}).findings,
                ElementsAre("line 2 or the line before it was changed"));
}

TEST(AuditCheck, NewestLinesAreGone_AreNamed) {
    EXPECT_THAT(checked({{1, "{}"}}, {2}).findings, ElementsAre("line 2 is missing"));
    EXPECT_THAT(checked({{1, "{}"}}, {4}).findings, ElementsAre("lines 2 to 4 are missing"));
    EXPECT_THAT(checked({}, {4}).findings, ElementsAre("lines 1 to 4 are missing"));
    EXPECT_THAT(checked({{1, "{}"}}, {1, second + 1}).findings,
                ElementsAre("line " + std::to_string(second + 1) + " is missing"));
    EXPECT_THAT(checked({{3, "{}"}, {2, "{}"}, {1, "{}"}}, {2}).findings, IsEmpty())
        << "a line was added meanwhile";
}

TEST(AuditCheck, OldestLinesAreGone_AreNamedUnlessRetentionRemovedThem) {
    EXPECT_THAT(checked({{4, "{}"}, {3, "{}", "null"}}, {4}).findings,
                ElementsAre("the lines before line 3 are missing"));
    auto const record = trimmed(2, digest_text(sha256("before")));
    EXPECT_THAT(checked({{4, record}, {3, "{}", "null"}}, {4}).findings, IsEmpty());
    EXPECT_THAT(checked({{second + 1, record}, {3, "{}", "null"}}, {3, second + 1}).findings,
                IsEmpty())
        << "another server recorded it";
    EXPECT_THAT(checked({{5, record}, {4, "{}", "null"}}, {5}).findings,
                ElementsAre("the lines before line 4 are missing"));
}

TEST(AuditCheck, OldestLineWasChanged_IsNamed) {
    for (auto const& hash : {digest_text(sha256("other")), std::string("sha256:xx"), std::string()})
        EXPECT_THAT(checked({{4, trimmed(2, hash)}, {3, "{}", "null"}}, {4}).findings,
                    ElementsAre("line 3 or the line before it was changed"));
}

TEST(AuditCheck, UnreadableLine_IsAFinding) {
    EXPECT_THAT(checked({{1, "{}"}}, {1}, 2).findings, ElementsAre("1 line is not readable"));
}

}  // namespace
}  // namespace dormouse::cli
