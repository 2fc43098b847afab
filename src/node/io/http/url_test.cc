// URLs that base/url.h accepts are called by libcurl: both must parse the same host and port.

#include "base/url.h"

#include <curl/curl.h>
#include <gtest/gtest.h>

#include <memory>

namespace dormouse::io {
namespace {

// Returns the origin as libcurl parses it: scheme://host[:port]; empty: it refuses the text.
std::string origin_by_curl(std::string const& text) {
    std::unique_ptr<CURLU, void (*)(CURLU*)> const url(curl_url(), curl_url_cleanup);
    if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return {};
    std::string out;
    for (auto const& [part, before] :
         {std::pair(CURLUPART_SCHEME, ""), {CURLUPART_HOST, "://"}, {CURLUPART_PORT, ":"}}) {
        char* value = nullptr;
        if (curl_url_get(url.get(), part, &value, 0) != CURLUE_OK) continue;
        out += before + std::string(value);
        curl_free(value);
    }
    return out;
}

TEST(Url, AcceptedUrl_HasTheSameOriginInLibcurl) {
    int accepted = 0;
    for (std::string const scheme : {"http://", "https://"}) {
        for (std::string const authority :
             {"example.org", "EXAMPLE.org", "my_service:8080", "127.0.0.1:1", "[::1]",
              "[2001:db8::1]:443", "a-b.c--d", "example.org:65535", "user@host", "a:b@c",
              "[fe80::1%25eth0]", "exam%70le.org", "example.org:", "example.org:080",
              "example.org:0", "[127.0.0.1]", "127.0.0.1\\x", "1\t27.0.0.1",
              "ex\xc3\xa4mple.org"}) {
            for (std::string const target :
                 {"", "/", "/@127.0.0.1/", "?@127.0.0.1", "/a:b@c", "/%2e%2e/x", "/#@127.0.0.1",
                  "\\@127.0.0.1", "//127.0.0.1"}) {
                std::string const text = scheme + authority + target;
                auto const url = parse_url(text);
                if (!url) continue;
                ++accepted;
                std::string const theirs = origin_by_curl(text);
                // libcurl shortens numeric addresses and keeps the case of names.
                EXPECT_EQ(parse_url(theirs).value_or(Url()).origin(), url->origin()) << text;
            }
        }
    }
    EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace dormouse::io
