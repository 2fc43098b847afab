#include "http/resources/mcp/mcp_streams.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

struct Connection final : EventStream {
    bool send(std::shared_ptr<std::string const> frames) override {
        text += *frames;
        return true;
    }
    [[nodiscard]] bool open() const override { return !closed; }
    [[nodiscard]] std::size_t queued_bytes() const override { return 0; }
    void on_drained(port::Fn<void()>) override {}
    void on_closed(port::Fn<void()> gone) override { leave = std::move(gone); }
    void close() override { closed = true; }

    std::string text;
    bool closed = false;
    port::Fn<void()> leave;
};

class McpStreamsOf : public testing::Test {
protected:
    McpStreamPtr begin(std::string const& id = "a", std::string const& session = "s") {
        return streams.begin(session, id, [this] { return now; });
    }
    // Returns what a client gets after this event; nullopt: it is not kept.
    std::optional<std::string> after(McpStreamPtr const& stream, std::uint64_t seen) {
        if (!stream->keeps(seen)) return std::nullopt;
        auto const connection = std::make_shared<Connection>();
        stream->attach(connection, seen);
        return connection->text;
    }
    static std::string event(int number, std::string const& line) {
        return "event: message\nid: a." + std::to_string(number) + "\ndata: " + line + "\n\n";
    }

    Time now{};
    McpStreams streams;
};

TEST_F(McpStreamsOf, Client_Returns_GetsWhatItMissedOnce) {
    auto const stream = begin();
    auto const first = std::make_shared<Connection>();
    stream->attach(first, 0);
    stream->prime();
    stream->send("1\n");
    first->leave();
    stream->send("2\n");
    EXPECT_EQ(first->text, "id: a.1\ndata: \n\n" + event(2, "1"));
    auto const second = std::make_shared<Connection>();
    stream->attach(second, 2);
    EXPECT_EQ(second->text, event(3, "2"));
    stream->send("3\n");
    stream->end();
    EXPECT_EQ(second->text, event(3, "2") + event(4, "3"));
    EXPECT_TRUE(second->closed);
    EXPECT_EQ(after(stream, 4), "") << "it knows all, and learns that this was the end";
    EXPECT_FALSE(stream->keeps(5)) << "there is no such event";
}

TEST_F(McpStreamsOf, SecondConnection_TakesThePlaceOfTheFirst) {
    auto const stream = begin();
    auto const first = std::make_shared<Connection>();
    auto const second = std::make_shared<Connection>();
    stream->attach(first, 0);
    stream->attach(second, 0);
    EXPECT_TRUE(first->closed);
    first->leave();
    stream->send("1\n");
    EXPECT_EQ(first->text, "");
    EXPECT_EQ(second->text, event(1, "1"));
}

TEST_F(McpStreamsOf, MoreThanIsKept_RefusesTheOldEvents) {
    auto const stream = begin();
    std::string const half(McpStream::bytes_max / 2 - 100, 'x');
    for (int i = 0; i < 3; ++i) stream->send(half + "\n");
    EXPECT_FALSE(stream->keeps(0));
    EXPECT_EQ(after(stream, 1), event(2, half) + event(3, half));
    EXPECT_LE(stream->bytes(), McpStream::bytes_max);
    stream->send(std::string(McpStream::bytes_max + 1, 'x') + "\n");
    EXPECT_FALSE(stream->keeps(3)) << "an event of that size is sent, and not kept";
    EXPECT_EQ(stream->bytes(), 0);
}

TEST_F(McpStreamsOf, ClientAwayTooLong_IsGivenUp) {
    auto const stream = begin();
    auto const connection = std::make_shared<Connection>();
    stream->attach(connection, 0);
    now += McpStream::away_max * 2;
    EXPECT_FALSE(stream->given_up());
    connection->leave();
    now += McpStream::away_max;
    EXPECT_FALSE(stream->given_up());
    now += Duration(1);
    EXPECT_TRUE(stream->given_up());
}

TEST_F(McpStreamsOf, EventId_OfAnotherSessionOrForm_FindsNothing) {
    auto const stream = begin();
    EXPECT_EQ(streams.find("s", "a.7")->stream, stream);
    EXPECT_EQ(streams.find("s", "a.7")->seen, 7);
    EXPECT_EQ(streams.find("other", "a.7")->stream, nullptr);
    EXPECT_EQ(streams.find("s", "b.7")->stream, nullptr);
    for (auto const* const bad : {"a", "a.", "a.x", "a.-1", "a.1x", "a.99999999999999999999"})
        EXPECT_FALSE(streams.find("s", bad)) << bad;
}

TEST_F(McpStreamsOf, SessionEnds_ForgetsItsStreams) {
    auto const stream = begin();
    auto const other = begin("b", "t");
    auto const connection = std::make_shared<Connection>();
    stream->attach(connection, 0);
    streams.forget("s");
    EXPECT_TRUE(connection->closed);
    EXPECT_TRUE(stream->given_up());
    EXPECT_EQ(streams.find("s", "a.0")->stream, nullptr);
    EXPECT_EQ(streams.find("t", "b.0")->stream, other);
}

TEST_F(McpStreamsOf, TooManyBytes_ForgetEndedStreamsFirst) {
    std::string const large(McpStream::bytes_max - 100, 'x');
    std::size_t const count = McpStreams::bytes_max / McpStream::bytes_max + 2;
    auto const open = begin("open");
    open->send(large);
    for (std::size_t i = 0; i < count; ++i) {
        auto const ended = begin(std::to_string(i));
        ended->send(large);
        ended->end();
    }
    streams.trim(now);
    EXPECT_EQ(streams.find("s", "0.1")->stream, nullptr);
    EXPECT_NE(streams.find("s", std::to_string(count - 1) + ".1")->stream, nullptr);
    EXPECT_EQ(streams.find("s", "open.1")->stream, open);
    now += McpStreams::kept_for + Duration(1);
    streams.trim(now);
    EXPECT_EQ(streams.find("s", std::to_string(count - 1) + ".1")->stream, nullptr);
    EXPECT_NE(streams.find("s", "open.1")->stream, nullptr);
}

}  // namespace
}  // namespace dormouse::http
