#pragma once
// Where a source's payload holds the call and its outcome. Pure.

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
    std::vector<std::string> secrets = {};  // none: the source is not there
    std::string project = "default";
    std::vector<std::string> tools = {};  // names and patterns; empty: all
    // JSON pointers; empty: not looked for. Without `output` and `error` the payload has the form
    // of POST /async-tool/result or /error.
    std::string pending = {};
    std::string external_ref = {};
    std::string output = {};
    std::string error = {};
    std::string title = {};
    // Pointers and the texts that must stand there; another payload is taken and ignored.
    std::vector<std::pair<std::string, std::string>> when = {};
};

struct Payload {
    bool ignored = false;   // nothing else is set
    std::string pending;    // empty: `reference` names the call
    std::string reference;  // what the call's externalRef must be
    std::optional<std::string> error;
    Json output;
    std::string title;
    Json metadata;
};

// Errors: bad_value, with the pointer of what is missing.
[[nodiscard]] Result<Payload> read_payload(Source const& source, Json const& body);

// An application/x-www-form-urlencoded body as an object of strings, its field `payload` as the
// JSON that it is. Errors: bad_value, bad_json.
[[nodiscard]] Result<Json> form_to_json(std::string_view body);

}  // namespace dormouse::webhook
