#include "rpc/peer.h"

#include <gtest/gtest.h>

namespace dormouse::rpc {
namespace {

class PeerTest : public ::testing::Test {
protected:
    Peer peer{{[this](std::string const& line) { sent.push_back(line); },
               [this](std::string const& method, Json const& id, Json const& params) {
                   received.push_back(method + " " + std::string(id.text()) + " " +
                                      std::string(params.text()));
               },
               [this](std::string const& method, Json const& params) {
                   received.push_back(method + " " + std::string(params.text()));
               }}};
    std::vector<std::string> sent, received;
};

TEST_F(PeerTest, Messages_ArriveInPiecesAndSeveralAtOnce) {
    EXPECT_TRUE(peer.receive(R"({"method":"a","par)"));
    EXPECT_TRUE(peer.receive("ams\":[1]}\n{\"method\":\"b\"}\r\n{\"method\""));
    EXPECT_EQ(received, (std::vector<std::string>{"a [1]", "b {}"}));
    EXPECT_TRUE(peer.receive(R"(:"c","id":"x"})"
                             "\n"));
    EXPECT_EQ(received.back(), "c \"x\" {}");
}

TEST_F(PeerTest, Answer_ReachesItsCallOnce) {
    std::vector<std::string> answers;
    auto const keep = [&](Peer::Answer answer) {
        answers.push_back(answer ? std::string(answer->text())
                                 : std::to_string(answer.error().code) + answer.error().message);
    };
    peer.call("one", Json::trusted("{}"), keep);
    peer.call("two", Json::trusted("{}"), keep);
    EXPECT_EQ(sent[0], "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"one\",\"params\":{}}\n");
    (void)peer.receive("{\"id\":2,\"result\":{\"a\":1}}\n{\"id\":2,\"result\":3}\n");
    (void)peer.receive("{\"id\":1,\"error\":{\"code\":-32002,\"message\":\"no\"}}\n");
    EXPECT_EQ(answers, (std::vector<std::string>{"{\"a\":1}", "-32002no"}));
    EXPECT_EQ(peer.skipped(), 1U);
}

TEST_F(PeerTest, InvalidLines_AreSkipped) {
    EXPECT_TRUE(
        peer.receive("hello\n\n  \n[1]\n{\"a\":1,\"a\":2}\n\xff\n{\"id\":9,\"result\":1}\n"));
    EXPECT_EQ(received.size(), 0U);
    EXPECT_EQ(peer.skipped(), 5U);
}

TEST_F(PeerTest, EndlessLine_IsRefused) {
    std::string const piece(std::size_t{8} << 20, 'x');
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(peer.receive(piece));
    EXPECT_FALSE(peer.receive("x"));
}

TEST_F(PeerTest, Close_AnswersOpenCalls) {
    int received_code = 0;
    peer.call("one", Json::trusted("{}"), [&](Peer::Answer a) { received_code = a.error().code; });
    peer.close();
    EXPECT_EQ(received_code, code::closed);
    received_code = 0;
    peer.call("two", Json::trusted("{}"), [&](Peer::Answer a) { received_code = a.error().code; });
    EXPECT_EQ(received_code, code::closed);
    EXPECT_EQ(sent.size(), 1U);
}

TEST_F(PeerTest, Requests_AreAnsweredWithTheirId) {
    peer.respond(Json::trusted("\"x\""), Json::trusted("{\"a\": 1}"));
    peer.refuse(Json::trusted("7"), code::method_not_found, "no \"it\"");
    EXPECT_EQ(sent[0], "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{\"a\":1}}\n");
    EXPECT_NE(sent[1].find(R"("code":-32601,"message":"no \"it\"")"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::rpc
