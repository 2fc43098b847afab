#include "base/media.h"

#include <gtest/gtest.h>

#include <string>

namespace dormouse {
namespace {

TEST(Media, FileName_WithPathParts_IsRefused) {
    for (std::string const good : {"a", "a b.txt", "..a", "é.png", ".profile"})
        EXPECT_TRUE(is_file_name(good)) << good;
    for (std::string const& bad :
         {std::string(), std::string("."), std::string(".."), std::string("a/b"),
          std::string("a\\b"), std::string("a\nb"), std::string("a\0b", 3), std::string(256, 'a')})
        EXPECT_FALSE(is_file_name(bad)) << bad;
}

TEST(Media, Types_AreThoseOfHttp) {
    for (std::string const good : {"image/png", "text/csv; charset=utf-8", "a/b;c=d ; e=f"})
        EXPECT_TRUE(is_media_type(good)) << good;
    for (std::string const& bad :
         {std::string("png"), std::string("image/"), std::string("a/b; c"), std::string("a/b\r\nX"),
          std::string("a b/c"), "a/" + std::string(126, 'b'), std::string("text/csv\n"),
          std::string("image/png;\r\na=b")})
        EXPECT_FALSE(is_media_type(bad)) << bad;
    EXPECT_EQ(media_essence("text/csv ; charset=utf-8"), "text/csv");
}

TEST(Media, Images_AreKnownByTheirBytes) {
    EXPECT_EQ(image_type("\x89PNG\r\n\x1a\nrest"), "image/png");
    EXPECT_EQ(image_type("\xff\xd8\xff\xe0"), "image/jpeg");
    EXPECT_EQ(image_type("GIF89a"), "image/gif");
    EXPECT_EQ(image_type(std::string_view("RIFF\0\0\0\0WEBPVP8 ", 16)), "image/webp");
    EXPECT_EQ(image_type(std::string_view("RIFF\0\0\0\0WAVEfmt ", 16)), "");
    EXPECT_EQ(image_type("RIFF"), "");
    EXPECT_EQ(image_type("<svg>"), "");
}

TEST(Media, TypeOfFile_FollowsItsExtension) {
    EXPECT_EQ(media_type_of_file("a.PNG"), "image/png");
    EXPECT_EQ(media_type_of_file("b.tar.pdf"), "application/pdf");
    EXPECT_EQ(media_type_of_file("png"), "application/octet-stream");
    EXPECT_EQ(media_type_of_file("a."), "application/octet-stream");
    EXPECT_TRUE(is_textual("text/x-c++"));
    EXPECT_TRUE(is_textual("Application/Problem+JSON; a=b"));
    EXPECT_FALSE(is_textual("application/pdf"));
    EXPECT_FALSE(is_textual("image/png"));
}

}  // namespace
}  // namespace dormouse
