#include "agent/builtin.h"

#include "json/json.h"

namespace dormouse::agent {

using namespace dormouse::session;

namespace {

ToolResult write_list(ToolCall const& call) {
    json::Writer items;
    items.begin_array();
    std::uint64_t all = 0;
    std::uint64_t done = 0;
    json::View(call.input)["items"].elements([&](json::View item) {
        std::string const status = item["status"].string_or("pending");
        items.begin_object().member("text", item["text"].string_or(""));
        items.member("status", status).end_object();
        ++all;
        if (status == "done") ++done;
    });
    json::Writer out;
    out.begin_object().member("items", items.end_array().json());
    out.member("open", all - done).member("done", done).end_object();
    return Done{out.json(), std::to_string(done) + " of " + std::to_string(all) + " done"};
}

}  // namespace

Tool todo() {
    Tool tool;
    tool.name = "todo";
    tool.description =
        "Keeps the list of things to do in this session. Give the whole list each time: what is "
        "not in it is removed.";
    tool.schema = Json::trusted(
        R"({"type":"object","properties":{"items":{"type":"array","maxItems":200,"items":)"
        R"({"type":"object","properties":{"text":{"type":"string","minLength":1,"maxLength":1000},)"
        R"("status":{"type":"string","enum":["pending","in_progress","done"]}},)"
        R"("required":["text"],"additionalProperties":false}}},)"
        R"("required":["items"],"additionalProperties":false})");
    tool.terms.crash = CrashPolicy::retry;
    tool.run = [](ToolCall const& call, std::stop_token const&) { return write_list(call); };
    return tool;
}

}  // namespace dormouse::agent
