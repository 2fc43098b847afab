#include "http/streams/streams.h"

#include "http/resources/testing/test_store.h"
#include "json/json.h"
#include "runner/testing/runner_fixture.h"

#include <algorithm>

namespace dormouse::http {
namespace {

using namespace session;
using Journal = runner::testing::TestJournal<TestStore, TestDisk>;

// A reader that stores what it receives and may be slow.
class FakeStream final : public EventStream {
public:
    bool send(std::shared_ptr<std::string const> frames) override {
        if (!is_open) return false;
        if (slow) queued += frames->size();
        got.push_back(std::move(frames));
        return true;
    }
    [[nodiscard]] bool open() const override { return is_open; }
    [[nodiscard]] std::size_t queued_bytes() const override { return queued; }
    void on_drained(port::Fn<void()> again) override { drained_ = std::move(again); }
    void on_closed(port::Fn<void()> gone) override { closed_ = std::move(gone); }
    void close() override {
        is_open = false;
        if (closed_) std::exchange(closed_, {})();
    }
    void drain() {
        queued = 0;
        drained_();
    }
    // Returns the sequence numbers of the received events in order.
    [[nodiscard]] std::vector<Seq> seqs() const {
        std::vector<Seq> out;
        for (auto const& frame : got) {
            if (frame->starts_with("id: ")) out.push_back(std::stoull(frame->substr(4)));
        }
        return out;
    }

    std::vector<std::shared_ptr<std::string const>> got;
    bool is_open = true;
    bool slow = false;
    std::size_t queued = 0;

private:
    port::Fn<void()> drained_, closed_;
};

std::vector<Seq> range(Seq from, Seq to) {
    std::vector<Seq> out;
    for (Seq seq = from; seq <= to; ++seq) out.push_back(seq);
    return out;
}

class StreamsTest : public runner::testing::RunnerTestOn<Journal> {
protected:
    StreamsTest() : streams(*runner, loop, {}) {}

    std::shared_ptr<FakeStream> follow(SessionId session, Seq after = 0, bool slow = false) {
        auto const out = std::make_shared<FakeStream>();
        out->slow = slow;
        runner->read_lane(session, [&](Result<std::shared_ptr<runner::Lane>> lane) {
            if (lane) streams.open(*lane, after, out);
        });
        loop.run();
        return out;
    }
    // Appends `count` more events.
    void change(SessionId session, int count, std::size_t bytes = 1) {
        for (int i = 0; i < count; ++i) {
            std::string const title = std::string(bytes, 'x') + std::to_string(++titles_);
            (void)ask(session, Change{title, {}, {}, {}});
        }
    }

