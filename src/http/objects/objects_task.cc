#include "http/objects/objects.h"

namespace dormouse::server {

using namespace dormouse::session;

namespace {

// What it was started with; text parts only.
std::string prompt_of(Json const& parts) {
    std::string text;
    json::View(parts).elements([&](json::View part) { text += part["text"].string_or(""); });
    return text;
}

}  // namespace

std::string task_object(State const& parent, wire::TaskView const& task) {
    json::Writer out;
    out.begin_object().member("taskID", task_id(parent.id, task.no));
    out.member("sessionID", task.child.text()).member("parentID", parent.id.text());
    out.member("agentID", task.agent).member("description", task.description);
    out.member("prompt", prompt_of(task.parts)).member("status", text(task.status));
    out.member("queued", task.queued).member("resumeCount", task.run - 1);
    out.member_raw("result", task.result.is_null() ? "null" : task.result.text());
    out.member("progress", text_or_null(task.progress));
    out.member("error", task.error.empty() ? std::nullopt : std::optional(task.error));
    out.key("by");
    write_actor(out, task.by);
    out.key("time").begin_object().member("created", to_ms(task.created));
    out.member("completed", ms_or_null(task.ended)).member("resumed", ms_or_null(task.resumed));
    return out.end_object().end_object().take();
}

}  // namespace dormouse::server
