#include "http/access/capability.h"

#include <gtest/gtest.h>

#include <set>

namespace dormouse::http {
namespace {

PendingId pending(CallNo call = 7) {
    PendingId out;
    out.session = SessionId::make(5, Bits128{9, 9, 9, 9, 9, 9, 9, 9});
    out.call = call;
    out.generation = 2;
    out.nonce = {1, 2, 3};
    return out;
}

TEST(Capabilities, Token_ReturnsThePauseItWasMadeFor) {
    Capabilities const ours(std::string(32, 'k'));
    std::string const token = ours.token(pending());
    EXPECT_TRUE(token.starts_with("cap_"));
    EXPECT_EQ(ours.check(token), pending());
    EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789_-"),
              std::string::npos)
        << "it needs no escapes in a path";
    EXPECT_NE(ours.token(pending(8)), token);
}

TEST(Capabilities, Token_OfAnotherKey_IsRefused) {
    std::string const token = Capabilities(std::string(32, 'k')).token(pending());
    EXPECT_EQ(Capabilities(std::string(32, 'l')).check(token), std::nullopt);
    EXPECT_EQ(Capabilities("").check(token), std::nullopt);
}

TEST(Capabilities, Token_ChangedByOneCharacter_IsRefused) {
    Capabilities const ours(std::string(32, 'k'));
    std::string const token = ours.token(pending());
    EXPECT_EQ(ours.check(token + "A"), std::nullopt);
    for (std::size_t i = 0; i < token.size(); ++i) {
        std::string other = token;
        other[i] = other[i] == 'A' ? 'B' : 'A';
        EXPECT_EQ(ours.check(other), std::nullopt) << i;
        EXPECT_EQ(ours.check(token.substr(0, i)), std::nullopt) << i;
    }
    for (std::string_view const other : {"", "cap_", "cap__", "pnd_", "cap_pnd_x"})
        EXPECT_EQ(ours.check(other), std::nullopt) << other;
}

}  // namespace
}  // namespace dormouse::http
