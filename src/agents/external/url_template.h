#pragma once
// The URL of an HTTP tool: constant except for `{input.NAME}` as a whole path segment or a whole
// query value. So the model chooses neither the host nor the path outside its own segment. The URL
// of a poll may also contain `{call.NAME}`: externalRef, pendingID, callID or sessionID.

#include <dormouse/error.h>

#include "json/json.h"

#include <string>
#include <variant>
#include <vector>

namespace dormouse::external {

class UrlTemplate {
public:
    // Errors: bad_value, which says what is wrong and what to do.
    [[nodiscard]] static Result<UrlTemplate> parse(std::string_view text, bool of_poll = false);

    // `call`: an object with the values of {call.NAME}. Errors: invalid_arguments, with a text for
    // the model.
    [[nodiscard]] Result<std::string> fill(json::View input, json::View call = json::View()) const;

private:
    struct Part {
        std::string text;   // before the value
        std::string name;   // of the value; empty: none follows
        bool path = false;  // the value is a path segment
        bool of_call = false;
    };
    [[nodiscard]] std::string add(std::string_view text, bool path, bool of_poll);

    std::vector<Part> parts_;
};

}  // namespace dormouse::external
