#include "io/starts.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace dormouse::io {
namespace {

class StartsTest : public testing::Test {
protected:
    StartsTest() {
        std::string place = testing::TempDir() + "startsXXXXXX";
        directory_ = ::mkdtemp(place.data());
    }
    ~StartsTest() override { std::filesystem::remove_all(directory_); }

    std::string directory_;
};

TEST_F(StartsTest, KilledProcess_WasAliveUntilTheLastMark) {
    { Starts const first(directory_, 1, from_ms(1'000)); }
    timespec const times[] = {{7, 500'000'000}, {7, 500'000'000}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (directory_ + "/starts").c_str(), times, 0), 0);
    Starts const second(directory_, 2, from_ms(9'000));
    ASSERT_EQ(second.all().size(), 2U);
    EXPECT_EQ(to_ms(*second.all()[0].alive), 7'500);
    EXPECT_EQ(second.all()[0].clean, false);
    EXPECT_EQ(second.all()[1].alive, std::nullopt);
}

TEST_F(StartsTest, ProcessThatEnds_IsClean) {
    {
        Starts first(directory_, 1, from_ms(1'000));
        first.end(from_ms(4'000));
    }
    { Starts const second(directory_, 2, from_ms(5'000)); }
    Starts const third(directory_, 3, from_ms(6'000));
    EXPECT_EQ(third.all()[0].clean, true);
    EXPECT_EQ(to_ms(*third.all()[0].alive), 4'000);
    EXPECT_EQ(third.all()[1].clean, false);
}

TEST_F(StartsTest, RestoredStore_ForgetsLaterEpochs) {
    { Starts const first(directory_, 5, from_ms(1'000)); }
    Starts const second(directory_, 3, from_ms(2'000));
    EXPECT_EQ(second.all().size(), 1U);
}

TEST_F(StartsTest, DamagedFile_LeavesOutItsLines) {
    std::ofstream(directory_ + "/starts") << "x\n1 5 9 end\n\n2\n";
    Starts const next(directory_, 3, from_ms(20));
    ASSERT_EQ(next.all().size(), 2U);
    EXPECT_EQ(next.all()[0].epoch, 1U);
}

TEST_F(StartsTest, ManyStarts_OldestAreForgotten) {
    for (std::uint64_t epoch = 1; epoch <= Starts::most + 5; ++epoch) {
        Starts const one(directory_, epoch, from_ms(static_cast<std::int64_t>(epoch)));
        EXPECT_EQ(one.all().back().epoch, epoch);
    }
    Starts const last(directory_, Starts::most + 6, from_ms(1));
    EXPECT_EQ(last.all().size(), Starts::most);
}

TEST(Starts, WithoutADirectory_HoldsOnlyThisOne) {
    Starts const here("", 1, from_ms(1));
    EXPECT_EQ(here.all().size(), 1U);
}

}  // namespace
}  // namespace dormouse::io
