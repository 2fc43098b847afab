#include "opencode/files.h"

#include "base/text/text.h"

#include <gtest/gtest.h>

namespace dormouse::opencode {
namespace {

std::string coded(std::string const& bytes) {
    return base64({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()});
}

struct Taken {
    std::string part, why;
};

Taken take(Files& files, std::string const& url, std::string const& more = "") {
    Json const file = Json::trusted(R"({"type":"file","url":")" + url + "\"" + more + "}");
    Taken out;
    out.part = files.part_of(json::View(file), out.why);
    return out;
}

TEST(DataUrl, DataUrl_EachForm_IsRead) {
    auto const plain = read_data_url("data:text/plain;charset=utf-8,a%20b%2C%C3%A9");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->mime, "text/plain;charset=utf-8");
    EXPECT_EQ(plain->bytes, "a b,é");
    auto const bytes = read_data_url("data:application/pdf;base64," + coded({"\0\xff", 2}));
    ASSERT_TRUE(bytes);
    EXPECT_EQ(bytes->mime, "application/pdf");
    EXPECT_EQ(bytes->bytes, std::string("\0\xff", 2));
    EXPECT_EQ(read_data_url("data:,x")->mime, "");
    for (auto const* const text : {"data:", "data:text/plain", "data:;base64,*", "data:,%4",
                                   "data:,%zz", "http://a/", "", "file:///etc/passwd"})
        EXPECT_FALSE(read_data_url(text)) << text;
}

TEST(Files, Files_KeepNameTypeAndBytes) {
    Files files;
    auto const taken = take(files, "data:text/csv;base64," + coded("a,b"),
                            R"(,"mime":"text/csv","filename":"dir/a.csv")");
    EXPECT_EQ(taken.why, "");
    EXPECT_EQ(taken.part,
              R"({"type":"file","mime":"text/csv","name":"a.csv","data":")" + coded("a,b") + "\"}");
    // The bytes decide what is an image, because a model refuses any other.
    std::string const png("\x89PNG\r\n\x1a\n....", 12);
    EXPECT_TRUE(take(files, "data:;base64," + coded(png), R"(,"mime":"image/png")")
                    .part.starts_with(R"({"type":"image")"));
    EXPECT_TRUE(take(files, "data:;base64," + coded("no"), R"(,"mime":"image/png")")
                    .part.starts_with(R"({"type":"file","mime":"image/png","data")"));
    EXPECT_NE(take(files, "data:,x", R"(,"mime":"n o")").part.find("application/octet-stream"),
              std::string::npos);
}

TEST(Files, Files_AtOtherUrls_AreOnlyNamed) {
    Files files;
    EXPECT_EQ(take(files, "file:///etc/passwd", R"(,"filename":"passwd")").part,
              R"({"type":"text","text":"[passwd: file:///etc/passwd]"})");
    EXPECT_EQ(take(files, "https://a.example/x.png", R"(,"mime":"image/png")").part,
              R"({"type":"text","text":"[image/png: https://a.example/x.png]"})");
    EXPECT_EQ(take(files, "", "").part, R"({"type":"text","text":"[a file]"})");
    EXPECT_LT(take(files, "https://a/" + std::string(9'000, 'x'), "").part.size(), 3'000U);
}

TEST(Files, Files_BeyondLimit_AreLeftOutWithReason) {
    Files files;
    auto const of = [](std::size_t bytes) {
        return "data:;base64," + coded(std::string(bytes, 'x'));
    };
    auto const big = take(files, of(file_bytes_max + 1), R"(,"filename":"big.bin")");
    EXPECT_EQ(big.part, R"({"type":"text","text":"[big.bin]"})");
    EXPECT_EQ(big.why, "larger than 5 MiB");
    EXPECT_EQ(take(files, of(file_bytes_max * 2), "").why, "larger than 5 MiB");
    EXPECT_EQ(take(files, "data:;base64,", "").why, "empty");
    EXPECT_EQ(take(files, "data:;base64,*", "").why, "not a data: URL");
    EXPECT_EQ(take(files, of(3 << 20), "").why, "");
    EXPECT_EQ(take(files, of(3 << 20), "").why, "the files of its message are larger than 5 MiB");
    files.next_message();
    EXPECT_EQ(take(files, of(3 << 20), "").why, "");
}

TEST(Files, Files_OfASession_AreLimitedInNumberAndSize) {
    Files many;
    for (std::size_t i = 0; i < session_files_max; ++i) {
        many.next_message();
        ASSERT_EQ(take(many, "data:,x", "").why, "");
    }
    EXPECT_EQ(take(many, "data:,x", "").why, "its session has more than 500 files");
    Files large;
    std::string const four = "data:;base64," + coded(std::string(std::size_t{4} << 20, 'x'));
    for (int i = 0; i < 16; ++i) {
        large.next_message();
        ASSERT_EQ(take(large, four, "").why, "");
    }
    large.next_message();
    EXPECT_EQ(take(large, "data:,x", "").why, "the files of its session are larger than 64 MiB");
}

}  // namespace
}  // namespace dormouse::opencode
