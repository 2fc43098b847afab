#include "http/streams/drafts.h"

#include "json/json.h"

#include <gtest/gtest.h>

#include <tuple>

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
        update.what.kind = AgentOutputKind::message;
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

TEST_F(DraftsTest, AddUnread_LaterReader_ReceivesAll) {
    drafts.add_unread(session, ask, {Kind::text, "Hel"});
    drafts.add_unread(session, ask, {Kind::text, "lo"});
    EXPECT_EQ(so_far(), "text@0:Hello ");
    EXPECT_EQ(add(Kind::text, "!"), "text@5:! ");
    ask.attempt = 2;
    drafts.add_unread(session, ask, {Kind::text, "Bye"});
    EXPECT_EQ(so_far(), "text@0:Bye ");
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

TEST_F(DraftsTest, SoFar_ManyParts_IsEmptyAndTheyAreNotKept) {
    for (std::size_t i = 0; i <= Drafts::parts_max; ++i)
        (void)add(i % 2 == 0 ? Kind::text : Kind::reasoning, "x");
    EXPECT_FALSE(drafts.whole(session));
    EXPECT_EQ(so_far(), "");
    EXPECT_EQ(add(Kind::reasoning, "y"), "reasoning@0:y ");
}

// Tests what readers at one process get of a reply that another process writes.
class MirroredTest : public DraftsTest {
protected:
    // Takes over what follows, in pieces of limited size.
    std::string take_over(std::size_t bytes = 1'000) {
        std::string out;
        while (auto const piece = drafts.next(session, place, bytes))
            out += offset_of(mirror.mirror(session, *piece, known));
        return out;
    }
    [[nodiscard]] std::string mirrored() const { return offset_of(mirror.so_far(session, 1)); }

    // Reads, as the process of the mirror, that these are events number `first` and following.
    void read(Seq first, std::vector<Event::Body> bodies) {
        std::vector<wire::RecordPtr> records;
        for (Event::Body& body : bodies) {
            Event event;
            event.seq = first++;
            event.body = std::move(body);
            records.push_back(wire::record(session, std::move(event)));
        }
        mirror.appended(session, records);
    }

    Drafts mirror;
    DraftPlace place;
    Seq known = 0;
};

TEST_F(MirroredTest, Pieces_AreTheSameParts) {
    add(Kind::reasoning, "hm");
    add(Kind::text, "Hi");
    EXPECT_EQ(take_over(), "reasoning@0:hm text@0:Hi ");
    EXPECT_EQ(take_over(), "");
    add(Kind::text, " you");
    EXPECT_EQ(take_over(), "text@2: you ");
    EXPECT_EQ(mirror.so_far(session, 1), drafts.so_far(session, 1));
    EXPECT_EQ(mirror.writing(session), drafts.writing(session));
}

TEST_F(MirroredTest, Pieces_SplitNoCharacter) {
    add(Kind::text, "aüü");
    EXPECT_EQ(take_over(2), "text@0:a text@1:ü text@3:ü ");
}

TEST_F(MirroredTest, FromTheBeginningAgain_OnlyWhatIsNewIsSent) {
    add(Kind::reasoning, "hm");
    add(Kind::text, "Hi");
    take_over();
    add(Kind::text, " you");
    place = {};
    EXPECT_EQ(take_over(), "text@2: you ");
    place = {};
    EXPECT_EQ(take_over(), "");
}

TEST_F(MirroredTest, PartIsDurable_OnlyTheRestIsTakenOver) {
    add(Kind::text, "one");
    take_over();
    add(Kind::text, " two");
    durable_message(R"([{"type":"text","text":"one t"}])");
    EXPECT_EQ(drafts.writing(session)->updates, 1U);
    EXPECT_EQ(take_over(), "text@5:wo ");
    EXPECT_EQ(mirrored(), "text@5:wo ");
}

TEST_F(MirroredTest, NextRequest_BeginsAgain) {
    add(Kind::text, "one");
    take_over();
    ask.step = 2;
    add(Kind::text, "two");
    EXPECT_EQ(take_over(), "text@0:two ");
    EXPECT_EQ(mirrored(), "text@0:two ");
}

TEST_F(MirroredTest, ReadAgainWhatWasBeforeThePiece_KeepsTheDraft) {
    known = 3;
    add(Kind::text, "one");
    take_over();
    read(2, {TurnStarted{.turn = 1}, ModelRequested{.step = 1, .attempt = 1}});
    EXPECT_EQ(mirrored(), "text@0:one ");
    read(4, {ModelReplied{.step = 1, .attempt = 1}});
    EXPECT_EQ(mirrored(), "");
}

TEST_F(MirroredTest, TooLong_NothingFollows) {
    add(Kind::text, std::string(Drafts::bytes_max, 'x'));
    while (drafts.next(session, place, 100'000)) {}
    add(Kind::text, "x");
    EXPECT_FALSE(drafts.next(session, place, 100));
    DraftPlace begin;
    EXPECT_FALSE(drafts.next(session, begin, 100));
}

TEST_F(MirroredTest, OwnDraft_TakesNoPieceAndIsNotTakenFromAMirror) {
    add(Kind::text, "one");
    auto const piece = drafts.next(session, place, 100);
    ASSERT_TRUE(piece);
    std::ignore = mirror.mirror(session, *piece, known);
    DraftPlace begin;
    EXPECT_FALSE(mirror.next(session, begin, 100));
    add(Kind::text, " two");
    EXPECT_EQ(drafts.mirror(session, *piece, known), "");
    EXPECT_EQ(so_far(), "text@0:one two ");
}

TEST(PieceTest, Written_IsReadBack) {
    auto const session = SessionId::parse("ses_0000000000000000000001").value_or(SessionId{});
    Piece const piece{.of = {1, 2, 3, 4},
                      .n = 5,
                      .part = 6,
                      .kind = Kind::input,
                      .call = 7,
                      .tool = "deploy",
                      .offset = 8,
                      .text = std::string("\0 \" ü", 6)};
    auto const back = read_piece(write_piece(session, piece));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->session, session);
    EXPECT_EQ(back->piece, piece);
}

TEST(PieceTest, SomethingElse_IsNoPiece) {
    for (auto const* const text :
         {"", "{}", "[", R"({"session":"ses_1","turn":1})",
          R"({"session":"ses_0000000000000000000001","turn":-1,"step":1,"attempt":1,"updates":0,)"
          R"("n":0,"part":0,"kind":"text","offset":0,"text":"x"})",
          R"({"session":"ses_0000000000000000000001","turn":1,"step":1,"attempt":1,"updates":0,)"
          R"("n":0,"part":0,"kind":"song","offset":0,"text":"x"})"})
        EXPECT_FALSE(read_piece(text)) << text;
}

}  // namespace
}  // namespace dormouse::http
