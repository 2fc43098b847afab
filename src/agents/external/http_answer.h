#pragma once
// What an answer of a web service means for the call.

#include "external/http_tool.h"
#include "session/limits.h"

namespace dormouse::external {

struct HttpAnswer {
    port::HttpHead head;  // status 0: there was none
    std::string body = {};
    std::optional<port::HttpFailure> failure = {};  // the answer is not complete
};

inline constexpr std::size_t answer_max = session::limits::artifact_bytes_max;

[[nodiscard]] agent::ToolResult result_of(HttpTool const& tool, HttpAnswer const& answer, Time now);
// What came of a poll. REQUIRES: tool.poll.
[[nodiscard]] agent::PollResult poll_result_of(HttpTool const& tool, HttpAnswer const& answer,
                                               Time now);

}  // namespace dormouse::external
