#pragma once
// A tool that is a web service: one request for each attempt. An answer may be the result, or say
// that it comes later by the callback URL. docs/how-to/tool-web-service.md.

#include "external/declared.h"
#include "port/http.h"
#include "port/world.h"

namespace dormouse::external {

// Where results come from that nobody can push.
struct Poll {
    std::string url;  // url_template.h, with {call.NAME}
    Duration every{30'000};
    std::string done;         // JSON pointer into the answer: what is true when the result is there
    std::string output = {};  // JSON pointer to it; empty: the whole answer
};

// Which answers mean "later".
enum class Later : std::uint8_t { only_202, any_2xx, never };

struct HttpTool {
    Declared declared;  // `later` follows from the one below
    std::string method = "POST";
    std::string url = {};                        // url_template.h
    std::vector<port::HttpHeader> headers = {};  // secrets among them are never shown
    Json body = {};                              // body_template.h; null: the usual one
    Later later = Later::only_202;
    std::string external_ref = {};  // JSON pointer into the answer; empty: its member externalRef
    std::optional<Poll> poll = {};  // REQUIRES: `later` is not never
    std::string secret = {};        // signs the request (Standard Webhooks); empty: unsigned
};

// Errors: bad_value, with what is wrong and what to do.
[[nodiscard]] Result<void> check_http_tool(HttpTool const& options);
// `client` and `clock` outlive the tool. Errors: those of check_http_tool().
[[nodiscard]] Result<agent::Tool> make_http_tool(HttpTool options, port::HttpClient& client,
                                                 port::Clock const& clock);

}  // namespace dormouse::external
