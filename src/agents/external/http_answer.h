#pragma once
// The meaning of a web service's answer for the call.

#include "external/http_tool.h"
#include "session/limits.h"

namespace dormouse::external {

struct HttpAnswer {
    port::HttpHead head;  // status 0: there was no answer
    std::string body = {};
    std::optional<port::HttpFailure> failure = {};  // set: the answer is incomplete
};

inline constexpr std::size_t answer_max = session::limits::artifact_bytes_max;

[[nodiscard]] agent::ToolResult result_of(HttpTool const& tool, HttpAnswer const& answer, Time now);
// Returns the result of a poll. REQUIRES: tool.poll.
[[nodiscard]] agent::PollResult poll_result_of(HttpTool const& tool, HttpAnswer const& answer,
                                               Time now);

}  // namespace dormouse::external
