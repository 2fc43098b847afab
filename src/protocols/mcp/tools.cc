#include "mcp/tools.h"

#include "base/text/chars.h"
#include "base/text/cut.h"

#include <algorithm>
#include <array>

namespace dormouse::mcp {
namespace {

constexpr std::string_view key_schema =
    R"({"type":"string","maxLength":255,"description":"A call with the same arguments as one that )"
    R"(is open returns that one, unless this differs."})";

constexpr std::array<McpTool, 11> own_tools{{
    {"background_task",
     "Starts an agent of the server on something in the background. Returns the id of the task at "
     "once; its outcome comes as a later message.",
     R"({"type":"object","properties":{"description":{"type":"string"},"prompt":{"type":"string",)"
     R"("minLength":1},"agent":{"type":"string","minLength":1},"fork":{"type":"boolean",)"
     R"("default":false,"description":"It starts with the history of this conversation."}},)"
     R"("required":["description","prompt","agent"],"additionalProperties":false})"},
    {"background_output", "Returns what a background task has said. With block, waits for its end.",
     R"({"type":"object","properties":{"task_id":{"type":"string","minLength":1},"block":{"type":)"
     R"("boolean","default":false},"timeout":{"type":"integer","minimum":0,"maximum":600000,)"
     R"("default":60000,"description":"In ms, with block."}},"required":["task_id"],)"
     R"("additionalProperties":false})"},
    {"background_resume",
     "Sends a completed background task a further message; it remembers what was said.",
     R"({"type":"object","properties":{"task_id":{"type":"string","minLength":1},"message":)"
     R"({"type":"string","minLength":1},"block":{"type":"boolean","default":false},"timeout":)"
     R"({"type":"integer","minimum":0,"maximum":600000,"default":60000,"description":)"
     R"("In ms, with block."}},"required":["task_id","message"],"additionalProperties":false})"},
    {"background_cancel", "Cancels a background task or an open call, or all of them.",
     R"({"type":"object","properties":{"task_id":{"type":"string","minLength":1},"all":{"type":)"
     R"("boolean"}},"additionalProperties":false})"},
    {"background_clear", "Clears all background tasks: those that run are stopped.",
     R"({"type":"object","properties":{},"additionalProperties":false})"},
    {"background_list", "The background tasks and open calls, or those of one status.",
     R"({"type":"object","properties":{"status":{"type":"string","enum":["running","completed",)"
     R"("error","cancelled","resumed"]}},"additionalProperties":false})"},
    {"broadcast",
     "Sends a message to other agents: to one alias, to several, or without `to` to all that have "
     "one. An answer comes as a later message.",
     R"({"type":"object","properties":{"message":{"type":"string","minLength":1},"to":{"anyOf":[)"
     R"({"type":"string","minLength":1},{"type":"array","minItems":1,"items":{"type":"string"}}]},)"
     R"("resume":{"type":"boolean"},"reply_to":{"type":"string"},"ttl":{"type":"integer",)"
     R"("minimum":1,"maximum":31622400000,"description":"In ms: unread mail then )"
     R"(expires, and you are notified."}},"required":["message"],"additionalProperties":false})"},
    {"inbox", "The mail that has come to this session, oldest first.",
     R"({"type":"object","properties":{"after":{"type":"integer","minimum":0,"description":)"
     R"("Only after this number."},"status":{"type":"string","enum":["delivered",)"
     R"("quarantined","read","expired"]}},"additionalProperties":false})"},
    {"mail_status", "The delivery status of a mail that this session has sent, for each receiver.",
     R"({"type":"object","properties":{"mail_id":{"type":"string","minLength":1}},)"
     R"("required":["mail_id"],"additionalProperties":false})"},
    {"report_progress",
     "For a task: reports progress to the session that started it, without waking it.",
     R"({"type":"object","properties":{"text":{"type":"string","minLength":1}},)"
     R"("required":["text"],"additionalProperties":false})"},
    {"session_history",
     "The earlier messages of this conversation, oldest first, by page. Use it for messages that "
     "were left out or that you do not remember.",
     R"({"type":"object","properties":{"page":{"type":"string","minLength":1,"description":)"
     R"("What the page before named as the next one; without it the first."}},)"
     R"("additionalProperties":false})"},
}};

constexpr std::size_t part_bytes_shown = 4'096;

std::string cut_part(std::string const& text) {
    return cut_with_mark(text, part_bytes_shown, " … [cut]");
}

