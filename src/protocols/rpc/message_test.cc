#include "rpc/message.h"

#include <gtest/gtest.h>

namespace dormouse::rpc {
namespace {

Message only(std::string text) {
    auto const received = read({.text = std::move(text)});
    EXPECT_EQ(received.messages.size(), 1U);
    EXPECT_FALSE(received.batch);
    return received.messages.at(0);
}

void expect_refused(std::string const& text, int number, std::string_view id = "null") {
    auto const message = only(text);
    ASSERT_EQ(message.kind, Message::Kind::refused) << text;
    EXPECT_EQ(message.fault->code, number) << text;
    EXPECT_EQ(message.id.text(), id) << text;
    EXPECT_NE(message.fault->message, "");
}

TEST(Messages, Kinds_AreDistinguished) {
    auto const request = only(R"({"jsonrpc":"2.0","id":"a","method":"ping","params":{"x":1}})");
    EXPECT_EQ(request.kind, Message::Kind::request);
    EXPECT_EQ(request.id.text(), R"("a")");
    EXPECT_EQ(request.method, "ping");
    EXPECT_EQ(request.params.text(), R"({"x":1})");
    auto const notice = only(R"({"jsonrpc":"2.0","method":"gone"})");
    EXPECT_EQ(notice.kind, Message::Kind::notification);
    EXPECT_TRUE(notice.params.is_null());
    auto const good = only(R"({"jsonrpc":"2.0","id":7,"result":null})");
    EXPECT_EQ(good.kind, Message::Kind::response);
    EXPECT_EQ(good.id.text(), "7");
    EXPECT_FALSE(good.fault);
    auto const bad =
        only(R"({"jsonrpc":"2.0","id":7,"error":{"code":-5,"message":"no","data":[1]}})");
    ASSERT_TRUE(bad.fault);
    EXPECT_EQ(bad.fault->code, -5);
    EXPECT_EQ(bad.fault->message, "no");
    EXPECT_EQ(bad.fault->data.text(), "[1]");
}

TEST(Messages, InvalidMessages_GetTheStandardErrorWithTheirId) {
    expect_refused("{", code::parse_error);
    expect_refused(R"({"a":1,"a":2})", code::parse_error);
    expect_refused("7", code::invalid_request);
    expect_refused("[]", code::invalid_request);
    expect_refused(R"({"id":1,"method":"ping"})", code::invalid_request, "1");
    expect_refused(R"({"jsonrpc":"1.0","id":1,"method":"ping"})", code::invalid_request, "1");
    expect_refused(R"({"jsonrpc":"2.0","id":1,"method":3})", code::invalid_request, "1");
    expect_refused(R"({"jsonrpc":"2.0","id":{},"method":"ping"})", code::invalid_request);
    expect_refused(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", code::invalid_request);
    expect_refused(R"({"jsonrpc":"2.0","id":1,"method":"p","params":"x"})", code::invalid_request,
                   "1");
    expect_refused(R"({"jsonrpc":"2.0","id":1})", code::invalid_request);
    expect_refused(R"({"jsonrpc":"2.0","id":1,"result":1,"error":{}})", code::invalid_request);
    expect_refused(R"({"jsonrpc":"2.0"})", code::invalid_request);
    auto const long_line = read({.text = {}, .too_long = true});
    EXPECT_EQ(long_line.messages.at(0).fault->code, code::parse_error);
}

TEST(Messages, Batch_IsReadOneByOne) {
    auto const received = read(
        {.text = R"([{"jsonrpc":"2.0","id":1,"method":"a"},3,{"jsonrpc":"2.0","method":"b"}])"});
    EXPECT_TRUE(received.batch);
    ASSERT_EQ(received.messages.size(), 3U);
    EXPECT_EQ(received.messages[0].kind, Message::Kind::request);
    EXPECT_EQ(received.messages[1].kind, Message::Kind::refused);
    EXPECT_EQ(received.messages[2].kind, Message::Kind::notification);
}

Message lenient(std::string text) {
    auto const received = read({.text = std::move(text)}, Grammar::lenient);
    EXPECT_FALSE(received.batch);
    return received.messages.at(0);
}

TEST(Messages, AcpAgents_AreReadLeniently) {
    auto const request = lenient(R"({"id":1.5,"method":"ask","params":"x"})");
    EXPECT_EQ(request.kind, Message::Kind::request);
    EXPECT_EQ(request.id.text(), "1.5");
    EXPECT_EQ(request.params.text(), R"("x")");
    EXPECT_EQ(lenient(R"({"id":null,"method":"told"})").kind, Message::Kind::notification);
    auto const good = lenient(R"({"id":1,"result":2,"error":null})");
    EXPECT_EQ(good.kind, Message::Kind::response);
    EXPECT_FALSE(good.fault);
    EXPECT_EQ(good.result.text(), "2");
    EXPECT_TRUE(lenient(R"({"id":1})").result.is_null());
    EXPECT_TRUE(lenient(R"({"id":1,"result":2,"error":{"code":5}})").fault);
    for (char const* const other : {"[]", R"([{"method":"a"}])", "7", R"({"result":1})"})
        EXPECT_EQ(lenient(other).kind, Message::Kind::refused) << other;
}

TEST(Messages, Messages_AreWrittenAsOneLine) {
    Json const spread = Json::trusted("{\n \"a\": [1,\r\n 2]\n}");
    EXPECT_EQ(request(3, "do", spread),
              R"({"jsonrpc":"2.0","id":3,"method":"do","params":{"a":[1,2]}})"
              "\n");
    EXPECT_EQ(notification("told", spread),
              R"({"jsonrpc":"2.0","method":"told","params":{"a":[1,2]}})"
              "\n");
    Json const id = Json::trusted(R"("x")");
    EXPECT_EQ(response(id, {}), "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":null}\n");
    auto const refused = refusal({}, {.code = -32601, .message = "no \"x\"", .data = spread});
    EXPECT_EQ(refused, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no \"x\"",)"
                       R"("data":{"a":[1,2]}}})"
                       "\n");
    EXPECT_EQ(batch({response(id, {}), "{}\n"}),
              "[{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":null},{}]\n");
}

}  // namespace
}  // namespace dormouse::rpc
