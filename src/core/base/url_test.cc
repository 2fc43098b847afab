#include "base/url.h"

#include <gtest/gtest.h>

#include <string>

namespace dormouse {
namespace {

TEST(Url, CallableUrls_AreAccepted) {
    for (std::string_view const url :
         {"https://example.org", "http://127.0.0.1:8080/hook?x=1", "https://[::1]/a%20b",
          "http://my_service:65535", "https://example.org?x=@", "https://example.org/a//b/../c"})
        EXPECT_EQ(wrong_url(url), "") << url;
}

TEST(Url, UnsupportedUrls_AreRefusedWithAReason) {
    std::string const long_one = "https://example.org/" + std::string(url_bytes_max, 'x');
    std::string const zero = std::string("https://example.org") + '\0' + ".evil.org/";
    for (std::string_view const url :
         {std::string_view(""), std::string_view("example.org"), std::string_view("//example.org"),
          std::string_view("/hook"), std::string_view("ftp://example.org"),
          std::string_view("file:///etc/passwd"), std::string_view("HTTPS:example.org"),
          std::string_view("https:example.org"), std::string_view("https:/example.org"),
          std::string_view(" https://example.org"), std::string_view("ht\ttps://example.org"),
          std::string_view(long_one), std::string_view(zero)})
        EXPECT_NE(wrong_url(url), "") << url;
}

// Hosts that two parsers may read differently.
TEST(Url, AmbiguousHosts_AreRefused) {
    for (char const* const authority : {"",
                                        ":80",
                                        "ann@example.org",
                                        "ann:secret@example.org",
                                        "127.0.0.1@example.org",
                                        "example.org:80@127.0.0.1",
                                        "@example.org",
                                        "example.org\\@elsewhere",
                                        "example.org\\",
                                        "exam%70le.org",
                                        "example.org%00.evil.org",
                                        "example.org%2f@evil.org",
                                        "example.org#@evil",
                                        "exam ple.org",
                                        "exam\tple.org",
                                        "example.org\n",
                                        "example.org\r\nHost: evil",
                                        "ex\xc3\xa4mple.org",
                                        "\xef\xbc\x91\x32\x37.0.0.1",
                                        "127\xe3\x80\x82"
                                        "0.0.1",
                                        "example.org,evil.org",
                                        "example.org;evil.org",
                                        "$(id)",
                                        "{input.host}",
                                        "*.example.org",
                                        "[::1",
                                        "::1",
                                        "[::1]x",
                                        "[]",
                                        "[127.0.0.1]",
                                        "[fe80::1%eth0]",
                                        "[fe80::1%25eth0]",
                                        "[::1%]",
                                        "[v1.x]",
                                        "[::g]",
                                        "[1:2:3]",
                                        "[[::1]]",
                                        "[::1]]",
                                        "example.org]",
                                        "example.org:",
                                        "example.org:0",
                                        "example.org:65536",
                                        "example.org:080",
                                        "example.org:-1",
                                        "example.org:+80",
                                        "example.org: 80",
                                        "example.org:8 0",
                                        "example.org:80:81",
                                        "example.org:http",
                                        "example.org:99999999999999999999",
                                        "[::1]:",
                                        "[::1]:0"})
        for (char const* const end : {"", "/", "/x@y", "?x"})
            EXPECT_FALSE(parse_url("https://" + std::string(authority) + end)) << authority << end;
}

TEST(Url, Parts_AreNormalAndTheTargetIsAsWritten) {
    auto const url = parse_url("https://Example.ORG:8443/A?b=%41");
    ASSERT_TRUE(url);
    EXPECT_TRUE(url->secure);
    EXPECT_EQ(url->host, "example.org");
    EXPECT_EQ(url->authority(), "example.org:8443");
    EXPECT_EQ(url->origin(), "https://example.org:8443");
    EXPECT_EQ(url->target, "/A?b=%41");
    EXPECT_EQ(parse_url("http://[2001:DB8::1]:80?q")->authority(), "[2001:db8::1]:80");
    EXPECT_EQ(parse_url("http://x")->origin(), "http://x");
}

TEST(Url, Loopback_IsThisMachineByAddressOrByName) {
    for (char const* const url :
         {"http://localhost:1", "http://127.0.0.1", "http://127.1.2.3/x", "http://[::1]:1/",
          "http://LOCALHOST", "http://0x7f.1", "http://[0:0::1]", "http://[::ffff:127.0.0.1]"})
        EXPECT_TRUE(parse_url(url)->is_loopback()) << url;
    for (char const* const url :
         {"http://127.0.0.1.example.org", "http://128.0.0.1", "http://[::2]",
          "http://localhost.example.org", "http://127.example.org", "http://[::]", "http://[1::1]"})
        EXPECT_FALSE(parse_url(url)->is_loopback()) << url;
}

TEST(UrlParts, AnyScheme_IsSplit) {
    auto const parts = split_url("redis+unix://ann:a@b@host:1/x://y?z#f");
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->scheme, "redis+unix");
    EXPECT_EQ(parts->authority, "ann:a@b@host:1");
    EXPECT_EQ(parts->target, "/x://y?z#f");
    EXPECT_EQ(split_url("http://x?q")->target, "?q");
    EXPECT_EQ(split_url("s3://")->authority, "");
    for (std::string_view const text :
         {"", "://x", "/a://b", "http:/x", "http:x://y", "1a://x", "a b://x", "x", "+a://x"})
        EXPECT_FALSE(split_url(text)) << text;
}

TEST(Percent, Encode_ReservedBytes_AreEscaped) {
    EXPECT_EQ(percent_encode("a b/c?d&ü"), "a%20b%2Fc%3Fd%26%C3%BC");
    EXPECT_EQ(percent_encode("ses_A-z.9~"), "ses_A-z.9~");
    EXPECT_EQ(percent_encode("/a b?", "/"), "/a%20b%3F");
}

TEST(Percent, Decode_EveryByte_IsWhatWasEncoded) {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    EXPECT_EQ(percent_decode(percent_encode(bytes)), bytes);
    EXPECT_EQ(percent_decode("%c3%BC"), "ü");
    EXPECT_EQ(percent_decode("a+b"), "a+b");
    EXPECT_EQ(percent_decode("a+b%2B", Plus::space), "a b+");
}

TEST(Percent, Decode_BrokenEscape_IsNone) {
    for (std::string_view const broken : {"%", "%4", "a%4", "%zz", "%4z", "%-1", "%+1", "% 1"})
        EXPECT_FALSE(percent_decode(broken)) << broken;
}

TEST(ListenAddress, HostAndPort_AreRead) {
    using Address = ListenAddress;
    EXPECT_EQ(parse_listen_address("[::1]:0"), (Address{"::1", 0, true}));
    EXPECT_EQ(parse_listen_address("localhost:8080"), (Address{"127.0.0.1", 8080, true}));
    EXPECT_EQ(parse_listen_address("0.0.0.0:80"), (Address{"0.0.0.0", 80, false}));
    EXPECT_EQ(parse_listen_address("127.0.0.1:3676"), (Address{"127.0.0.1", 3676, true}));
    EXPECT_EQ(parse_listen_address("127.example.org:80"), (Address{"127.example.org", 80, false}));
    for (std::string_view const wrong :
         {"", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1:80", "[]:1",
          "[127.0.0.1:80", "[127.0.0.1]:80", "http://127.0.0.1:80", "[::1%lo]:80", "a b:80"})
        EXPECT_FALSE(parse_listen_address(wrong)) << wrong;
}

}  // namespace
}  // namespace dormouse
