#include "http/resources/operations/doctor/readiness.h"

#include "http/resources/testing/api_fixture.h"

#include <utility>

namespace dormouse::http {
namespace {

// Holds queries until the test lets them be answered.
class SilentJournal final : public port::Journal {
public:
    explicit SilentJournal(port::Store& store) : store_(store) {}
    void commit(std::vector<port::Append>,
                port::Fn<void(std::vector<port::AppendResult>)>) override {}
    void write(port::Fn<Result<void>(port::Store&)>, port::Fn<void(Result<void>)>) override {}
    void read(port::ReadKey /*key*/, port::Fn<void(port::Store&)> work,
              port::Fn<void()> done) override {
        ++questions;
        pending_.emplace_back(std::move(work), std::move(done));
    }
    void release() {
        for (auto& [work, done] : std::exchange(pending_, {})) {
            work(store_);
            done();
        }
    }
    int questions = 0;

private:
    port::Store& store_;
    std::vector<std::pair<port::Fn<void(port::Store&)>, port::Fn<void()>>> pending_;
};

TEST_F(ApiTest, Ready_StoreSilent_AnsweredByItsLastAnswer) {
    SilentJournal silent(*journal.store);
    Services services{loop, silent, catalogue, *runner, gate, metrics, log, entropy, clock};
    Readiness readiness(services);
    auto const ask = [&] {
        auto const x = std::make_shared<Exchange>();
        x->responder = std::make_shared<FakeResponder>(replies);
        readiness.answer(x);
    };
    auto const last = [&] { return replies.empty() ? 0 : replies.back().status; };
    ask();
    loop.run();
    EXPECT_EQ(last(), 0) << "the store is asked first";
    loop.advance(Duration(500));
    EXPECT_EQ(last(), 503) << "it has never answered";
    silent.release();
    ask();
    ask();
    silent.release();
    EXPECT_EQ(replies.size(), 3U);
    EXPECT_EQ(last(), 200);
    EXPECT_EQ(silent.questions, 2) << "one query for all concurrent requests";
    ask();
    loop.advance(Duration(500));
    EXPECT_EQ(replies.size(), 4U);
    EXPECT_EQ(last(), 200) << "it answered a moment ago";
    loop.advance(Duration(31'000));
    ask();
    loop.advance(Duration(500));
    EXPECT_EQ(last(), 503);
}

TEST_F(ApiTest, Ready_StoreTakesNoWrites_NotReadyUntilItDoes) {
    std::optional<Error> refusal;
    Services services{loop, journal, catalogue, *runner, gate, metrics, log, entropy, clock};
    services.unwritable = [&] { return refusal; };
    Readiness readiness(services);
    auto const status = [&] {
        auto const x = std::make_shared<Exchange>();
        x->responder = std::make_shared<FakeResponder>(replies);
        readiness.answer(x);
        loop.run();
        return replies.back().status;
    };
    EXPECT_EQ(status(), 200);
    refusal = Error{Code::store_unavailable, "read-only"};
    EXPECT_EQ(status(), 503);
    refusal.reset();
    EXPECT_EQ(status(), 200);
}

TEST_F(ApiTest, ApiEnded_RequestWaits_NothingRuns) {
    std::string const session = create();
    (void)send("POST", prompt_path(session), R"({"text":"please"})");
    std::size_t const before = replies.size();
    auto other = std::make_unique<Api>(
        Services{loop, journal, catalogue, *runner, gate, metrics, log, entropy, clock});
    other->handle(request_of("GET", "/api/sessions/" + session + "?wait=50"),
                  std::make_shared<FakeResponder>(replies));
    loop.run();
    other.reset();
    loop.advance(Duration(60'000));
    EXPECT_EQ(replies.size(), before);
}

}  // namespace
}  // namespace dormouse::http
