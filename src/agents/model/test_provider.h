#pragma once
// A provider for tests: answers are written by hand and arrive in pieces of any size.

#include "model/http_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::model {

using namespace agent;
using session::FinishReason;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class FakeHttp final : public port::HttpClient {
public:
    port::HttpId start(port::HttpRequest request, port::HttpCallbacks callbacks) override {
        requests.push_back(std::move(request));
        calls.emplace(requests.size(), std::make_shared<port::HttpCallbacks>(std::move(callbacks)));
        return requests.size();
    }
    void cancel(port::HttpId id) override {
        if (calls.erase(id) > 0) cancelled.push_back(id);
    }

    // Continues the newest request.
    void head(std::uint16_t status, std::string type = "text/event-stream; charset=utf-8",
              std::vector<port::HttpHeader> more = {}) {
        more.push_back({"Content-Type", std::move(type)});
        if (auto const call = newest()) call->head({status, std::move(more)});
    }
    void data(std::string_view chunk) {
        if (auto const call = newest()) call->data(chunk);
    }
    void done(std::optional<port::HttpFailure> failure = {}) {
        auto const call = newest();
        calls.erase(requests.size());
        if (call) call->done(std::move(failure));
    }

    std::vector<port::HttpRequest> requests;
    std::map<port::HttpId, std::shared_ptr<port::HttpCallbacks>> calls;
    std::vector<port::HttpId> cancelled;

private:
    std::shared_ptr<port::HttpCallbacks> newest() {
        auto const found = calls.find(requests.size());
        return found == calls.end() ? nullptr : found->second;
    }
};

class FixedClock final : public port::Clock {
public:
    Time now() const override { return from_ms(1'000'000); }
    Duration monotonic() const override { return {}; }
};

inline std::string event(std::string_view json) { return "data: " + std::string(json) + "\n\n"; }

class ProviderTest : public testing::Test {
protected:
    explicit ProviderTest(std::unique_ptr<Protocol const> protocol,
                          std::string type = "text/event-stream; charset=utf-8")
        : model(http, clock, std::move(protocol),
                {.id = "main",
                 .base_url = "http://localhost/v1",
                 .api_key = "sk-secret",
                 .headers = {{"X-Team", "blue-secret"}},
                 .limits = {.concurrency = 3,
                            .retries = 4,
                            .request_tokens = {},
                            .time_limit = Duration(90'000)}}),
          stream_type(std::move(type)) {}

    void ask() {
        Question question;
        question.view.messages.push_back({session::ViewMessage::Role::user,
                                          session::InputSource::prompt,
                                          Json::trusted(R"([{"type":"text","text":"hi"}])"),
                                          {}});
        stop = model.ask(
            std::move(question),
            [this](port::Delta const& one) {
                char const kind = "tri"[static_cast<int>(one.kind)];
                deltas.push_back(kind + std::to_string(one.call) + one.tool + ":" + one.text);
            },
            [this](ModelOutcome outcome) { outcomes.push_back(std::move(outcome)); });
    }
    // Plays a whole stream in pieces of `piece` bytes, then its end.
    void answer(std::string_view stream, std::optional<port::HttpFailure> failure = {},
                std::size_t piece = 100'000) {
        outcomes.clear();
        deltas.clear();
        ask();
        http.head(200, stream_type);
        for (; !stream.empty(); stream.remove_prefix(std::min(piece, stream.size())))
            http.data(stream.substr(0, piece));
        http.done(std::move(failure));
    }
    Reply const& reply() {
        EXPECT_EQ(outcomes.size(), 1U);
        if (auto const* trouble = std::get_if<ModelTrouble>(&outcomes.at(0)))
            ADD_FAILURE() << trouble->error.message;
        return std::get<Reply>(outcomes.at(0));
    }
    ModelTrouble const& trouble() {
        EXPECT_EQ(outcomes.size(), 1U);
        return std::get<ModelTrouble>(outcomes.at(0));
    }
    static port::HttpFailure lost() {
        return {port::HttpFailure::Kind::lost, "the connection was reset", true};
    }

    FakeHttp http;
    FixedClock clock;
    HttpModel model;
    std::string const stream_type;
    Model::Stop stop;
    std::vector<std::string> deltas;
    std::vector<ModelOutcome> outcomes;
};

}  // namespace dormouse::model
