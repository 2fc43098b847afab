#include "base/url.h"

#include <gtest/gtest.h>

#include <string>

namespace dormouse {
namespace {

TEST(Url, WhatMayBeCalled) {
    for (std::string_view const url :
         {"https://example.org", "http://127.0.0.1:8080/hook?x=1", "https://[::1]/a%20b"})
        EXPECT_EQ(wrong_url(url), "") << url;
}

TEST(Url, WhatMayNotIsToldWhy) {
    std::string const long_one = "https://example.org/" + std::string(url_bytes_max, 'x');
    for (std::string_view const url :
         {"", "example.org", "/hook", "ftp://example.org", "file:///etc/passwd",
          "HTTPS:example.org", "https://", "https:///path", "https://:80/",
          "https://ann:secret@example.org/", "https://example.org/#top", "https://example.org/a b",
          "https://example.org/\n", "https://example.org\\@elsewhere", "https://ex\xc3\xa4mple.org",
          long_one.c_str()})
        EXPECT_NE(wrong_url(url), "") << url;
}

}  // namespace
}  // namespace dormouse
