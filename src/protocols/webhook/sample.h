#pragma once
// Makes payloads that a source reads: the inverse of read_payload(). Pure.

#include "webhook/source.h"

#include <optional>
#include <string>

namespace dormouse::webhook {

// The outcome of a call.
struct Sample {
    std::string pending = {};    // pendingID
    std::string reference = {};  // externalRef; empty: the call has none
    std::optional<std::string> error = {};
    Json output = {};  // not with `error`
};

// Errors: bad_value, if the source cannot name the call or cannot carry an error.
[[nodiscard]] Result<Json> sample_payload(Source const& source, Sample const& sample);

}  // namespace dormouse::webhook
