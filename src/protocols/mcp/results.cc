#include "mcp/results.h"

#include <array>
#include <ctime>

namespace dormouse::mcp {

rpc::Fault fault_of(Refusal const& why) {
    json::Writer data;
    data.begin_object().member("code", why.code).end_object();
    return {.code = why.rpc_code == 0 ? rpc::code::internal_error : why.rpc_code,
            .message = why.what,
            .data = why.code.empty() ? Json() : data.json()};
}

rpc::Fault bad_params(std::string why) {
    return {.code = rpc::code::invalid_params, .message = std::move(why)};
}

Json tool_result(ToolText const& result, std::string const& task) {
    json::Writer out;
    out.begin_object().key("content").begin_array().begin_object().member("type", "text");
    out.member("text", result ? *result : result.error().what).end_object().end_array();
    out.member("isError", !result);
    if (!task.empty()) {
        out.key("_meta").begin_object().key("io.modelcontextprotocol/related-task");
        out.begin_object().member("taskId", task).end_object().end_object();
    }
    return out.end_object().json();
}

}  // namespace dormouse::mcp
