#pragma once
// Finds the call and its outcome in the payload of a source. Pure.

#include <dormouse/error.h>
#include <dormouse/json.h>

#include "webhook/signature.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::webhook {

struct Source {
    std::string id;
    Kind kind = Kind::standard;
    std::vector<std::string> secrets = {};  // empty: the source counts as missing
    std::string project = "default";
    std::vector<std::string> tools = {};  // names and patterns; empty: all
    // JSON pointers; empty: not used. Without `output` and `error` the payload must have the form
    // of POST /async-tool/result or /error.
    std::string pending = {};
    std::string external_ref = {};
    std::string output = {};
    std::string error = {};
    std::string title = {};
    // Pointers and their required texts; a payload without them is accepted and ignored.
    std::vector<std::pair<std::string, std::string>> when = {};
};

struct Payload {
    bool ignored = false;   // no other member is set
    std::string pending;    // empty: `reference` names the call
    std::string reference;  // the call's externalRef
    std::optional<std::string> error;
    Json output;
    std::string title;
    Json metadata;
};

// Errors: bad_value, with the pointer of the missing value.
[[nodiscard]] Result<Payload> read_payload(Source const& source, Json const& body);

// Converts an application/x-www-form-urlencoded body to an object of strings; the field `payload`
// is parsed as JSON. Errors: bad_value, bad_json.
[[nodiscard]] Result<Json> form_to_json(std::string_view body);

}  // namespace dormouse::webhook
