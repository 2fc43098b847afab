#pragma once
// The web page: its files, which the build embeds into the program, and the paths of its views.
// They are the same for every user and contain no session data.

#include "http/objects/plain_files.h"
#include "http/transport/http.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::http {

struct WebFile {
    std::string_view path;  // "/assets/index-CZ2ttEgC.css"; the page itself is "/index.html"
    std::string_view type;  // media type
    std::string_view bytes;
    std::string_view brotli;  // `bytes` compressed; empty: not stored
    std::string_view digest;  // of `bytes`, as text; part of the entity tag
};
using WebFiles = std::span<WebFile const>;

class WebPage {
public:
    // Without files there is no page, and only the files of the pages that the server draws
    // (plain_files.h) are known.
    explicit WebPage(WebFiles files);

    // Returns true if `path` is a file or a view. These need no token.
    [[nodiscard]] bool has(std::string_view path) const;
    // Answers GET or HEAD. A view redirects to the sign-in unless `signed_in`.
    // nullopt: no such file.
    [[nodiscard]] std::optional<HttpReply> get(HttpRequest const& request, bool signed_in) const;
    // Returns the page; `without_script` is its content for browsers without script, as HTML.
    // nullopt: there is no page.
    [[nodiscard]] std::optional<HttpReply> around(std::string_view title,
                                                  std::string_view without_script) const;

private:
    [[nodiscard]] WebFile const* find(std::string_view path) const;

    [[nodiscard]] PlainFile const* find_plain(std::string_view path) const;

    WebFiles files_;
    std::vector<PlainFile> plain_;
};

// Returns the path and query of this request, encoded.
[[nodiscard]] std::string target_of(HttpRequest const& request);
// Returns the path of the sign-in, which returns to this request afterwards.
[[nodiscard]] std::string sign_in_path(HttpRequest const& request);

}  // namespace dormouse::http
