#include "acp_agent/updates.h"

#include "acp_agent/ask.h"
#include "base/text/text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dormouse::acp_agent {
namespace {

Json chunk(std::string_view kind, std::string_view text, std::string_view message) {
    json::Writer out;
    out.begin_object().member("sessionUpdate", kind).key("content").begin_object();
    out.member("type", "text").member("text", text).end_object();
    if (!message.empty()) out.member("messageId", message);
    return out.end_object().json();
}

std::string acp_words(json::View value) {
    auto const text = value.string();
    // opencode and others put the text of a result here, next to data for programs.
    auto const inner = value["output"].string();
    if (!text && inner) return *inner;
    return text ? *text : std::string(value.raw());
}

// Returns an unfinished {"sessionUpdate":"tool_call_update", …}.
json::Writer call_update(std::string_view call) {
    json::Writer out;
    out.begin_object().member("sessionUpdate", "tool_call_update").member("toolCallId", call);
    return out;
}

void write_content(json::Writer& out, std::string_view text) {
    out.key("content").begin_array().begin_object().member("type", "content");
    out.key("content").begin_object().member("type", "text").member("text", text);
    out.end_object().end_object().end_array();
}

Json status_update(std::string_view call, std::string_view status, std::string_view text = {}) {
    auto out = call_update(call);
    out.member("status", status);
    if (!text.empty()) write_content(out, text);
    return out.end_object().json();
}

Json completed_update(std::string_view call, json::View output) {
    auto out = call_update(call);
    out.member("status", "completed").member_raw("rawOutput", output.raw());
    write_content(out, acp_words(output));
    return out.end_object().json();
}

Json tool_call_of(std::string_view id, std::string_view tool, json::View input,
                  std::string_view kind = "other") {
    json::Writer out;
    out.begin_object().member("sessionUpdate", "tool_call").member("toolCallId", id);
    out.member("title", tool).member("kind", kind).member("status", "pending");
    out.member_raw("rawInput", input.exists() ? input.raw() : "null");
    return out.end_object().json();
}

// Returns a message as text only.
std::string acp_text_of(json::View parts) {
    std::string out;
    parts.elements([&](json::View part) {
        auto const type = part["type"].string_or("text");
        if (!out.empty()) out += '\n';
        if (type == "text") {
            out += part["text"].string_or("");
        } else {
            out += "[" + type + " " + part["name"].string_or(part["url"].string_or("")) + "]";
        }
    });
    return out;
}

std::string acp_text_of(json::View parts, std::string_view type) {
    std::string out;
    parts.elements([&](json::View part) {
        if (part["type"].string_or("") == type) out += part["text"].string_or("");
    });
    return out;
}

std::string stop_reason(std::string_view finish) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> reasons{
        {{"stop", "end_turn"},
         {"length", "max_tokens"},
         {"step_limit", "max_turn_requests"},
         {"budget", "max_turn_requests"},
         {"refusal", "refusal"},
         {"cancelled", "cancelled"}}};
    auto const* const found =
        std::ranges::find(reasons, finish, &decltype(reasons)::value_type::first);
    return found == reasons.end() ? std::string() : std::string(found->second);
}

// The activity in the envelope is a string, or an object as in the API.
std::string acp_activity_of(json::View event) {
    auto const activity = event["activity"];
    return activity.kind() == json::Kind::object ? activity["type"].string_or("")
                                                 : activity.string_or("");
}

}  // namespace

AcpReport AcpUpdates::on_event(std::string_view type, json::View event, bool replay) {
    AcpReport out;
    if (type == "delta") {
        take_delta(event, out);
    } else if (type == "bye") {
        out.gone = event["reason"].string_or("") == "deleted";
    } else {
        take(type, event, replay, out);
    }
    if (auto const activity = acp_activity_of(event); !activity.empty()) {
        activity_ = activity;
        out.rests = activity == "waiting_async";
    }
    // One of several calls was settled: the session still waits for the others.
    bool const settles = type == "submitted" || type == "expired" || type == "cancelled";
    out.rests = (out.rests || (settles && activity_ == "waiting_async")) && !questions_.empty();
    return out;
}

std::vector<std::string> AcpUpdates::approvals() const { return {asked_.begin(), asked_.end()}; }

