#include "wire/message_json.h"

#include "json/json.h"
#include "wire/names.h"

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

std::optional<std::string> title_or_null(std::string const& title) {
    return title.empty() ? std::nullopt : std::optional(title);
}

struct Place {
    State const& state;
    MessageView const& message;

    [[nodiscard]] std::string part_id(std::size_t index) const {
        return numbered_id("prt_", state.id, message.seq) + "_" + std::to_string(index);
    }
};

void write_part_head(json::Writer& out, Place const& place, std::size_t index,
                     std::string_view type) {
    out.begin_object().member("id", place.part_id(index));
    out.member("messageID", numbered_id("msg_", place.state.id, place.message.seq));
    out.member("sessionID", place.state.id.text()).member("type", type);
}

// Writes text, reasoning and data parts as in the journal, with their ids.
void write_content_part(json::Writer& out, Place const& place, std::size_t index, json::View part) {
    std::string const type = part["type"].string_or("text");
    write_part_head(out, place, index, type);
    if (type == "image" || type == "file") {
        for (std::string_view const name : {"mime", "name", "bytes", "url", "artifactID", "alt"}) {
            json::View const value = part[name];
            out.member_raw(name, value.exists() ? value.raw() : "null");
        }
    } else if (type == "data") {
        out.member("name", part["name"].string_or("")).member_raw("data", part["data"].raw());
    } else {
        out.member("text", part["text"].string_or(""));
    }
    if (type == "text") out.member("synthetic", part["synthetic"].boolean_or(false));
    if (json::View const data = part["providerData"]; data.exists())
        out.member_raw("providerData", data.raw());
    out.end_object();
}

void write_times(json::Writer& out, CallView const& call) {
    Time const start = call.started == 0 ? call.settled_at : call.started_at;
    out.key("time")
        .begin_object()
        .member("start", to_ms(start))
        .member("end", to_ms(call.settled_at))
        .end_object();
}

void write_settled(json::Writer& out, SessionId const& session, CallView const& call) {
    out.member("status", call.error ? "error" : "completed").member("input", call.spec.input);
    if (call.error) {
        out.member("error", call.error_text).member("reason", text(*call.error));
    } else {
        out.member("output", call.output).member("title", title_or_null(call.title));
    }
    out.member("metadata", call.metadata);
    if (!call.error) {
        out.member("artifactID", call.artifact == 0
                                     ? std::nullopt
                                     : std::optional(numbered_id("art_", session, call.artifact)));
    }
    write_times(out, call);
}

void write_open(json::Writer& out, CallView const& call) {
    if (call.waiting()) {
        out.member("status", "waiting_async").member("input", call.spec.input);
        for (PauseView const& pause : call.pauses) {
            if (pause.receipt) continue;
            out.member("pendingID", pause.pending.text());
            break;
        }
        out.member("output", call.placeholder());
        out.key("time")
            .begin_object()
            .member("start", to_ms(call.pauses.back().created))
            .end_object();
    } else if (call.started != 0) {
        out.member("status", "running")
            .member("input", call.spec.input)
            .member_null("title")
            .member_null("metadata");
        out.key("time").begin_object().member("start", to_ms(call.started_at)).end_object();
    } else {
        out.member("status", "pending")
            .member("input", call.spec.input)
            .member("raw", call.spec.input.text());
    }
}

void write_tool_part(json::Writer& out, Place const& place, std::size_t index,
                     CallView const& call) {
    write_part_head(out, place, index, "tool");
    out.member("callID", call_text(call.no))
        .member("tool", call.spec.tool)
        .key("state")
        .begin_object();
    if (call.settled != 0) {
        write_settled(out, place.state.id, call);
    } else {
        write_open(out, call);
    }
    out.end_object().end_object();
}

// A tool call as an external agent reported it.
class AgentToolPart {
public:
    AgentToolPart(json::Writer& out, AgentToolView const& tool)
        : out_(out), tool_(tool), body_(tool.body) {}

    [[nodiscard]] std::string name() const { return "acp:" + body_["kind"].string_or("other"); }