    Streams streams;

private:
    int titles_ = 0;
};

TEST_F(StreamsTest, Reader_ReceivesPastAndNewEvents) {
    SessionId const session = new_session();
    change(session, 2);
    auto const reader = follow(session);
    EXPECT_EQ(reader->seqs(), range(1, 3));
    change(session, 1);
    EXPECT_EQ(reader->seqs(), range(1, 4));
    EXPECT_EQ(streams.count(), 1U);
}

TEST_F(StreamsTest, ReaderReconnects_ContinuesAtItsCursor) {
    SessionId const session = new_session();
    change(session, 5);
    EXPECT_EQ(follow(session, 4)->seqs(), range(5, 6));
    auto const at_the_end = follow(session, 6);
    EXPECT_TRUE(at_the_end->got.empty());
    change(session, 1);
    EXPECT_EQ(at_the_end->seqs(), range(7, 7));
}

TEST_F(StreamsTest, OneSerialisation_ServesAllReaders) {
    SessionId const session = new_session();
    auto const a = follow(session);
    auto const b = follow(session);
    change(session, 3);
    auto const late = follow(session);
    ASSERT_EQ(a->got.size(), 4U);
    for (std::size_t i = 0; i < a->got.size(); ++i) {
        EXPECT_EQ(a->got[i], b->got[i]);
        EXPECT_EQ(a->got[i], late->got[i]);
    }
}

TEST_F(StreamsTest, CursorBehindRecentRecords_ReadsTheJournal) {
    SessionId const session = new_session();
    change(session, 700);
    EXPECT_EQ(follow(session)->seqs(), range(1, 701));
    EXPECT_EQ(follow(session, 100)->seqs(), range(101, 701));
}

TEST_F(StreamsTest, EventsDuringARead_AreSentExactlyOnce) {
    SessionId const session = new_session();
    change(session, 700);
    auto const reader = std::make_shared<FakeStream>();
    runner->read_lane(session, [&](Result<std::shared_ptr<runner::Lane>> lane) {
        streams.open(*lane, 0, reader);
    });
    for (int i = 0; i < 3; ++i) {
        runner->command(session, Change{"meanwhile " + std::to_string(i), {}, {}, {}}, ann(),
                        [](Result<Answer>) {});
    }
    loop.run();
    EXPECT_EQ(reader->seqs(), range(1, 704));
}

TEST_F(StreamsTest, StreamsEnded_PageIsRead_NothingIsSent) {
    SessionId const session = new_session();
    change(session, 700);
    auto ending = std::make_unique<Streams>(*runner, loop, std::function<void(std::string_view)>());
    auto const reader = std::make_shared<FakeStream>();
    runner->read_lane(session, [&](Result<std::shared_ptr<runner::Lane>> lane) {
        ending->open(*lane, 0, reader);
    });
    journal.hold_reads = true;
    loop.run();
    ending.reset();
    journal.release_reads();
    reader->drain();
    reader->close();
    EXPECT_TRUE(reader->got.empty());
}

TEST_F(StreamsTest, SlowReader_MissesNothing) {
    SessionId const session = new_session();
    change(session, 1);
    auto const slow = follow(session, 0, true);
    change(session, 8, 200'000);
    std::size_t const before = slow->seqs().size();
    EXPECT_LT(before, 10U);
    slow->drain();
    loop.run();
    EXPECT_GT(slow->seqs().size(), before);
    for (int i = 0; i < 10; ++i) {
        slow->drain();
        loop.run();
    }
    EXPECT_EQ(slow->seqs(), range(1, 10));
}

TEST_F(StreamsTest, SessionDeleted_SendsBye) {
    SessionId const session = new_session();
    auto const reader = follow(session);
    (void)ask(session, Delete{});
    ASSERT_EQ(reader->got.size(), 3U);
    EXPECT_NE(reader->got[1]->find("event: session_deleted\n"), std::string::npos);
    EXPECT_EQ(*reader->got[2], "event: bye\ndata: {\"reason\":\"deleted\"}\n\n");
    EXPECT_FALSE(reader->is_open);
    EXPECT_EQ(streams.count(), 0U);
}

TEST_F(StreamsTest, ReaderFarBehind_SessionDeleted_GetsBye) {
    SessionId const session = new_session();
    auto const slow = follow(session, 0, true);
    slow->queued = std::size_t{1} << 20;
    change(session, 600);
    (void)ask(session, Delete{});
    EXPECT_EQ(slow->got.size(), 1U);
    slow->drain();
    loop.run();
    ASSERT_FALSE(slow->is_open);
    EXPECT_EQ(*slow->got.back(), "event: bye\ndata: {\"reason\":\"deleted\"}\n\n");
}

TEST_F(StreamsTest, ReaderGone_CostsNothing) {
    SessionId const session = new_session();
    auto const reader = follow(session);
    auto const other = follow(session);
    reader->close();
    EXPECT_EQ(streams.count(), 1U);
    change(session, 1);
    EXPECT_EQ(reader->got.size(), 1U);
    EXPECT_EQ(other->got.size(), 2U);
    other->close();
    std::shared_ptr<runner::Lane> watched;
    runner->read_lane(session, [&](auto lane) { watched = lane.value_or(nullptr); });
    loop.run();
    ASSERT_TRUE(watched);
    EXPECT_TRUE(watched->may_sleep()) << "no reader watches it any more";
}

TEST_F(StreamsTest, NotDurableEvent_IsNotSent) {
    SessionId const session = new_session();
    auto const reader = follow(session);
    journal.fault = runner::testing::Fault::lost;
    change(session, 1);
    EXPECT_EQ(reader->seqs(), range(1, 1));
    journal.fault = runner::testing::Fault::hidden;
    change(session, 1);  // durable after all: seen once the session is read again
    change(session, 1);
    EXPECT_EQ(reader->seqs(), range(1, 3));
}

TEST_F(StreamsTest, ProvisionalText_HasNoIdAndReachesItsReaders) {
    SessionId const session = new_session();
    auto const reader = follow(session);
    auto const other = follow(new_session());
    streams.delta(session, {2, 3, 4, 5}, {port::Delta::Kind::reasoning, "a\nb"});
    ASSERT_EQ(reader->got.size(), 2U);
    std::string const draft = session.text().substr(4) + "_t2-3-4";
    EXPECT_EQ(*reader->got[1],
              "event: delta\ndata: {\"turnID\":\"" + numbered_id("trn_", session, 2) +
                  R"(","step":3,"attempt":4,"messageID":"msg_)" + draft + R"(","partID":"prt_)" +
                  draft + R"(_0","kind":"reasoning","offset":0,"text":"a\nb"})" + "\n\n");
    EXPECT_EQ(other->got.size(), 1U);
}

TEST_F(StreamsTest, DraftIds_DifferByPartAndAttempt) {
    SessionId const session = new_session();
    auto const reader = follow(session);
    using Kind = port::Delta::Kind;
    streams.delta(session, {2, 1, 1, 5}, {Kind::reasoning, "a"});
    streams.delta(session, {2, 1, 1, 5}, {Kind::reasoning, "b"});
    streams.delta(session, {2, 1, 1, 5}, {Kind::text, "c"});
    streams.delta(session, {2, 1, 2, 5}, {Kind::text, "d"});
    std::string const id = "\"prt_" + session.text().substr(4);
    std::vector<std::string> const expected{id + "_t2-1-1_0\"", id + "_t2-1-1_0\"",
                                            id + "_t2-1-1_1\"", id + "_t2-1-2_0\""};
    ASSERT_EQ(reader->got.size(), 5U);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NE(reader->got[i + 1]->find(expected[i]), std::string::npos) << *reader->got[i + 1];
    }
}

std::string draft_of(std::string const& frame) {
    std::string out;
    for (std::size_t at = 0; (at = frame.find("\ndata: ", at)) != std::string::npos; ++at) {
        auto const text = frame.substr(at + 7, frame.find("\n\n", at) - at - 7);
        json::View const data(text);
        out += data["kind"].string_or("") + "@" + std::string(data["offset"].raw()) + ":" +
               data["text"].string_or("") + " ";
    }
    return out;
}

TEST_F(StreamsTest, Delta_EachPiece_HasItsOffsetInThePart) {
    SessionId const session = new_session();
    auto const reader = follow(session);
    using Kind = port::Delta::Kind;
    streams.delta(session, {1, 1, 1, 5}, {Kind::reasoning, "hm"});
    streams.delta(session, {1, 1, 1, 5}, {Kind::text, "ü"});
    streams.delta(session, {1, 1, 1, 5}, {Kind::text, "b"});
    streams.delta(session, {1, 1, 2, 5}, {Kind::text, "c"});
    ASSERT_EQ(reader->got.size(), 5U);
    EXPECT_EQ(draft_of(*reader->got[1]), "reasoning@0:hm ");
    EXPECT_EQ(draft_of(*reader->got[2]), "text@0:ü ");
    EXPECT_EQ(draft_of(*reader->got[3]), "text@2:b ");  // bytes of UTF-8
    EXPECT_EQ(draft_of(*reader->got[4]), "text@0:c ");
}

TEST_F(StreamsTest, Draft_ReaderJoinsInMidTurn_GetsItFromItsBeginning) {
    SessionId const session = new_session();
    (void)ask(session, prompt("please"));
    TurnNo const turn = 1;
    using Kind = port::Delta::Kind;
    streams.delta(session, {turn, 1, 1, 5}, {Kind::reasoning, "hm"});
    streams.delta(session, {turn, 1, 1, 5}, {Kind::text, "Hel"});
    streams.delta(session, {turn, 1, 1, 5}, {Kind::text, "lo"});
    auto const late = follow(session);
    ASSERT_FALSE(late->got.empty());
    EXPECT_EQ(draft_of(*late->got.back()), "reasoning@0:hm text@0:Hello ");
    EXPECT_EQ(late->seqs().size() + 1, late->got.size());
    streams.delta(session, {turn, 1, 1, 5}, {Kind::text, "!"});
    EXPECT_EQ(draft_of(*late->got.back()), "text@5:! ");
}

// Readers at a process that does not write the reply.
class StreamsElsewhereTest : public StreamsTest {
protected:
    StreamsElsewhereTest()
        : there(*runner, loop, [this](std::string_view text) { sent.emplace_back(text); }) {}

