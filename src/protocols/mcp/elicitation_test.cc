#include "mcp/elicitation.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace dormouse::mcp {
namespace {

constexpr std::string_view approval =
    R"({"id":"pnd_1","status":"waiting","reason":"approval","message":"May it?",)"
    R"("input":{"a":1},"inputDigest":"sha256:d","requestedBy":{"name":"ann"},"progress":[]})";
constexpr std::string_view question =
    R"({"id":"pnd_1","status":"waiting","reason":"user_input","message":"Which?","input":{},)"
    R"("requestedBy":{"name":"ann"},"progress":[]})";
constexpr std::string_view noted =
    R"({"id":"pnd_1","status":"waiting","reason":"user_input","progress":[)"
    R"({"key":"mcp-elicitation","payload":{}}]})";

Elicits const with_form{.client = {.form = true}, .base_url = "http://h"};
Elicits const with_page{.client = {.url = true}, .base_url = "http://h"};

class Elicitation : public ::testing::Test {
protected:
    Elicitation() {
        auto access = std::make_shared<ApiAccess>();
        access->ask = [this](ApiRequest request, ApiDone done) {
            requests.push_back(std::move(request));
            open.push_back(std::move(done));
        };
        api = access;
        ticket->send = [this](std::string const& line) { sent.push_back(line); };
    }
    void answer(ApiAnswer answer) {
        auto done = std::move(open.front());
        open.pop_front();
        done(std::move(answer));
    }
    static ApiAnswer json(std::string_view text) { return Json::trusted(std::string(text)); }
    static ApiAnswer no(std::string const& code) {
        return std::unexpected(Refusal{.what = code, .code = code});
    }
    Taken taken() {
        wrong.reset();
        is_taken = false;
        return [this](std::optional<rpc::Fault> fault) {
            is_taken = true;
            wrong = std::move(fault);
        };
    }
    void take(std::string_view call, std::string_view response) {
        requests.clear();
        take_elicited(api, json::View(call), json::View(response), taken());
    }

