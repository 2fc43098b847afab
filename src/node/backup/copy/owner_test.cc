#include "backup/copy/owner.h"

#include "base/crypto/sha256.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

namespace dormouse::backup {
namespace {

class Shelf final : public Depot {
public:
    Result<void> put(std::string const& name, std::string_view bytes) override {
        objects[name] = bytes;
        return {};
    }
    Result<std::string> get(std::string const& name, std::uint64_t) override {
        if (auto const found = objects.find(name); found != objects.end()) return found->second;
        return fail(Code::not_found, name);
    }
    Result<void> remove(std::string const& name) override {
        objects.erase(name);
        return {};
    }
    std::map<std::string, std::string> objects;
};

class Numbers final : public port::Entropy {
public:
    [[nodiscard]] Random random() override { return sha256(std::to_string(++count_)); }

private:
    int count_ = 0;
};

class OwnerTest : public testing::Test {
protected:
    OwnerTest() {
        std::string name = (std::filesystem::temp_directory_path() / "owner-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        for (char const* one : {"a", "b"}) std::filesystem::create_directory(folder_ / one);
    }
    ~OwnerTest() override { std::filesystem::remove_all(folder_); }

    Owner owner(char const* directory) { return {folder_ / directory, "s3://place", entropy_}; }

    std::filesystem::path folder_;
    Numbers entropy_;
    Shelf shelf_;
};

TEST_F(OwnerTest, PlaceOfAnotherDirectory_IsRefused) {
    ASSERT_TRUE(owner("a").take(shelf_, from_ms(1'000)));
    auto const before = shelf_.objects;
    auto const other = owner("b").take(shelf_, from_ms(2'000));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, Code::wrong_state);
    EXPECT_TRUE(other.error().detail.contains("s3://place")) << other.error().detail;
    EXPECT_TRUE(other.error().detail.contains("1970-01-01T00:00:01")) << other.error().detail;
    EXPECT_EQ(shelf_.objects, before);
    ASSERT_TRUE(shelf_.remove(owner_name));
    EXPECT_TRUE(owner("b").take(shelf_, from_ms(3'000))) << "as the error says";
}

TEST_F(OwnerTest, NextStartOfTheDirectory_TakesThePlace) {
    auto first = owner("a");
    ASSERT_TRUE(first.take(shelf_, from_ms(1)));
    EXPECT_TRUE(first.check(shelf_));
    auto second = owner("a");
    ASSERT_TRUE(second.take(shelf_, from_ms(2)));
    EXPECT_TRUE(second.check(shelf_));
    auto const lost = first.check(shelf_);
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, Code::wrong_state);
}

TEST_F(OwnerTest, CopiedDirectory_TakesThePlaceAndTheFirstNoticesIt) {
    auto first = owner("a");
    ASSERT_TRUE(first.take(shelf_, from_ms(1)));
    std::filesystem::copy_file(folder_ / "a" / "copy.id", folder_ / "b" / "copy.id");
    ASSERT_TRUE(owner("b").take(shelf_, from_ms(2)));
    EXPECT_FALSE(first.check(shelf_));
}

TEST_F(OwnerTest, ObjectThatIsSomethingElse_IsNamedAndStays) {
    for (char const* text : {"", "{}", "[1", "{\"product\":\"x\"}"}) {
        shelf_.objects[owner_name] = text;
        auto const done = owner("a").take(shelf_, from_ms(1));
        ASSERT_FALSE(done) << text;
        EXPECT_EQ(done.error().code, Code::bad_value);
        EXPECT_EQ(shelf_.objects[owner_name], text);
    }
}

}  // namespace
}  // namespace dormouse::backup
