#pragma once
// For tests: sends requests as values through the whole API, without sockets.

#include "base/text/text.h"
#include "http/resources/api.h"
#include "http/resources/operations/metrics/metrics.h"
#include "http/resources/testing/test_store.h"
#include "json/json.h"
#include "runner/testing/runner_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::http {

using Journal = runner::testing::TestJournal<TestStore, TestDisk>;

class FakeResponder final : public Responder {
public:
    explicit FakeResponder(std::vector<HttpReply>& replies) : replies_(replies) {}
    void reply(HttpReply reply) override { replies_.push_back(std::move(reply)); }
    std::shared_ptr<EventStream> stream(std::vector<std::pair<std::string, std::string>>) override {
        return nullptr;
    }
    [[nodiscard]] bool gone() const override { return false; }
    void body_freed() override {}

private:
    std::vector<HttpReply>& replies_;
};

// Forwards to the API as the server's observer does.
inline void report_to(Api& api, runner::testing::TestObserver& observer) {
    observer.on_delta = [&api](SessionId session, session::AskModel const& ask,
                               port::Delta const& delta) { api.delta(session, ask, delta); };
    observer.on_append = [&api](runner::Lane const& lane,
                                std::vector<wire::RecordPtr> const& records) {
        api.appended(lane, records);
    };
    observer.on_delivered = [&api](session::OutboxKey const& key,
                                   Result<session::Answer> const& answer) {
        api.delivered(key, answer);
    };
}

class ApiTest : public runner::testing::RunnerTestOn<Journal> {
protected:
    using Headers = std::vector<std::pair<std::string, std::string>>;

    static HttpRequest request_of(std::string method, std::string path, std::string body = "",
                                  Headers headers = {}) {
        HttpRequest request;
        request.method = std::move(method);
        auto const query = path.find('?');
        if (query != std::string::npos) {
            auto const equals = path.find('=', query);
            request.query.emplace_back(path.substr(query + 1, equals - query - 1),
                                       path.substr(equals + 1));
            path.resize(query);
        }
        request.path = path;
        for (std::size_t at = 1; at <= path.size();) {
            std::size_t const end = std::min(path.find('/', at), path.size());
            request.segments.push_back(path.substr(at, end - at));
            at = end + 1;
        }
        request.headers = std::move(headers);  // the first header of a name counts
        request.headers.emplace_back("host", "localhost:3676");
        request.headers.emplace_back("authorization", "Bearer s3cret");
        request.body = std::move(body);
        request.id = "req_1";
        return request;
    }
    HttpReply send(std::string method, std::string path, std::string body = "",
                   Headers headers = {}) {
        std::size_t const before = replies.size();
        api.handle(
            request_of(std::move(method), std::move(path), std::move(body), std::move(headers)),
            std::make_shared<FakeResponder>(replies));
        loop.run();
        EXPECT_EQ(replies.size(), before + 1);
        read_source(replies.back());
        return replies.back();
    }
    // Reads a body in pieces as a connection does. A body whose source fails stays short.
    void read_source(HttpReply& reply) {
        bool goes_on = reply.source != nullptr;
        while (goes_on && reply.body.size() < reply.source->size()) {
            goes_on = false;
            reply.source->read([&](Result<std::string> piece) {
                goes_on = piece && !piece->empty();
                if (piece) reply.body += *piece;
                ++pieces;
            });
            loop.run();
        }
    }
    static std::string header(HttpReply const& reply, std::string_view name) {
        auto const found =
            std::ranges::find(reply.headers, name, &std::pair<std::string, std::string>::first);
        return found == reply.headers.end() ? "" : found->second;
    }
    // Returns the text of a member, or its JSON.
    static std::string member(HttpReply const& reply, std::string_view pointer) {
        EXPECT_TRUE(json::check(reply.body)) << reply.body;
        json::View const value = json::View(reply.body).at_pointer(pointer);
        if (!value.exists()) return "absent";
        return value.string().value_or(std::string(value.raw()));
    }
    static std::string code(HttpReply const& reply) { return member(reply, "/code"); }
    std::string create(Headers headers = {}) {
        return member(send("POST", sessions, R"({"agentID":"demo"})", std::move(headers)), "/id");
    }
    std::string prompt_path(std::string const& session) {
        return "/api/sessions/" + session + "/prompt";
    }
    // Returns a pendingID that waits for its result.
    std::string waiting_call() {
        (void)send("POST", prompt_path(create()), R"({"text":"please"})");
        effects.reply({session::testing::job()});
        loop.run();
        std::string const pending = effects.ran.back().run.pending.text();
        effects.finish(session::PauseTerms());
        loop.run();
        return pending;
    }
    HttpReply result(std::string const& pending, std::string const& output) {
        return send("POST", "/async-tool/result",
                    R"({"pendingID":")" + pending + R"(","result":{"output":)" + output + "}}");
    }

    ApiTest() : RunnerTestOn<Journal>(true) { report_to(api, observer); }

    std::string const sessions = "/api/projects/default/sessions";
    Gate gate{{{{"alice", "s3cret"}}, {}, {}, 3676, 10, std::string(32, 'k')}, clock};
    Metrics metrics{clock.now()};
    io::Log log{{io::LogLevel::off, io::LogOptions::Form::text, {}}};
    Api api{{loop, journal, catalogue, *runner, gate, metrics, log, entropy, clock}};
    std::vector<HttpReply> replies;
    int pieces = 0;  // pieces of bodies that were read
};

}  // namespace dormouse::http
