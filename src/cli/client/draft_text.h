#pragma once
// The provisional text of a reply that is still coming, put together from the frames `delta` of the
// event stream. Pure.

#include "json/json.h"

#include <map>
#include <string>
#include <string_view>

namespace dormouse::cli {

class DraftText {
public:
    // What this piece adds to its part: nothing when the part has it already, as after a connection
    // that was made again, and nothing when it does not follow what is there.
    [[nodiscard]] std::string fresh(json::View delta);
    // True when `delta` begins a draft: of another step, or another attempt.
    [[nodiscard]] bool is_other(json::View delta) const { return key_of(delta) != key_; }

private:
    [[nodiscard]] static std::string key_of(json::View delta);

    std::string key_;                                      // which step and attempt
    std::map<std::string, std::size_t, std::less<>> end_;  // bytes that there are, by partID
};

}  // namespace dormouse::cli
