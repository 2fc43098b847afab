#include "wire/audit.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::wire {
namespace {

using namespace dormouse::session;

std::string line_of(bool approved, SubmissionKind kind) {
    Submitted submitted;
    submitted.receipt.kind = kind;
    submitted.what->kind = kind;
    submitted.what->approved = approved;
    return audit_line(SessionId(), {5, {}, 1, {}, submitted}).value_or("");
}

TEST(AuditLine, Decision_EitherWay_SaysWhetherItApproved) {
    EXPECT_TRUE(line_of(true, SubmissionKind::decision).contains(R"("approved":true)"));
    EXPECT_TRUE(line_of(false, SubmissionKind::decision).contains(R"("approved":false)"));
    EXPECT_FALSE(line_of(true, SubmissionKind::result).contains("approved"));
}

}  // namespace
}  // namespace dormouse::wire