    std::shared_ptr<FakeStream> read_there(SessionId session) {
        auto const out = std::make_shared<FakeStream>();
        runner->read_lane(session, [&](Result<std::shared_ptr<runner::Lane>> lane) {
            if (lane) there.open(*lane, 0, out);
        });
        loop.run();
        return out;
    }
    void receive(SessionId session, Piece const& piece) {
        there.on_signal(9, write_piece(session, piece));
    }
    static Piece piece(Writing of, std::uint64_t n, std::size_t offset, std::string text) {
        return {.of = of, .n = n, .offset = offset, .text = std::move(text)};
    }
    // How often this process asked for the draft from its beginning.
    [[nodiscard]] std::size_t draft_requests() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            sent, [](std::string const& text) { return text.starts_with("{\"again\""); }));
    }

    Streams there;
    std::vector<std::string> sent;
};

TEST_F(StreamsElsewhereTest, Pieces_ReachReadersAlsoThoseThatComeLater) {
    SessionId const session = new_session();
    (void)ask(session, prompt("please"));
    auto const reader = read_there(session);
    EXPECT_EQ(draft_requests(), 1U);
    receive(session, piece({1, 1, 1, 0}, 0, 0, "Hel"));
    EXPECT_EQ(draft_of(*reader->got.back()), "text@0:Hel ");
    receive(session, piece({1, 1, 1, 0}, 1, 3, "lo"));
    EXPECT_EQ(draft_of(*reader->got.back()), "text@3:lo ");
    auto const late = read_there(session);
    EXPECT_EQ(draft_of(*late->got.back()), "text@0:Hello ");
    EXPECT_EQ(draft_requests(), 1U) << "a second reader needs nothing more";
}

