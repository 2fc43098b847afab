#pragma once
// The meaning of a provider's error or silence: a text for people, and whether to retry.

#include "agent/model.h"
#include "port/http.h"

#include <optional>
#include <string>
#include <vector>

namespace dormouse::model {

// A provider, and the secrets that its texts must not show.
struct Provider {
    std::string id;  // of the model in the configuration
    std::vector<std::string> secrets;
    std::string from = {};  // protocol and model, see provider_data.h

    // Returns "main: <text>", as one line without secrets, cut to about 600 bytes. Permanent.
    [[nodiscard]] agent::ModelTrouble trouble(std::string_view text) const;
    // The same, but temporary: a retry may succeed.
    [[nodiscard]] agent::ModelTrouble passing(std::string_view text) const;

    // For an answer with a status other than 200. 408, 409, 429 and 500 or higher are temporary,
    // unless the provider says otherwise.
    [[nodiscard]] agent::ModelTrouble refused(port::HttpHead const& head, std::string_view body,
                                              Time now) const;
    // For an error in the stream after a status of 200.
    [[nodiscard]] agent::ModelTrouble failed_midway(std::string_view body) const;
    // For a missing or partial answer.
    [[nodiscard]] agent::ModelTrouble unreachable(port::HttpFailure const& failure) const;
};

}  // namespace dormouse::model