std::string words_of_part(json::View part) {
    auto const type = part["type"].string_or("");
    if (type == "text") return cut_part(part["text"].string_or(""));
    if (type == "image" || type == "file")
        return "[" + type + " " + part["name"].string_or("") + "]";
    if (type != "tool") return "";
    json::View const state = part["state"];
    std::string out =
        "[tool " + part["tool"].string_or("") + " " + std::string(state["input"].raw());
    for (std::string_view const name : {"output", "error"}) {
        json::View const value = state[name];
        if (value.exists() && !value.is_null())
            out += ": " + value.string().value_or(std::string(value.raw()));
    }
    return cut_part(out) + "]";
}

// Returns whether a value has one of the types in the schema of its member.
bool has_mcp_type(json::View schema, json::View value) {
    auto const type = schema["type"].string_or("");
    using json::Kind;
    if (type == "string") return value.kind() == Kind::string;
    if (type == "boolean") return value.kind() == Kind::boolean;
    if (type == "object") return value.kind() == Kind::object;
    if (type == "integer") {
        auto const number = value.integer();
        return number && *number >= schema["minimum"].integer_or(INT64_MIN) &&
               *number <= schema["maximum"].integer_or(INT64_MAX);
    }
    return value.kind() == Kind::string || value.kind() == Kind::array;
}

}  // namespace

std::span<McpTool const> own_mcp_tools() { return own_tools; }

void write_mcp_tool(json::Writer& out, McpTool const& tool) {
    out.member("name", tool.name).member("description", tool.description);
    out.member_raw("inputSchema", tool.schema);
}

void write_own_mcp_tools(json::Writer& out, std::span<McpTool const> tools) {
    for (McpTool const& tool : tools) {
        write_mcp_tool(out.begin_object(), tool);
        out.end_object();
    }
}

bool is_own_mcp_tool(std::string_view name) {
    bool const inside = name == "todo" || name == "artifact_emit" || name == "wait_for";
    return inside || std::ranges::find(own_tools, name, &McpTool::name) != own_tools.end();
}

std::string mcp_name(std::string_view tool) {
    std::string out(tool.substr(0, 64));
    for (char& c : out) {
        if (!is_letter_or_digit(c) && c != '-') c = '_';
    }
    return out;
}

std::optional<Json> with_key(json::View schema) {
    if (schema.kind() != json::Kind::object || schema["properties"]["key"].exists())
        return std::nullopt;
    json::Writer out;
    out.begin_object();
    schema.members([&](std::string_view name, json::View value) {
        if (name != "properties") out.member_raw(name, value.raw());
    });
    out.key("properties").begin_object();
    schema["properties"].members(
        [&](std::string_view name, json::View value) { out.member_raw(name, value.raw()); });
    return out.member_raw("key", key_schema).end_object().end_object().json();
}

Json without_key(json::View arguments) {
    json::Writer out;
    out.begin_object();
    arguments.members([&](std::string_view name, json::View value) {
        if (name != "key") out.member_raw(name, value.raw());
    });
    return out.end_object().json();
}

std::string history_words(json::View page) {
    std::string out;
    page["items"].elements([&](json::View message) {
        out += message["role"].string_or("?") + ":";
        message["parts"].elements([&](json::View part) {
            std::string const words = words_of_part(part);
            if (!words.empty()) out += " " + words;
        });
        out += "\n\n";
    });
    if (out.empty()) out = "There are no messages.\n\n";
    auto const next = page["next"].string();
    return out + (next ? "The next page: " + *next : "That was the last page.");
}

std::string wrong_arguments(McpTool const& tool, json::View arguments) {
    json::View const schema(tool.schema);
    std::string wrong;
    schema["required"].elements([&](json::View name) {
        auto const member = name.string_or("");
        if (!arguments[member].exists() && wrong.empty()) wrong = member + " is missing";
    });
    arguments.members([&](std::string_view name, json::View value) {
        auto const known = schema["properties"][name];
        if (!wrong.empty()) return;
        if (!known.exists()) {
            wrong = "unknown argument '" + std::string(name) + "'";
        } else if (!has_mcp_type(known, value) || value.raw() == "\"\"") {
            wrong = std::string(name) + " is invalid, its schema is: " + std::string(known.raw());
        }
    });
    return wrong;
}

}  // namespace dormouse::mcp
