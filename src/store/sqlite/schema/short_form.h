#pragma once
// The short form in which frames are stored: what every turn repeats is left out or abbreviated
// (docs/format.md). It is JSON too, and keeps what the SQL views look for. It begins with `[ `,
// and no other frame does, so frames of earlier releases are read as they are.

#include <dormouse/id.h>

#include <string>
#include <string_view>

namespace dormouse::store::sqlite {

// Returns what is stored for a frame: `frame` itself if nothing would be shorter. long_form()
// returns exactly `frame` for it.
[[nodiscard]] std::string short_form(SessionId session, std::string_view frame);
[[nodiscard]] std::string long_form(SessionId session, std::string_view stored);

}  // namespace dormouse::store::sqlite