void AcpUpdates::take(std::string_view type, json::View event, bool replay, AcpReport& out) {
    auto const data = event["data"];
    if (type == "input_received") return take_input(data, replay, out);
    if (type == "model_replied") return take_reply(data, out);
    if (type == "agent_update") return take_update(data, out);
    if (type == "agent_asked") return take_permission(data, out);
    if (type == "budget_reached") return take_budget(data, out);
    if (type == "agent_prompted" && !replay && !std::exchange(started_, true)) {
        out.updates.push_back(chunk("agent_thought_chunk", "Starting the agent's program.\n", ""));
        return;
    }
    if (type == "attached") started_ = true;
    if (type == "detached") started_ = false;
    if (type == "call_paused" || type == "gate_asked" || type == "in_doubt")
        return take_pause(type, data, out);
    if (type == "turn_started") {
        open_turn_ = event["turnID"].string_or("");
    } else if (type == "turn_ended") {
        take_end(event, out);
    } else if (type == "forked") {
        take_transcript(data["messages"], out);
    } else if (type == "mail_received") {
        auto const from = data["fromAlias"].string_or(data["from"].string_or("a person"));
        out.updates.push_back(chunk("user_message_chunk",
                                    "Mail from " + from + ": " + data["text"].string_or(""),
                                    data["messageID"].string_or("")));
    } else if (type == "session_changed" && data["title"].string()) {
        json::Writer info;
        info.begin_object().member("sessionUpdate", "session_info_update");
        out.updates.push_back(info.member("title", data["title"].string()).end_object().json());
    } else if (type == "session_deleted") {
        out.gone = true;
    } else if (data["callID"].exists()) {
        take_outcome(type, data, out);
    }
}

void AcpUpdates::take_delta(json::View data, AcpReport& out) {
    auto const kind = data["kind"].string_or("");
    auto const text = pieces_.fresh(data);
    if (text.empty() || (kind != "text" && kind != "reasoning")) return;
    auto const message = data["messageID"].string_or("");
    auto const draft = data["turnID"].string_or("") + "/" + acp_words(data["step"]) + "/" +
                       acp_words(data["attempt"]) + "/" + message;
    if (draft != draft_) {
        draft_ = draft;
        draft_text_.clear();
        draft_thought_.clear();
    }
    bool const thought = kind == "reasoning";
    (thought ? draft_thought_ : draft_text_) += text;
    out.updates.push_back(
        chunk(thought ? "agent_thought_chunk" : "agent_message_chunk", text, message));
}

void AcpUpdates::take_input(json::View data, bool replay, AcpReport& out) {
    auto const id = data["messageID"].string_or("");
    if (own_.erase(id) > 0 && !replay) return;
    out.updates.push_back(chunk("user_message_chunk", acp_text_of(data["parts"]), id));
}

void AcpUpdates::take_reply(json::View data, AcpReport& out) {
    auto const id = data["messageID"].string_or("");
    // Text that was streamed is not repeated. A reply that begins differently belongs to another
    // attempt.
    auto const rest = [&](std::string_view kind, std::string const& all, std::string const& shown) {
        bool const continues = all.starts_with(shown);
        auto const left = continues ? all.substr(shown.size()) : all;
        bool const same = continues && !shown.empty();
        auto const draft_id = draft_.substr(draft_.rfind('/') + 1);
        if (!left.empty()) out.updates.push_back(chunk(kind, left, same ? draft_id : id));
    };
    rest("agent_thought_chunk", acp_text_of(data["parts"], "reasoning"), draft_thought_);
    rest("agent_message_chunk", acp_text_of(data["parts"], "text"), draft_text_);
    draft_.clear();
    draft_text_.clear();
    draft_thought_.clear();
    data["calls"].elements([&](json::View call) {
        out.updates.push_back(tool_call_of(call["callID"].string_or(""),
                                           call["tool"].string_or("a tool"), call["input"]));
    });
}