TEST_F(StreamsElsewhereTest, PieceBeforeItsEvents_IsAskedForAfterThem) {
    SessionId const session = new_session();
    auto const reader = read_there(session);
    auto const before = reader->got.size();
    receive(session, piece({1, 1, 1, 0}, 0, 0, "Hel"));
    receive(session, piece({1, 1, 1, 0}, 1, 3, "lo"));
    EXPECT_EQ(reader->got.size(), before);
    EXPECT_EQ(draft_requests(), 1U);
    (void)ask(session, prompt("please"));
    EXPECT_EQ(draft_requests(), 2U);
    receive(session, piece({1, 1, 1, 0}, 0, 0, "Hello"));
    EXPECT_EQ(draft_of(*reader->got.back()), "text@0:Hello ");
}

TEST_F(StreamsElsewhereTest, PieceOfAnEarlierRequest_IsNotSent) {
    SessionId const session = new_session();
    (void)ask(session, prompt("please"));
    auto const reader = read_there(session);
    auto const before = reader->got.size();
    receive(session, piece({1, 1, 0, 0}, 0, 0, "old"));
    EXPECT_EQ(reader->got.size(), before);
    EXPECT_EQ(draft_requests(), 1U);
}

TEST_F(StreamsElsewhereTest, NobodyReads_PieceIsDropped) {
    SessionId const session = new_session();
    (void)ask(session, prompt("please"));
    receive(session, piece({1, 1, 1, 0}, 0, 0, "Hello"));
    auto const reader = read_there(session);
    EXPECT_EQ(reader->got.size(), reader->seqs().size());
}

TEST_F(StreamsTest, Draft_OfATurnThatEnded_IsNotSent) {
    SessionId const session = new_session();
    streams.delta(session, {1, 1, 1, 5}, {port::Delta::Kind::text, "late"});
    auto const reader = follow(session);
    EXPECT_EQ(reader->got.size(), reader->seqs().size());
}

TEST_F(StreamsTest, ReaderFarBehind_GetsOnePageAtATime) {
    SessionId const session = new_session();
    change(session, 100, 100'000);
    auto const slow = follow(session, 0, true);
    std::size_t most = 0;
    for (int i = 0; i < 200 && slow->seqs().size() < 101; ++i) {
        most = std::max(most, slow->queued);
        slow->drain();
        loop.run();
    }
    EXPECT_EQ(slow->seqs(), range(1, 101));
    EXPECT_LT(most, std::size_t{1} << 20);
}

TEST_F(StreamsTest, WithObjects_EventsContainTheirObject) {
    SessionId const session = new_session();
    change(session, 1);
    auto const reader = std::make_shared<FakeStream>();
    runner->read_lane(session, [&](Result<std::shared_ptr<runner::Lane>> lane) {
        streams.open(*lane, 0, reader, true);
    });
    loop.run();
    change(session, 1);
    ASSERT_EQ(reader->seqs(), range(1, 3));
    // Objects show the state when they are sent, not at the event.
    EXPECT_NE(reader->got[0]->find(R"("object":{"id":")"), std::string::npos);
    EXPECT_NE(reader->got[0]->find(R"("title":"x1")"), std::string::npos);
    EXPECT_NE(reader->got[2]->find(R"("title":"x2")"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::http
