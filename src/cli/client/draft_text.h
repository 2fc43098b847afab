#pragma once
// Assembles the provisional text of a reply in progress from the `delta` frames of the event
// stream. Pure.

#include "json/json.h"

#include <map>
#include <string>
#include <string_view>

namespace dormouse::cli {

class DraftText {
public:
    // Returns the text that `delta` adds to its part: empty when the part has it already (after a
    // reconnect) and when it does not follow the text received so far.
    [[nodiscard]] std::string fresh(json::View delta);
    // Returns true when `delta` belongs to another step or another attempt than the current draft.
    [[nodiscard]] bool is_other(json::View delta) const { return key_of(delta) != key_; }

private:
    [[nodiscard]] static std::string key_of(json::View delta);

    std::string key_;                                      // step and attempt
    std::map<std::string, std::size_t, std::less<>> end_;  // bytes received, by partID
};

}  // namespace dormouse::cli