// The external agent's own tool call is shown once, by the first event that mentions it.
void AcpUpdates::take_permission(json::View data, AcpReport& out) {
    json::View const call = data["call"];
    std::string const id = data["callID"].string_or("");
    std::string const tool = call["tool"].string_or("a tool");
    std::string const own = call["modelID"].string_or("");
    own_tools_[id] = own.empty() ? id : own;
    auto const title = data["message"].string_or("");
    if (shown_.insert(tool_call_id(id)).second) {
        out.updates.push_back(tool_call_of(tool_call_id(id), title.empty() ? tool : title,
                                           call["input"], acp_kind_of(tool)));
    }
    take_pause("agent_asked", data, out);
}

// Shown as a tool call, so that the editor's user can be asked.
void AcpUpdates::take_budget(json::View data, AcpReport& out) {
    std::string const id = data["callID"].string_or("");
    if (shown_.insert(id).second) {
        out.updates.push_back(tool_call_of(id, data["message"].string_or("budget"),
                                           data["call"]["input"], acp_kind_of("other")));
    }
    take_pause("budget_reached", data, out);
}

std::string AcpUpdates::tool_call_id(std::string const& call) const {
    auto const own = own_tools_.find(call);
    return own == own_tools_.end() ? call : own->second;
}

// For an external agent. Text that was streamed is not repeated.
void AcpUpdates::take_update(json::View data, AcpReport& out) {
    auto const kind = data["kind"].string_or("");
    auto const body = data["body"];
    auto const id = data["messageID"].string_or("");
    auto const rest = [&](std::string_view what, std::string all, std::string& shown) {
        if (shown.starts_with(all)) {
            shown.erase(0, all.size());
            return;
        }
        if (all.starts_with(shown)) all.erase(0, shown.size());
        shown.clear();
        out.updates.push_back(chunk(what, all, id));
    };
    if (kind == "message") {
        rest("agent_thought_chunk", acp_text_of(body, "reasoning"), draft_thought_);
        rest("agent_message_chunk", acp_text_of(body, "text"), draft_text_);
    } else if (kind == "plan") {
        json::Writer plan;
        plan.begin_object().member("sessionUpdate", "plan");
        out.updates.push_back(
            plan.member_raw("entries", body["entries"].raw()).end_object().json());
    } else if (kind == "tool") {
        auto const call = data["toolCallID"].string_or("");
        auto const status = data["status"].string_or("pending");
        auto const title = data["title"].string_or("a tool");
        if (!id.empty() && shown_.insert(call).second) {
            out.updates.push_back(tool_call_of(call, title, body["input"],
                                               acp_kind_of(body["kind"].string_or("other"))));
        }
        if (status == "completed") {
            out.updates.push_back(completed_update(call, body["output"]));
            shown_.erase(call);
        } else if (status != "pending") {
            auto const output = body["output"];
            out.updates.push_back(
                status_update(call, status, output.exists() ? acp_words(output) : ""));
        }
    }
}

void AcpUpdates::take_pause(std::string_view type, json::View data, AcpReport& out) {
    auto const call = tool_call_id(data["callID"].string_or(""));
    bool const doubt = type == "in_doubt";
    auto const pending = data[doubt ? "question" : "pendingID"].string_or("");
    if (pending.empty()) {
        out.updates.push_back(
            status_update(call, "in_progress", "It may have run before a crash."));
        return;
    }
    auto const reason = doubt ? "elicitation" : data["reason"].string_or("tool_result");
    auto const continuation = data["continuation"].string_or("tool_response");
    pauses_[pending] = {.call = call,
                        .reason = reason,
                        .of_doubt = doubt,
                        .continues = type == "gate_asked" || doubt || continuation == "reentry"};
    auto message = data["message"].string_or("");
    if (message.empty() && !data["placeholder"].is_null() && data["placeholder"].exists())
        message = acp_words(data["placeholder"]);
    if (reason == "approval" || reason == "elicitation" || reason == "budget") {
        asked_.push_back(pending);
        out.asked.push_back(pending);
        out.updates.push_back(status_update(call, "pending", message));
        return;
    }
    out.updates.push_back(
        status_update(call, "in_progress", message.empty() ? "Waits for " + reason : message));
    if (reason != "user_input") return;
    questions_.push_back(pending);
    out.updates.push_back(chunk("agent_message_chunk",
                                (message.empty() ? "There is a question." : message) +
                                    "\n\n(Your next message is the answer.)",
                                ""));
}

void AcpUpdates::ask_in_words(std::string const& pending) {
    std::erase(asked_, pending);
    questions_.push_back(pending);
}

