#include "webhook/outgoing.h"
#include "webhook/notification.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace dormouse::webhook {
namespace {

using session::CallPaused;
using session::PauseReason;
using session::PendingChange;
using session::Submitted;

class OutgoingTest : public testing::Test {
protected:
    OutgoingTest() {
        state.id = SessionId::make(7, {1});
        pending.session = state.id;
        pending.call = 2;
        pending.generation = 1;
    }
    [[nodiscard]] wire::RecordPtr event(Seq seq, session::Event::Body body) const {
        session::Event out;
        out.seq = seq;
        out.body = std::move(body);
        return wire::record(state.id, out);
    }
    [[nodiscard]] wire::RecordPtr paused(Seq seq) const {
        CallPaused body;
        body.pending = pending;
        body.terms->reason = PauseReason::approval;
        return event(seq, std::move(body));
    }
    [[nodiscard]] wire::RecordPtr submitted(Seq seq) const {
        Submitted body;
        body.receipt.pending = pending;
        body.receipt.seq = seq;
        return event(seq, std::move(body));
    }
    // The call in the state while it waits for an approval.
    void waits(std::string_view tool, std::string_view input) {
        session::Call call;
        call.no = pending.call;
        call.spec.tool = tool;
        call.spec.input = Json::trusted(std::string(input));
        call.pending = pending;
        call.pause.emplace();
        call.pause->terms.reason = PauseReason::approval;
        state.calls.emplace(call.no, std::move(call));
    }
    [[nodiscard]] static std::string letter_of(port::OutboxRow const& row) {
        auto const letter = read_letter(row.body);
        EXPECT_TRUE(letter);
        return letter ? letter->body : "";
    }

    session::State state;
    PendingId pending;
};

Notice notice(NotifyKind kind) {
    Notice out;
    out.kind = kind;
    out.target = "notify:PEOPLE";
    out.on = {"call_paused"};
    return out;
}

// A store that falls back to an earlier state gives the number of a lost event to another one: a
// receiver that has the message about the first must not take the second for it.
TEST_F(OutgoingTest, OtherEventOfTheSameNumber_IsAnotherDelivery) {
    Outgoing outgoing;
    outgoing.hooks = {{"https://hook.example.net/1", "", {"submitted"}}};
    auto const first = outbox_of(outgoing, state, std::vector{submitted(3)}, {});
    auto const again = outbox_of(outgoing, state, std::vector{submitted(3)}, {});
    pending.nonce = {9};
    auto const other = outbox_of(outgoing, state, std::vector{submitted(3)}, {});
    ASSERT_EQ(first.size(), 1U);
    ASSERT_EQ(other.size(), 1U);
    EXPECT_EQ(first[0].key, other[0].key);
    EXPECT_EQ(delivery_text(first[0]), delivery_text(again[0]));
    EXPECT_NE(delivery_text(first[0]), delivery_text(other[0]));
}

// A reader on a terminal or in a chat must see the characters in their real order.
TEST_F(OutgoingTest, Notice_HiddenCharactersInInput_AreEscaped) {
    waits("deploy",
          "{\"to\":\"\xe2\x80\xae"
          "gpj.exe\xe2\x80\x8b\"}");
    for (auto const kind : {NotifyKind::slack, NotifyKind::webhook}) {
        Outgoing outgoing;
        outgoing.notices = {notice(kind)};
        auto const rows = outbox_of(outgoing, state, std::vector{paused(3)}, {});
        ASSERT_EQ(rows.size(), 1U);
        std::string const body = letter_of(rows[0]);
        EXPECT_EQ(body.find("\xe2\x80\xae"), std::string::npos) << body;
        EXPECT_EQ(body.find("\xe2\x80\x8b"), std::string::npos) << body;
        EXPECT_NE(body.find("u{202e}"), std::string::npos) << body;
    }
}

// One append may pause a call and settle it: each event uses its own change.
TEST_F(OutgoingTest, Outcome_PausedAndSettledInOneAppend_UsesSettlingChange) {
    PendingChange waiting;
    waiting.pending = pending;
    waiting.tool = "wrong";
    waiting.webhook_url = "https://wrong.example.org/";
    PendingChange settled = waiting;
    settled.settled = 4;
    settled.tool = "deploy";
    settled.webhook_url = "https://right.example.org/";
    auto const rows =
        outbox_of({}, state, std::vector{paused(3), submitted(4)}, {waiting, settled});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].target, "https://right.example.org/");
    auto const letter = read_letter(rows[0].body);
    ASSERT_TRUE(letter);
    EXPECT_EQ(letter->tool, "deploy");
}

