#include "model/transcript.h"

#include <gtest/gtest.h>

namespace dormouse::model {
namespace {

using session::ErrorReason;

std::string failed(ErrorReason reason, std::string const& why) {
    session::ViewCall call;
    call.error = reason;
    call.error_text = why;
    return outcome_text(call);
}

TEST(OutcomeText, Denial_WordIsNotRepeated) {
    EXPECT_EQ(failed(ErrorReason::denied, "denied: nobody answered in time"),
              "Error (denied): nobody answered in time");
    EXPECT_EQ(failed(ErrorReason::denied, "denied"), "Error (denied)");
    EXPECT_EQ(failed(ErrorReason::denied, "deniedly: x"), "Error (denied): deniedly: x");
}

TEST(OutcomeText, OtherFailure_KeepsItsText) {
    EXPECT_EQ(failed(ErrorReason::failed, "no such branch"), "Error (failed): no such branch");
    EXPECT_EQ(failed(ErrorReason::failed, "denied: x"), "Error (failed): denied: x");
}

}  // namespace
}  // namespace dormouse::model