void AcpUpdates::settle(std::string const& pending, AcpReport& out) {
    if (std::erase(asked_, pending) > 0) out.settled.push_back(pending);
    std::erase(questions_, pending);
    pauses_.erase(pending);
}

void AcpUpdates::take_outcome(std::string_view type, json::View data, AcpReport& out) {
    auto const own = own_tools_.find(data["callID"].string_or(""));
    bool const of_agent = own != own_tools_.end();
    auto const call = of_agent ? own->second : data["callID"].string_or("");
    auto const pending = data["pendingID"].string_or("");
    auto const found = pauses_.find(pending);
    // An allowed call of an external agent continues; the agent reports its end.
    bool const continues = of_agent || (found != pauses_.end() && found->second.continues);
    auto const put = [&](Json update) { out.updates.push_back(std::move(update)); };
    if (type == "tool_started") {
        put(status_update(call, "in_progress"));
    } else if (type == "progressed") {
        put(status_update(call, "in_progress", acp_words(data["payload"])));
    } else if (type == "tool_failed") {
        put(status_update(call, "in_progress",
                          "It failed and is retried: " + acp_words(data["error"])));
    } else if (type == "gate_decided" && data["verdict"].string_or("") == "deny") {
        put(status_update(call, "failed", "Denied. " + data["message"].string_or("")));
    } else if (type == "tool_finished") {
        put(data["error"].exists() ? status_update(call, "failed", acp_words(data["error"]))
                                   : completed_update(call, data["output"]));
    } else if (type == "expired" || type == "cancelled") {
        // A timer's call ends successfully at its deadline.
        bool const done = data["receipt"]["status"].string_or("") == "completed";
        put(done ? status_update(call, "completed") : status_update(call, "failed", type));
        settle(pending, out);
    } else if (type == "submitted") {
        auto const decision = data["decision"];
        if (data["error"].exists()) {
            put(status_update(call, "failed", acp_words(data["error"])));
        } else if (decision.exists() && !decision["approved"].boolean_or(false)) {
            put(status_update(call, "failed", "Denied. " + decision["reason"].string_or("")));
        } else if (continues) {
            put(status_update(call, "in_progress"));
        } else {
            put(completed_update(call, decision.exists() ? decision : data["result"]["output"]));
        }
        settle(pending, out);
    }
}

// The messages that a fork begins with, in the form of GET …/messages.
void AcpUpdates::take_transcript(json::View messages, AcpReport& out) {
    messages.elements([&](json::View message) {
        auto const id = message["id"].string_or("");
        if (message["role"].string_or("") != "assistant") {
            out.updates.push_back(chunk("user_message_chunk", acp_text_of(message["parts"]), id));
            return;
        }
        message["parts"].elements([&](json::View part) {
            auto const type = part["type"].string_or("");
            auto const text = part["text"].string_or("");
            if (type == "text" && !text.empty())
                out.updates.push_back(chunk("agent_message_chunk", text, id));
            if (type == "reasoning" && !text.empty())
                out.updates.push_back(chunk("agent_thought_chunk", text, id));
            if (type != "tool") return;
            // Calls of the fork's past have ids of their own here, because the fork's calls may
            // have the same callIDs.
            auto const call = part["id"].string_or(id + "_" + part["callID"].string_or(""));
            auto const state = part["state"];
            out.updates.push_back(
                tool_call_of(call, part["tool"].string_or("a tool"), state["input"]));
            bool const good = state["status"].string_or("") == "completed";
            out.updates.push_back(
                good ? completed_update(call, state["output"])
                     : status_update(call, "failed", state["error"].string_or("It did not end.")));
        });
    });
}

void AcpUpdates::take_end(json::View event, AcpReport& out) {
    auto const data = event["data"];
    AcpEnd end{.turn = event["turnID"].string_or(""),
               .stop_reason = stop_reason(data["finishReason"].string_or("stop"))};
    auto const error = data["error"];
    if (error["code"].string_or("") == "refused") end.stop_reason = "refusal";
    if (end.stop_reason.empty()) end.error = error["message"].string_or("the turn failed");
    open_turn_.clear();
    out.ends.push_back(std::move(end));
}

}  // namespace dormouse::acp_agent
