#include "http/streams/relay.h"

#include "json/json.h"
#include "runner/testing/world.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>

namespace dormouse::http {
namespace {

using runner::testing::TestLoop;
using Kind = port::Delta::Kind;
using Taken = Relay::Taken;

// A process with a draft of its own and readers of one session.
struct Process {
    Process(TestLoop& loop, std::deque<std::pair<Process*, std::string>>& published)
        : relay({loop, drafts, [this, &published](std::string_view text) {
                     published.emplace_back(this, std::string(text));
                 }}) {}

    Drafts drafts;
    Relay relay;
    Taken answer = Taken::done;
    std::string shown;  // to the readers
};

class RelayTest : public ::testing::Test {
protected:
    // Passes everything on, for so long.
    void pass(Duration time = Duration(200)) {
        for (Duration left = time; left > Duration(0); left -= Duration(10)) {
            loop.run();
            while (!published.empty()) {
                auto const [from, text] = std::move(published.front());
                published.pop_front();
                ++count;
                if (lost) continue;
                for (Process* const to : {&a, &b, &c})
                    if (to != from) receive(*from, *to, text);
            }
            loop.advance(Duration(10));
        }
    }
    void receive(Process const& from, Process& to, std::string const& text) {
        Epoch const epoch = &from == &a ? 1 : &from == &b ? 2 : 3;
        to.relay.on_message(epoch, text, [&](SessionId id, Piece const& piece) {
            if (to.answer == Taken::done && !to.drafts.mirror(id, piece, 0).empty()) show(to);
            return to.answer;
        });
    }
    void show(Process& to) const {
        to.shown.clear();
        std::string const frames = to.drafts.so_far(session, 1);
        for (std::size_t at = 0; (at = frames.find("\ndata: ", at)) != std::string::npos; ++at)
            to.shown += json::View(std::string_view(frames).substr(
                at + 7, frames.find("\n\n", at) - at - 7))["text"]
                            .string_or("");
    }
    void write(std::string text) {
        std::ignore = a.drafts.add(session, ask, {Kind::text, std::move(text)});
        a.relay.added(session);
    }

    TestLoop loop;
    std::deque<std::pair<Process*, std::string>> published;
    Process a{loop, published}, b{loop, published}, c{loop, published};
    SessionId session = SessionId::parse("ses_0000000000000000000001").value_or(SessionId{});
    session::AskModel ask{.turn = 1, .step = 1, .attempt = 1};
    bool lost = false;  // what is published
    int count = 0;      // of what was published
};

TEST_F(RelayTest, NobodyReadsElsewhere_NothingIsPublished) {
    write("one");
    pass();
    EXPECT_EQ(count, 0);
}

TEST_F(RelayTest, ReaderElsewhere_GetsWhatIsWritten) {
    b.relay.opened(session);
    pass();
    write("one");
    pass();
    EXPECT_EQ(b.shown, "one");
    EXPECT_EQ(c.shown, "") << "nobody reads there";
    write(" two");
    pass();
    EXPECT_EQ(b.shown, "one two");
}

TEST_F(RelayTest, ReaderInMidTurn_GetsTheBeginningToo) {
    write("one");
    b.relay.opened(session);
    pass();
    EXPECT_EQ(b.shown, "one");
    write(" two");
    pass();
    c.relay.opened(session);
    pass();
    EXPECT_EQ(c.shown, "one two");
    EXPECT_EQ(b.shown, "one two");
}

TEST_F(RelayTest, ManyPieces_IsPublishedTogether) {
    b.relay.opened(session);
    pass();
    int const before = count;
    for (int i = 0; i < 1'000; ++i) write("x");
    pass();
    EXPECT_EQ(b.shown, std::string(1'000, 'x'));
    EXPECT_LE(count - before, 3);
}

TEST_F(RelayTest, LongText_FitsAndArrivesWhole) {
    std::string text;
    for (int i = 0; i < 30'000; ++i) text += i % 3 == 0 ? std::string(1, '\1') : "ü";
    b.relay.opened(session);
    pass();
    write(text);
    for (int i = 0; i < 20; ++i) pass();
    EXPECT_EQ(b.shown, text);
}

TEST_F(RelayTest, LostPieces_ComeAgainWithTheNext) {
    b.relay.opened(session);
    write("one");
    pass();
    lost = true;
    write(" two");
    pass();
    EXPECT_EQ(b.shown, "one");
    lost = false;
    write(" three");
    pass();
    EXPECT_EQ(b.shown, "one two three");
}

TEST_F(RelayTest, LostRequest_IsRepeated) {
    lost = true;
    b.relay.opened(session);
    write("one");
    pass();
    lost = false;
    pass(Relay::renew_every + Duration(200));
    EXPECT_EQ(b.shown, "one");
}

TEST_F(RelayTest, ReaderHasNotReadTheEventsYet_GetsAllAfterThem) {
    b.answer = Taken::early;
    b.relay.opened(session);
    write("one");
    pass();
    write(" two");
    pass();
    EXPECT_EQ(b.shown, "");
    b.answer = Taken::done;
    write(" three");
    pass();
    EXPECT_EQ(b.shown, "") << "the beginning is missing";
    b.relay.caught_up(session);
    pass();
    EXPECT_EQ(b.shown, "one two three");
}

TEST_F(RelayTest, NoReaderAnyMore_NothingIsPublishedSomeTimeLater) {
    b.relay.opened(session);
    pass();
    b.relay.closed(session);
    pass(Relay::renew_every * (Relay::renewals_kept + 1));
    int const before = count;
    write("one");
    pass(Relay::renew_every);
    EXPECT_EQ(count, before);
}

TEST_F(RelayTest, InvalidMessage_IsIgnored) {
    for (auto const* const text : {"", "x", "{}", "[1]", R"({"read":1})", R"({"read":[1,"x"]})"})
        a.relay.on_message(2, text, [](auto const&...) { return Taken::done; });
    pass();
    EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace dormouse::http
