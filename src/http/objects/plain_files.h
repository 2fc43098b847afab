#pragma once
// The files of the pages that the server draws: their style, and the script of the sign-in. They
// are files of their own, so that the Content-Security-Policy allows nothing inline. The program
// contains them also where it has no web page.

#include <string>
#include <string_view>
#include <vector>

namespace dormouse::http {

struct PlainFile {
    std::string path;  // "/assets/plain-1f0c….css": a file with new content has a new name
    std::string_view type;
    std::string_view bytes;
};
[[nodiscard]] std::vector<PlainFile> plain_files();

// Returns the element that loads the style.
[[nodiscard]] std::string plain_style_link();
[[nodiscard]] std::string sign_in_script_path();

}  // namespace dormouse::http
