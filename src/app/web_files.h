#pragma once
// The files of the web page, which the build embeds: tools/web_page.sh makes them, and
// tools/embed_files.py the source that defines this. Only the program `dormouse` has them.

#include "http/resources/pages/web_page.h"

namespace dormouse::app {

[[nodiscard]] http::WebFiles web_files();

}  // namespace dormouse::app
