#pragma once
// What a provider's refusal, or its silence, means: in words for people, and whether to ask again.

#include "agent/model.h"
#include "port/http.h"

#include <optional>
#include <string>
#include <vector>

namespace dormouse::model {

// Who speaks, and what must not be repeated of it.
struct Provider {
    std::string id;  // of the model in the configuration
    std::vector<std::string> secrets;
    std::string from = {};  // protocol and model, see provider_data.h

    // "main: <text>", as one line without secrets, cut to about 600 bytes. Not to be tried again.
    [[nodiscard]] agent::ModelTrouble trouble(std::string_view text) const;
    // The same, and the next try may do better.
    [[nodiscard]] agent::ModelTrouble passing(std::string_view text) const;

    // An answer with a status other than 200: 408, 409, 429 and those from 500 on may pass, unless
    // the provider says otherwise.
    [[nodiscard]] agent::ModelTrouble refused(port::HttpHead const& head, std::string_view body,
                                              Time now) const;
    // An error in the stream, after a status of 200.
    [[nodiscard]] agent::ModelTrouble failed_midway(std::string_view body) const;
    // No answer, or only part of one.
    [[nodiscard]] agent::ModelTrouble unreachable(port::HttpFailure const& failure) const;
};

}  // namespace dormouse::model