    ApiPtr api;
    TicketPtr ticket = std::make_shared<Ticket>();
    std::vector<std::string> sent;
    std::vector<ApiRequest> requests;
    std::deque<ApiDone> open;
    std::optional<rpc::Fault> wrong;
    bool is_taken = false;
};

TEST_F(Elicitation, Accept_OfForm_SettlesAsItSays) {
    take(approval, R"({"action":"accept","content":{"approved":false,"reason":"no"}})");
    EXPECT_EQ(requests[0].target, "/async-tool/progress");
    answer(json("{}"));
    EXPECT_EQ(requests[1].target, "/async-tool/decision");
    EXPECT_EQ(requests[1].body.text(),
              R"({"pendingID":"pnd_1","approved":false,"inputDigest":"sha256:d","reason":"no"})");
    answer(json("{}"));
    EXPECT_TRUE(is_taken && !wrong);
    take(question, R"({"action":"accept","content":{"answer":"eu"}})");
    answer(json("{}"));
    EXPECT_EQ(requests[1].body.text(), R"({"pendingID":"pnd_1","result":{"output":"eu"}})");
    answer(json("{}"));
    EXPECT_TRUE(is_taken && !wrong);
}

TEST_F(Elicitation, DeclineAndCancel_AreMapped) {
    take(approval, R"({"action":"decline"})");
    answer(json("{}"));
    EXPECT_EQ(requests[1].target, "/async-tool/decision");
    answer(json("{}"));
    take(question, R"({"action":"decline"})");
    answer(json("{}"));
    EXPECT_EQ(requests[1].method, "DELETE");
    answer(json("{}"));
    for (auto const* const nothing : {R"({"action":"cancel"})", R"({"action":"accept"})"}) {
        take(question, nothing);
        answer(json("{}"));
        EXPECT_EQ(requests.size(), 1);
        EXPECT_TRUE(is_taken && !wrong);
    }
}

TEST_F(Elicitation, Response_ThatDoesNotFit_ChangesNothing) {
    for (auto const* const bad :
         {R"({"action":"accept","content":{}})", R"({"action":"accept","content":3})",
          R"({"action":"accept","content":{"approved":"true"}})", R"({"action":1})", "{}", "3"}) {
        take(approval, bad);
        EXPECT_TRUE(wrong) << bad;
        EXPECT_TRUE(requests.empty());
    }
}

TEST_F(Elicitation, SettledMeanwhile_IsNoFault) {
    take(question, R"({"action":"accept","content":{"answer":"eu"}})");
    answer(no("conflict"));
    EXPECT_TRUE(is_taken && !wrong);
    take(question, R"({"action":"accept","content":{"answer":"eu"}})");
    answer(json("{}"));
    answer(no("expired"));
    EXPECT_TRUE(is_taken && !wrong);
    take(question, R"({"action":"accept","content":{"answer":"eu"}})");
    answer(json("{}"));
    answer(no("not_an_answerer"));
    EXPECT_EQ(wrong->message, "not_an_answerer");
}

TEST_F(Elicitation, Request_IsSentOnceAndOnlyToWhoCanAsk) {
    elicit(json::View(question), {}, {}, ticket);
    elicit(json::View(question), {.client = {.url = true}}, {}, ticket);
    elicit(json::View(noted), with_form, {}, ticket);
    EXPECT_TRUE(sent.empty());
    elicit(json::View(question), with_form, "pnd_1", ticket);
    ASSERT_EQ(sent.size(), 1);
    json::View const form(sent[0]);
    EXPECT_EQ(elicited_call(form["id"].copy()), "pnd_1");
    EXPECT_FALSE(form.at_pointer("/params/mode").exists()) << "2025-06-18 does not know it";
    EXPECT_TRUE(form.at_pointer("/params/requestedSchema/properties/answer").exists());
    elicit(json::View(approval), with_page, {}, ticket);
    EXPECT_EQ(json::View(sent[1]).at_pointer("/params/url").string_or(""), "http://h/a/pnd_1");
    EXPECT_EQ(elicited_call(Json::trusted("7")), "");
    EXPECT_EQ(elicited_call(Json::trusted(R"("pnd_1")")), "");
}

TEST_F(Elicitation, End_TellsOnlyAClientThatIsStillAsking) {
    end_elicitation(json::View(noted), with_form, ticket);
    end_elicitation(json::View(question), {}, ticket);
    EXPECT_TRUE(sent.empty());
    end_elicitation(json::View(question), with_form, ticket);
    EXPECT_TRUE(sent.at(0).contains(R"("requestId":"ask-pnd_1")"));
    end_elicitation(json::View(noted), with_page, ticket);
    EXPECT_TRUE(sent.at(1).contains("notifications/elicitation/complete"));
}

TEST_F(Elicitation, Message_OfAnotherToken_IsRefused) {
    rpc::Message message{.kind = rpc::Message::Kind::response,
                         .id = Json::trusted(R"("ask-pnd_1")"),
                         .result = Json::trusted(R"({"action":"cancel"})")};
    take_elicited(api, message, taken());
    answer(json(R"({"name":"bob"})"));
    EXPECT_EQ(requests[1].target, "/api/pending/pnd_1?view=inbox");
    answer(json(approval));
    EXPECT_EQ(wrong->code, rpc::code::invalid_params);
    message.result = Json();
    message.fault = rpc::Fault{};
    take_elicited(api, message, taken());
    answer(json(R"({"name":"ann"})"));
    answer(json(approval));
    EXPECT_TRUE(requests.back().body.text().contains(R"({"elicitation":"cancel"})"));
}

TEST_F(Elicitation, Capability_WithoutModes_MeansForms) {
    auto const of = [](char const* text) { return abilities_in(json::View(text)); };
    EXPECT_TRUE(of(R"({"elicitation":{}})").form);
    EXPECT_FALSE(of(R"({"elicitation":{}})").url);
    EXPECT_FALSE(of(R"({"elicitation":{"url":{}}})").form);
    EXPECT_TRUE(of(R"({"elicitation":{"url":{},"form":{}}})").form);
    EXPECT_FALSE(of(R"({"elicitation":true})").form);
    EXPECT_FALSE(of("{}").form);
}

}  // namespace
}  // namespace dormouse::mcp