    // While it waits for permission.
    void waiting(PauseView const& pause) {
        begin("waiting_async");
        out_.member("pendingID", pause.pending.text()).member_null("output");
        end(pause.created);
    }
    void state() {
        if (tool_.status == AgentToolStatus::pending) {
            begin("pending");
            out_.member("raw", member("input")).end_object();
        } else if (tool_.status == AgentToolStatus::in_progress) {
            begin("running");
            out_.member("title", title_or_null(tool_.title))
                .member_raw("metadata", member("locations"));
            end(tool_.started);
        } else {
            settled();
        }
    }

private:
    [[nodiscard]] std::string_view member(std::string_view name) const {
        json::View const value = body_[name];
        return value.exists() ? value.raw() : "null";
    }
    void begin(std::string_view status) {
        out_.begin_object().member("status", status).member_raw("input", member("input"));
    }
    void end(Time start) {
        out_.key("time").begin_object().member("start", to_ms(start)).end_object().end_object();
    }
    void settled() {
        bool const failed = tool_.status == AgentToolStatus::failed;
        begin(failed ? "error" : "completed");
        if (failed) {
            json::View const output = body_["output"];
            std::string const text = output.exists() ? output.string_or(output.raw()) : "failed";
            out_.member("error", tool_.unknown ? "outcome unknown" : text);
            out_.member("reason", tool_.unknown ? "unknown" : "failed");
        } else {
            out_.member_raw("output", member("output")).member("title", title_or_null(tool_.title));
        }
        out_.member_raw("metadata", member("locations"));
        if (!failed) out_.member_null("artifactID");
        out_.key("time").begin_object().member("start", to_ms(tool_.started));
        out_.member("end", to_ms(tool_.changed)).end_object().end_object();
    }

    json::Writer& out_;
    AgentToolView const& tool_;
    json::View const body_;
};

void write_agent_tool(json::Writer& out, Place const& place, std::size_t index,
                      History const& history, AgentToolView const& tool) {
    AgentToolPart part(out, tool);
    write_part_head(out, place, index, "tool");
    out.member("callID", tool.id).member("tool", part.name()).key("state");
    CallView const* const asked = tool.asked == 0 ? nullptr : &history.calls().at(tool.asked);
    if (asked && asked->waiting()) {
        part.waiting(asked->pauses.back());
    } else {
        part.state();
    }
    out.end_object();
}

}  // namespace

std::string tool_part_object(State const& state, History const& history, CallNo call) {
    CallView const& view = history.calls().at(call);
    MessageView const& message = history.messages().at(view.message);
    std::size_t index = json::View(message.parts).size();
    for (CallNo no : message.calls) {
        if (no == call) break;
        ++index;
    }
    json::Writer out;
    write_tool_part(out, {state, message}, index, view);
    return out.take();
}

std::string message_object(State const& state, History const& history, Seq seq) {
    MessageView const& message = history.messages().at(seq);
    Place const place{state, message};
    json::Writer out;
    out.begin_object()
        .member("id", numbered_id("msg_", state.id, seq))
        .member("sessionID", state.id.text());
    out.member("turnID", numbered_id("trn_", state.id, message.turn));
    out.member("role", message.assistant ? "assistant" : "user").key("source").begin_object();
    out.member("type", message.assistant ? "model" : source_text(message.source));
    out.member("ref", message.assistant ? std::optional(state.agent) : std::nullopt).end_object();
    out.key("parts").begin_array();
    std::size_t index = 0;
    json::View(message.parts).elements([&](json::View part) {
        write_content_part(out, place, index++, part);
    });
    for (CallNo no : message.calls) write_tool_part(out, place, index++, history.calls().at(no));
    for (AgentToolView const& tool : message.agent_tools)
        write_agent_tool(out, place, index++, history, tool);
    out.end_array().member_null("error").key("usage");
    if (message.usage) {
        out.begin_object().member("inputTokens", message.usage->input_tokens);
        out.member("outputTokens", message.usage->output_tokens);
        out.member("cachedTokens", message.usage->cached_tokens);
        out.member("reasoningTokens", message.usage->reasoning_tokens);
        out.member("cacheWrittenTokens", message.usage->cache_written_tokens);
        out.member("cost", cost_json(message.usage->cost));
        out.member("steps", 1).end_object();
    } else {
        out.null();
    }
    out.key("time").begin_object().member("created", to_ms(message.created));
    out.member("completed",
               message.assistant ? std::optional(to_ms(message.created)) : std::nullopt)
        .end_object();
    return out.end_object().take();
}

}  // namespace dormouse::wire
