#include <dormouse/json.h>

#include <gtest/gtest.h>

namespace dormouse {
namespace {

TEST(Json, Default_IsNull) {
    EXPECT_EQ(Json().text(), "null");
    EXPECT_TRUE(Json().is_null());
    EXPECT_EQ(Json(), Json::trusted("null"));
    EXPECT_EQ(Json(), Json::trusted(""));
}

TEST(Json, Copies_ShareTheText) {
    Json const a = Json::trusted("[1,2,3]");
    Json const b = a;
    EXPECT_EQ(a.text().data(), b.text().data());
    EXPECT_EQ(b.size(), 7u);
}

TEST(Json, Equality_IsOfTextNotOfValue) {
    EXPECT_EQ(Json::trusted("1"), Json::trusted("1"));
    EXPECT_FALSE(Json::trusted("1") == Json::trusted("1.0"));
}

}  // namespace
}  // namespace dormouse
