#include "http/resources/operations/readiness.h"

#include "http/resources/testing/api_fixture.h"

#include <utility>

namespace dormouse::server {
namespace {

// Keeps questions until the test lets them be answered.
class SilentJournal final : public port::Journal {
public:
    explicit SilentJournal(port::Store& store) : store_(store) {}
    void commit(std::vector<port::Append>, port::Fn<void(std::vector<Result<void>>)>) override {}
    void write(port::Fn<Result<void>(port::Store&)>, port::Fn<void(Result<void>)>) override {}
    void read(port::Fn<void(port::Store&)> work, port::Fn<void()> done) override {
        ++questions;
        held_.emplace_back(std::move(work), std::move(done));
    }
    void release() {
        for (auto& [work, done] : std::exchange(held_, {})) {
            work(store_);
            done();
        }
    }
    int questions = 0;

private:
    port::Store& store_;
    std::vector<std::pair<port::Fn<void(port::Store&)>, port::Fn<void()>>> held_;
};

TEST_F(ApiTest, Ready_StoreSilent_AnsweredByItsLastAnswer) {
    SilentJournal silent(*journal.store);
    Services services{loop, silent, catalogue, *runner, gate, metrics, log, entropy};
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
    EXPECT_EQ(last(), 503) << "it never said anything";
    silent.release();
    ask();
    ask();
    silent.release();
    EXPECT_EQ(replies.size(), 3U);
    EXPECT_EQ(last(), 200);
    EXPECT_EQ(silent.questions, 2) << "one for all that ask at the same time";
    ask();
    loop.advance(Duration(500));
    EXPECT_EQ(replies.size(), 4U);
    EXPECT_EQ(last(), 200) << "it was well a moment ago";
    loop.advance(Duration(31'000));
    ask();
    loop.advance(Duration(500));
    EXPECT_EQ(last(), 503);
}

}  // namespace
}  // namespace dormouse::server
