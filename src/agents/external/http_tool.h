#pragma once
// A tool that is a web service: one request for each attempt. The answer is the result, or it says
// that the result comes later by the callback URL. See docs/how-to/tool-web-service.md.

#include "external/declared.h"
#include "port/http.h"
#include "port/world.h"

namespace dormouse::external {

// Where to ask for a result that the service cannot push.
struct Poll {
    std::string url;  // url_template.h, with {call.NAME}
    Duration every{30'000};
    std::string
        done;  // JSON pointer into the answer; a true value there means that the result exists
    std::string output = {};  // JSON pointer to the result; empty: the whole answer
};

// The answers that mean that the result comes later.
enum class Later : std::uint8_t { only_202, any_2xx, never };

struct HttpTool {
    Declared declared;  // its member `later` follows from `later` below
    std::string method = "POST";
    std::string url = {};                        // url_template.h
    std::vector<port::HttpHeader> headers = {};  // secrets among them are never shown
    Json body = {};                              // body_template.h; null: the default body
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
