#include "http/streams/drafts.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

using namespace session;
using Kind = port::Delta::Kind;

class DraftsTest : public ::testing::Test {
protected:
    std::string add(Kind kind, std::string text) {
        return offset_of(drafts.add(session, ask, {kind, std::move(text)}));
    }
    void durable(Event::Body body) {
        Event event;
        event.seq = ++seq_;
        event.body = std::move(body);
        drafts.appended(session, {wire::record(session, std::move(event))});
    }
    void durable_message(std::string_view parts) {
        AgentUpdate update;
        update.attempt = 1;
        update.number = 1;
        update.turn = 1;
        update.what.kind = NewsKind::message;
        update.what.body = Json::trusted(std::string(parts));
        durable(std::move(update));
    }
    // Returns "kind@offset:text " for each frame.
    static std::string offset_of(std::string const& frames) {
        std::string out;
        for (std::size_t at = 0; (at = frames.find("\ndata: ", at)) != std::string::npos; ++at) {
            auto const text = frames.substr(at + 7, frames.find("\n\n", at) - at - 7);
            json::View const data(text);
            out += data["kind"].string_or("") + "@" + std::string(data["offset"].raw()) + ":" +
                   data["text"].string_or("") + " ";
        }
        return out;
    }
    [[nodiscard]] std::string so_far() const { return offset_of(drafts.so_far(session, 1)); }

    Drafts drafts;
    SessionId session = SessionId::parse("ses_0000000000000000000001").value_or(SessionId{});
    AskModel ask{.turn = 1, .step = 1, .attempt = 1};

private:
    Seq seq_ = 0;
};

TEST_F(DraftsTest, SoFar_PiecesOfTwoParts_AreEachFromTheBeginning) {
    EXPECT_EQ(add(Kind::reasoning, "h"), "reasoning@0:h ");
    EXPECT_EQ(add(Kind::reasoning, "m"), "reasoning@1:m ");
    EXPECT_EQ(add(Kind::text, "Hi"), "text@0:Hi ");
    EXPECT_EQ(so_far(), "reasoning@0:hm text@0:Hi ");
    EXPECT_EQ(drafts.so_far(session, 2), "");
}

TEST_F(DraftsTest, Add_AnotherAttempt_VoidsTheDraft) {
    (void)add(Kind::text, "Hel");
    ask.attempt = 2;
    EXPECT_EQ(add(Kind::text, "He"), "text@0:He ");
    EXPECT_EQ(so_far(), "text@0:He ");
}

TEST_F(DraftsTest, Appended_Reply_VoidsTheDraft) {
    (void)add(Kind::text, "Hello");
    durable(ModelReplied{});
    EXPECT_EQ(so_far(), "");
}

TEST_F(DraftsTest, Appended_MessageOfAnExternalAgent_LeavesWhatItLacks) {
    (void)add(Kind::reasoning, "hm");
    (void)add(Kind::text, "abc");
    (void)add(Kind::text, "de");
    durable_message(R"([{"type":"reasoning","text":"hm"},{"type":"text","text":"abc"}])");
    EXPECT_EQ(so_far(), "text@3:de ");
    EXPECT_EQ(add(Kind::text, "f"), "text@5:f ");
    EXPECT_EQ(so_far(), "text@3:def ");
    durable_message(R"([{"type":"text","text":"def"}])");
    EXPECT_EQ(so_far(), "");
    EXPECT_EQ(add(Kind::text, "g"), "text@0:g ");  // a new part
}

TEST_F(DraftsTest, SoFar_DraftTooLong_IsEmptyAndOffsetsContinue) {
    (void)add(Kind::text, std::string(Drafts::bytes_max, 'x'));
    EXPECT_TRUE(drafts.whole(session));
    (void)add(Kind::text, "y");
    EXPECT_FALSE(drafts.whole(session));
    EXPECT_EQ(so_far(), "");
    EXPECT_EQ(add(Kind::text, "z"), "text@" + std::to_string(Drafts::bytes_max + 1) + ":z ");
    ask.step = 2;
    (void)add(Kind::text, "a");
    EXPECT_EQ(so_far(), "text@0:a ");
}

}  // namespace
}  // namespace dormouse::http
