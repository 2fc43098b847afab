#include "store/postgres/reader/readers.h"

#include "store/postgres/testing/test_store.h"

#include <future>
#include <thread>

namespace dormouse::store::postgres {
namespace {

class ReadersTest : public SharedStores {
protected:
    static Readers of(std::vector<std::string> const& urls) {
        std::vector<Session> sessions;
        for (std::string const& url : urls)
            sessions.emplace_back(*parse_address(url), "dormouse/readers", Role::reader);
        return Readers(std::move(sessions), {.call_wait = std::chrono::seconds(10)});
    }
    [[nodiscard]] std::int64_t connections() const {
        return number(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dormouse/readers'");
    }
};

TEST_F(ReadersTest, Calls_OfSeveralThreads_HaveAConnectionEach) {
    Readers readers = of({url_, url_, url_, url_});
    EXPECT_EQ(readers.any()->largest_number().value(), 0U);
    EXPECT_EQ(readers.any()->largest_number().value(), 0U);
    EXPECT_EQ(connections(), 1) << "one after the other";
    {
        std::vector<Readers::Borrowed> all;
        for (std::size_t i = 0; i < readers.count(); ++i) {
            all.push_back(readers.any());
            EXPECT_EQ(all.back()->largest_number().value(), 0U);
        }
        EXPECT_EQ(connections(), 4);
        auto waiting =
            std::async(std::launch::async, [&] { return readers.any()->largest_number().value(); });
        all.clear();
        EXPECT_EQ(waiting.get(), 0U);
    }
    EXPECT_EQ(connections(), 4) << "they stay";
}

TEST_F(ReadersTest, DatabaseHasNoRoom_FewerRead) {
    // The second one cannot connect.
    Readers readers = of({url_, "postgres://127.0.0.1:1/nothing", url_});
    std::promise<void> taken;
    std::promise<void> end;
    std::thread other([&] {
        auto const held = readers.any();
        EXPECT_TRUE(held->largest_number());
        taken.set_value();
        end.get_future().wait();
    });
    taken.get_future().wait();
    auto waiting = std::async(std::launch::async, [&] { return readers.any()->largest_number(); });
    end.set_value();
    other.join();
    EXPECT_TRUE(waiting.get());
    EXPECT_EQ(connections(), 1);
}

}  // namespace
}  // namespace dormouse::store::postgres
