#include "cli/sse.h"

#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

TEST(Sse, reads_id_event_and_data) {
    SseParser parser;
    auto const events =
        parser.feed("retry: 1000\n\nid: 7\nevent: turn_ended\ndata: {\"seq\":7}\n\n");
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].id, "7");
    EXPECT_EQ(events[0].event, "turn_ended");
    EXPECT_EQ(events[0].data, "{\"seq\":7}");
    EXPECT_EQ(parser.retry_ms(), 1000);
}

TEST(Sse, gives_the_same_events_however_the_bytes_are_cut) {
    std::string const stream =
        ": beat\r\n\r\nid: 1\r\nevent: a\r\ndata: x\r\ndata: y\r\n\r\nid: 2\rdata: z\r\r";
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
        SseParser parser;
        auto events = parser.feed(stream.substr(0, cut));
        for (auto& event : parser.feed(stream.substr(cut))) events.push_back(event);
        ASSERT_EQ(events.size(), 2U) << cut;
        EXPECT_EQ(events[0].data, "x\ny");
        EXPECT_EQ(events[1].event, "message");
        EXPECT_EQ(events[1].id, "2");
    }
}

TEST(Sse, an_event_without_id_keeps_the_last_one_for_reconnecting) {
    SseParser parser;
    auto const events = parser.feed("id: 4\ndata: a\n\nevent: delta\ndata: b\n\n");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(parser.last_id(), "4");
}

TEST(Sse, a_half_read_event_is_forgotten_when_the_connection_is_lost) {
    SseParser parser;
    EXPECT_EQ(parser.feed("id: 3\ndata: a\n\nid: 4\ndata: half").size(), 1U);
    parser.restart();
    EXPECT_EQ(parser.last_id(), "3");
    auto const events = parser.feed("id: 5\ndata: whole\n\n");
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].data, "whole");
}

TEST(Sse, an_event_without_data_is_none) {
    SseParser parser;
    EXPECT_TRUE(parser.feed("id: 4\nevent: a\n\n").empty());
}

}  // namespace
}  // namespace dormouse::cli
