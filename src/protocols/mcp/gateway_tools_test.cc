#include "mcp/face.h"

#include "json/json.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

namespace dormouse::mcp {
namespace {

// Keeps the requests to the API; each is answered by answer().
class Gateway : public ::testing::Test {
protected:
    explicit Gateway(std::vector<std::string> servers = {"s"}) {
        auto access = std::make_shared<ApiAccess>();
        access->ask = [this](ApiRequest request, ApiDone done) {
            requests.push_back(std::move(request));
            open.push_back(std::move(done));
        };
        access->now = [] { return Time{}; };
        face = std::make_shared<Face>(FaceSettings{.servers = std::move(servers)}, access);
    }
    void request(std::string const& method, std::string const& params) {
        auto const message = rpc::read({.text = R"({"jsonrpc":"2.0","id":1,"method":")" + method +
                                                R"(","params":)" + params + "}"})
                                 .messages.front();
        face->answer(message, Era::with_initialize, ticket,
                     [this](Face::Answer got) { result = std::move(got); });
    }
    void answer(std::string text) {
        auto done = std::move(open.front());
        open.pop_front();
        done(Json::trusted(std::move(text)));
    }
    void call() {
        request("tools/call", R"({"name":"rm","arguments":{"a":1}})");
        answer(tools);
        answer(R"({"id":"ses_1"})");
    }
    [[nodiscard]] std::string text() const {
        return result && *result ? std::string((**result).text()) : std::string();
    }

    std::string const tools =
        R"({"items":[{"name":"mcp:s:rm","description":"d","inputSchema":{"type":"object"}},)"
        R"({"name":"mcp:t:rm","inputSchema":{"type":"object"}},{"name":"deploy"}]})";
    TicketPtr ticket = std::make_shared<Ticket>();
    std::vector<ApiRequest> requests;
    std::deque<ApiDone> open;
    std::optional<Face::Answer> result;
    std::shared_ptr<Face> face;
};

class TwoServers : public Gateway {
protected:
    TwoServers() : Gateway({"s", "t"}) {}
};

TEST_F(Gateway, Tools_OfOneServer_HaveItsNames) {
    request("tools/list", "{}");
    answer(tools);
    EXPECT_EQ(text(),
              R"({"tools":[{"name":"rm","description":"d","inputSchema":{"type":"object"}}]})");
}

TEST_F(TwoServers, Tools_OfSeveralServers_HaveThePrefix) {
    request("tools/list", "{}");
    answer(tools);
    EXPECT_TRUE(text().contains(R"("name":"s_rm")"));
    EXPECT_TRUE(text().contains(R"("name":"t_rm")"));
}

TEST_F(Gateway, Call_ThatSleeps_WaitsForItsPendingCall) {
    call();
    EXPECT_EQ(json::View(requests[1].body).at_pointer("/prompt/text").string_or(""),
              R"({"tool":"mcp:s:rm","input":{"a":1}})");
    EXPECT_EQ(requests.back().target, "/api/sessions/ses_1?wait=1");
    answer(R"({"lastTurn":null,"activity":{"type":"waiting_async","pendingID":"pnd_1"}})");
    EXPECT_EQ(requests.back().target, "/api/pending/pnd_1?wait=1");
    answer(R"({"status":"completed"})");
    answer(R"({"lastTurn":null,"activity":{"type":"busy"}})");
    answer(R"({"lastTurn":{"id":"trn_1"},"activity":{"type":"idle"}})");
    EXPECT_EQ(requests.back().target, "/api/sessions/ses_1/messages?limit=20");
    answer(
        R"({"items":[{"parts":[{"type":"tool","state":{"status":"completed","output":"ok"}}]}]})");
    EXPECT_EQ(requests.back().target, "/api/sessions/ses_1/end");
    EXPECT_EQ(text(), R"({"content":[{"type":"text","text":"ok"}],"isError":false})");
}

TEST_F(Gateway, Call_ThatIsWithdrawn_EndsItsSession) {
    call();
    ticket->cancelled = true;
    answer(R"({"lastTurn":null,"activity":{"type":"waiting_async","pendingID":"pnd_1"}})");
    EXPECT_EQ(requests.back().target, "/api/sessions/ses_1/end");
    EXPECT_EQ(text(), "");
    answer("{}");
    EXPECT_TRUE(text().contains("cancelled"));
}

TEST_F(Gateway, UnknownTool_IsAnError) {
    request("tools/call", R"({"name":"deploy","arguments":{}})");
    answer(tools);
    ASSERT_TRUE(result && !*result);
    EXPECT_EQ(result->error().code, rpc::code::invalid_params);
}

std::string result_of(std::string const& state) {
    std::string const text = R"({"items":[{"parts":[{"state":)" + state + "}]}]}";
    return std::string(gateway_result(json::View(std::string_view(text))).text());
}

TEST(GatewayResult, Outcome_OfEachForm_IsWritten) {
    EXPECT_EQ(result_of(R"({"status":"error","error":"denied: no"})"),
              R"({"content":[{"type":"text","text":"denied: no"}],"isError":true})");
    EXPECT_EQ(result_of(R"({"status":"completed","output":{"a":1}})"),
              R"({"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1},)"
              R"("isError":false})");
    EXPECT_EQ(result_of(R"({"status":"completed","output":[{"type":"image","data":"AA=="}]})"),
              R"({"content":[{"type":"image","data":"AA=="}],"isError":false})");
    EXPECT_EQ(result_of(R"({"status":"running"})"),
              R"({"content":[{"type":"text","text":"The call has no outcome."}],"isError":true})");
}

}  // namespace
}  // namespace dormouse::mcp
