#include "store/files/contents.h"

#include <gmock/gmock.h>

namespace dormouse::store::files {
namespace {

using port::PendingStatus;
using ::testing::HasSubstr;

SessionId session(std::uint64_t number) { return SessionId::make(number, {}); }
PendingId call(std::uint64_t number, CallNo no) { return {session(number), no, 1, {}}; }

Contents sample() {
    Contents out;
    out.calls[call(1, 1)] = {PendingStatus::waiting, from_ms(2'000)};
    out.calls[call(1, 2)] = {PendingStatus::completed, {}};
    out.calls[call(2, 1)] = {PendingStatus::waiting, from_ms(1'000)};
    out.position = "7.7.a.x";
    return out;
}

TEST(IndexContents, Text_IsReadAgain) {
    EXPECT_EQ(parse_contents(text_of(sample())), sample());
    Contents empty;
    empty.position = "0";
    EXPECT_EQ(parse_contents(text_of(empty)), empty);
}

TEST(IndexContents, Text_HasTheThreeLists) {
    std::string const text = text_of(sample());
    std::string const first = call(1, 1).text();
    std::string const second = call(1, 2).text();
    std::string const third = call(2, 1).text();
    EXPECT_THAT(text,
                HasSubstr("\"bySession\":{\"" + session(1).text() + "\":[\"" + first + "\",\"" +
                          second + "\"],\"" + session(2).text() + "\":[\"" + third + "\"]}"));
    EXPECT_THAT(text, HasSubstr("\"byStatus\":{\"waiting\":[\"" + first + "\",\"" + third +
                                "\"],\"completed\":[\"" + second + "\"],\"failed\":[]"));
    EXPECT_THAT(text, HasSubstr("\"byExpiration\":[{\"pendingID\":\"" + third +
                                "\",\"expiresAt\":1000},{\"pendingID\":\"" + first + "\""));
}

TEST(IndexContents, BytesPerSecond_DoNotGrowWithTheCalls) {
    auto const filled = [](std::uint64_t calls) {
        Contents out;
        for (std::uint64_t n = 1; n <= calls; ++n)
            out.calls[call(n, 1)] = {PendingStatus::waiting, from_ms(1'000)};
        return out;
    };
    EXPECT_EQ(write_within(filled(100)), Duration(1'000));
    for (std::uint64_t const calls : {10'000U, 40'000U}) {
        Contents const contents = filled(calls);
        auto const bytes = text_of(contents).size();
        auto const ms = static_cast<std::size_t>(write_within(contents).count());
        EXPECT_LT(bytes / ms, 3'000U) << calls;
    }
}

TEST(IndexContents, AnyChangedByte_IsNoticed) {
    std::string const good = text_of(sample());
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 1);
        EXPECT_EQ(parse_contents(bad), std::nullopt) << "byte " << i;
        EXPECT_EQ(parse_contents(std::string_view(good).substr(0, i)), std::nullopt) << i;
    }
}

TEST(IndexContents, WithoutPosition_IsNotUsed) {
    Contents unfinished = sample();
    unfinished.position.clear();
    EXPECT_EQ(parse_contents(text_of(unfinished)), std::nullopt);
}

TEST(FolderName, AnyProject_StaysOneName) {
    EXPECT_EQ(folder_of("default"), "default");
    EXPECT_EQ(folder_of("a.b-c_D9"), "a.b-c_D9");
    EXPECT_EQ(folder_of(".."), "%2e.");
    EXPECT_EQ(folder_of("."), "%2e");
    EXPECT_EQ(folder_of("../../etc"), "%2e.%2f..%2fetc");
    EXPECT_EQ(folder_of("/etc"), "%2fetc");
    EXPECT_EQ(folder_of("%2fetc"), "%252fetc");
    EXPECT_EQ(folder_of(std::string_view("a\0b", 3)), "a%00b");
    EXPECT_EQ(folder_of(""), "%");
    EXPECT_EQ(folder_of(std::string(300, 'x')).size(), 66U);
    EXPECT_NE(folder_of(std::string(300, 'x')), folder_of(std::string(301, 'x')));
}

}  // namespace
}  // namespace dormouse::store::files