TEST_F(OutgoingTest, Outcome_NoWebhookUrl_SendsNothing) {
    PendingChange settled;
    settled.pending = pending;
    settled.settled = 4;
    EXPECT_TRUE(outbox_of({}, state, std::vector{submitted(4)}, {settled}).empty());
}

// The model, the API and `explain` have the same words.
TEST_F(OutgoingTest, Expired_SaysWhatTheCallWaitedFor) {
    struct Row {
        PauseReason asked;
        session::ErrorReason reason;
        std::string error;
    };
    for (Row const& row :
         {Row{PauseReason::approval, session::ErrorReason::expired, "nobody answered in time"},
          Row{PauseReason::approval, session::ErrorReason::denied,
              "denied: nobody answered in time"},
          Row{PauseReason::user_input, session::ErrorReason::expired, "nobody answered in time"},
          Row{PauseReason::tool_result, session::ErrorReason::expired, "Tool execution timed out"},
          Row{PauseReason::tool_result, session::ErrorReason::unknown, "outcome unknown"}}) {
        PendingChange settled;
        settled.pending = pending;
        settled.settled = 4;
        settled.webhook_url = "https://hook.example.org/";
        settled.reason = row.asked;
        session::Expired body;
        body.receipt.pending = pending;
        body.receipt.kind = session::SubmissionKind::expiry;
        body.reason = row.reason;
        Outgoing outgoing;
        outgoing.notices = {notice(NotifyKind::slack_bot)};
        outgoing.notices[0].reasons = {row.asked};
        auto const rows = outbox_of(outgoing, state, std::vector{event(4, body)}, {settled});
        ASSERT_EQ(rows.size(), 2U) << row.error;
        EXPECT_TRUE(letter_of(rows[0]).contains("\"error\":\"" + row.error + "\"")) << row.error;
        EXPECT_EQ(read_notification(letter_of(rows[1])).value().outcome, "Expired: " + row.error);
    }
}

TEST_F(OutgoingTest, NoticeOfExpiry_OfAJob_NamesNoPerson) {
    Notification it;
    it.event = "expired";
    it.reason = "tool_result";
    EXPECT_EQ(headline(it), "Tool execution timed out");
    it.reason = "approval";
    EXPECT_EQ(headline(it), "Nobody answered in time");
}

PushReceiver of(std::string person) {
    return {.device = "dev_" + person, .person = std::move(person), .roles = {"role:answer"}};
}

std::vector<std::string> targets(std::vector<port::OutboxRow> const& rows) {
    std::vector<std::string> out;
    for (port::OutboxRow const& row : rows) out.push_back(row.target);
    return out;
}

TEST_F(OutgoingTest, Devices_OfThoseWhoMayAnswer_AreReceivers) {
    waits("deploy", "{}");
    state.project = "shop";
    Outgoing outgoing;
    outgoing.notices = {notice(NotifyKind::web_push)};
    EXPECT_TRUE(outbox_of(outgoing, state, std::vector{paused(3)}, {}).empty()) << "no devices";
    outgoing.devices = [] {
        auto elsewhere = of("eve");
        elsewhere.projects = {"other"};
        return std::vector{of("ann"), of("bob"), elsewhere};
    };
    using Targets = std::vector<std::string>;
    auto const all = [&] {
        return targets(outbox_of(outgoing, state, std::vector{paused(3)}, {}));
    };
    EXPECT_EQ(all(), (Targets{"notify:web-push:dev_ann", "notify:web-push:dev_bob"}));
    state.calls.at(pending.call).pause->terms.answer.from = {"bob"};
    EXPECT_EQ(all(), Targets{"notify:web-push:dev_bob"});
    state.calls.at(pending.call).pause->terms.answer.from = {"role:answer"};
    outgoing.notices[0].to = {"ann"};
    EXPECT_EQ(all(), Targets{"notify:web-push:dev_ann"});
    state.calls.at(pending.call).pause->terms.answer.from = {"role:operate"};
    EXPECT_EQ(all(), Targets{});
}

// Somebody who may not answer any more, because the call was reassigned, has a message too.
TEST_F(OutgoingTest, Devices_CallHasEnded_AllOfTheProjectGetTheOutcome) {
    Outgoing outgoing;
    outgoing.notices = {notice(NotifyKind::web_push)};
    outgoing.notices[0].reasons = {PauseReason::approval};
    outgoing.devices = [] { return std::vector{of("ann")}; };
    PendingChange settled;
    settled.pending = pending;
    settled.settled = 4;
    settled.tool = "deploy";
    settled.reason = PauseReason::approval;
    auto const rows = outbox_of(outgoing, state, std::vector{submitted(4)}, {settled});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].target, "notify:web-push:dev_ann");
    EXPECT_FALSE(read_notification(letter_of(rows[0])).value().outcome.empty());
}

}  // namespace
}  // namespace dormouse::webhook
