#include "cli/render/story.h"

#include "base/text/text.h"

#include <utility>

namespace dormouse::cli {
namespace {

std::string text_of_parts(json::View parts) {
    std::string out;
    parts.elements([&](json::View part) {
        if (part["type"].string_or("") == "text") out += part["text"].string_or("");
    });
    return out;
}

// The envelope has the activity as a word, or as the object that GET returns.
std::string activity_of(json::View event) {
    auto const activity = event["activity"];
    return activity.kind() == json::Kind::object ? activity["type"].string_or("")
                                                 : activity.string_or("");
}

std::string first_of(json::View object, std::string_view name, std::string_view other) {
    return object[name].string_or(object[other].string_or(""));
}

std::string call_words(json::View call) { return plain(call["tool"]) + " " + plain(call["input"]); }

std::string by_words(json::View receipt) {
    auto const by = receipt["by"];  // "token:ann"; an object where the API shows a receipt
    return by.kind() == json::Kind::object ? first_of(by, "name", "type") : plain(by);
}

std::string calls_words(json::View data) {
    auto out = text_of_parts(data["parts"]);
    data["calls"].elements(
        [&](json::View call) { out += (out.empty() ? "" : " · ") + call_words(call); });
    return out;
}

std::string summary(std::string_view type, json::View data) {
    if (type == "input_received") return text_of_parts(data["parts"]);
    if (type == "model_requested" || type == "model_failed") {
        auto const error = data["error"]["message"].string_or("");
        return "step " + plain(data["step"]) + ", attempt " + plain(data["attempt"]) +
               (error.empty() ? "" : ": " + error);
    }
    if (type == "model_replied") return "step " + plain(data["step"]) + ": " + calls_words(data);
    if (type == "tool_started" || type == "call_paused" || type == "gate_asked")
        return plain(data["pendingID"]);
    if (type == "submitted" || type == "expired") {
        return plain(data["receipt"]["kind"]) + " by " + by_words(data["receipt"]) + ", " +
               plain(data["pendingID"]);
    }
    if (type == "gate_decided" && data["rule"].exists()) {
        return plain(data["callID"]) + " allowed by " + plain(data["rule"]) + " of " +
               by_words(data);
    }
    if (type == "turn_ended") return plain(data["finishReason"]);
    if (type == "detached") return plain(data["error"]["message"]);
    if (type == "status_changed") return plain(data["to"]) + ": " + plain(data["why"]);
    return std::string(data.raw());
}

}  // namespace

std::string event_line(json::View event, std::size_t columns, Style style) {
    auto const type = event["type"].string_or("");
    auto seq = plain(event["seq"]);
    if (seq.size() < 5) seq.insert(0, 5 - seq.size(), ' ');
    auto name = escape_for_terminal(type);
    if (name.size() < 16) name.append(16 - name.size(), ' ');
    auto about = escape_for_terminal(summary(type, event["data"]));
    constexpr std::size_t before_summary = 5 + 2 + 8 + 2 + 16 + 2;
    auto const time = clock_text(event["at"].integer_or(0));
    if (columns > before_summary) {
        about = shortened(about, columns - before_summary);
    } else if (columns > 0) {
        return shortened(seq + "  " + time + "  " + name + "  " + about, columns) + "\n";
    }
    return seq + "  " + style(Paint::dim, time) + "  " + style(Paint::cyan, name) + "  " + about +
           "\n";
}

std::string TurnStory::end_line() {
    streamed_.clear();
    return std::exchange(open_, false) ? "\n" : "";
}

std::string TurnStory::name_of(json::View data) const {
    auto const id = first_of(data, "callID", "callId");
    auto const found = calls_.find(id);
    return found == calls_.end() ? id : found->second;
}

std::string TurnStory::call(json::View call, std::string const& id) {
    auto words = call_words(call);
    auto line = style_(Paint::cyan, "→ " + escape_for_terminal(words)) + "\n";
    calls_.insert_or_assign(id, std::move(words));
    return line;
}

std::string TurnStory::delta(json::View delta) {
    auto out = draft_.is_other(delta) ? end_line() : std::string();
    auto const piece = draft_.fresh(delta);
    if (piece.empty() || delta["kind"].string_or("") != "text") return out;
    streamed_ += piece;
    open_ = !piece.ends_with('\n');
    return out + escape_for_terminal(piece, true);
}

std::string TurnStory::reply(json::View data) {
    auto const shown = std::exchange(streamed_, {});
    auto const text = text_of_parts(data["parts"]);
    std::string out;
    if (text.starts_with(shown)) {
        out = escape_for_terminal(text.substr(shown.size()), true);
    } else {
        out = "\n" + escape_for_terminal(text, true);  // another attempt produced other text
    }
    if (!text.empty()) out += "\n";
    open_ = false;
    auto number = data["firstCall"].integer_or(1);
    data["calls"].elements([&](json::View item) {
        auto const id = first_of(item, "callID", "id");
        out += call(item, id.empty() ? "call_" + std::to_string(number) : id);
        ++number;
    });
    return out;
}

// Prints a message of an external agent piece by piece; its tools appear between its messages.
std::string TurnStory::update(json::View data) {
    if (data["kind"].string_or("") != "message") return end_line();
    auto const text = text_of_parts(data["body"]);
    if (text.empty()) return {};
    auto out = data["begins"].boolean_or(false) && streamed_.empty() ? end_line() : std::string();
    if (streamed_.starts_with(text)) {
        streamed_.erase(0, text.size());
        return out;
    }
    auto const shown = std::exchange(streamed_, {});
    out += text.starts_with(shown) ? escape_for_terminal(text.substr(shown.size()), true)
                                   : "\n" + escape_for_terminal(text, true);
    open_ = !text.ends_with('\n');
    return out;
}

std::string TurnStory::outcome(std::string_view type, json::View data) const {
    auto const name = escape_for_terminal(name_of(data));
    auto const good = [&](json::View value) {
        return style_(Paint::green, "← ") + name + ": " + escape_for_terminal(output_words(value)) +
               "\n";
    };
    auto const bad = [&](std::string const& why) {
        return style_(Paint::red, "← ") + name + " " + escape_for_terminal(why) + "\n";
    };
    // A timer completes by its deadline.
    if (type == "expired" && data["receipt"]["status"].string_or("") == "completed") {
        return good(json::View(R"("done")"));
    }
    if (type == "expired") return bad("expired");
    if (type == "cancelled") {
        auto const reason = data["reason"].string();
        return bad(reason ? "cancelled: " + *reason : "cancelled");
    }
    if (type == "in_doubt") return bad("may have run before a crash; its outcome is unknown");
    if (type == "progressed")
        return "  " + name + ": " + escape_for_terminal(plain(data["payload"])) + "\n";
    if (type == "tool_failed")
        return bad("failed and will be tried again: " + plain(data["error"]));
    if (auto const error = data["error"].string()) return bad("failed: " + *error);
    if (type == "tool_finished") return good(data["output"]);
    if (data["result"]["output"].exists()) return good(data["result"]["output"]);
    if (auto const decision = data["decision"]; decision["approved"].exists()) {
        return decision["approved"].boolean_or(false) ? good(json::View(R"("approved")"))
                                                      : bad("denied");
    }
    return style_(Paint::green, "← ") + name + " settled\n";
}

TurnStory::StoryLine TurnStory::on_event(std::string_view type, json::View event) {
    if (type == "delta") {
        bool const ours = event["turnID"].string_or("") == turn_id_;
        return ours ? StoryLine{.text = delta(event)} : StoryLine{};
    }
    auto const data = event["data"];
    StoryLine line;
    line.may_sleep = activity_of(event) == "waiting_async" || type == "call_paused" ||
                     type == "gate_asked" || type == "tool_started" || type == "status_changed";
    if (event["turnID"].string_or("") != turn_id_ && data["turnID"].string_or("") != turn_id_)
        return line;
    if (type == "model_replied") line.text = reply(data);
    if (type == "agent_update") line.text = update(data);
    if (type == "model_failed") {
        failure_ = plain(data["error"]["message"]);
        line.text = end_line() + style_(Paint::red, "the model failed: ") +
                    escape_for_terminal(failure_) + "\n";
    }
    if (type == "submitted" || type == "tool_finished" || type == "tool_failed" ||
        type == "expired" || type == "cancelled" || type == "in_doubt" || type == "progressed") {
        line.text = end_line() + outcome(type, data);
    }
    if (type == "detached") {
        std::string const code = data["error"]["code"].string_or("");
        bool const gone = !code.starts_with("agent_") || code == "agent_crashed";
        std::string_view const what = gone ? "the agent's program is gone: " : "the agent failed: ";
        line.text = end_line() + style_(Paint::red, what) +
                    escape_for_terminal(plain(data["error"]["message"])) +
                    (data["retryAt"].exists() ? "; it is started again" : "") + "\n";
    }
    if (type == "gate_decided" && data["rule"].exists()) {
        line.text = end_line() + "allowed: " + escape_for_terminal(name_of(data)) +
                    " by the standing rule of " + escape_for_terminal(by_words(data)) + "\n";
    }
    if (type == "gate_missing") {
        line.text = end_line() + style_(Paint::red, "gate missing: ") +
                    escape_for_terminal(name_of(data)) + " waits for the gate '" +
                    escape_for_terminal(plain(data["gate"])) + "', which is not configured\n";
    }
    if (type == "turn_ended") {
        line.finish = data["finishReason"].string_or("");
        line.text = end_line();
        if (auto const reason = data["reason"].string()) {
            line.text += style_(Paint::red, "the turn was cancelled: ") +
                         escape_for_terminal(*reason) + "\n";
        }
        if (auto const error = data["error"]["message"].string(); error && *error != failure_) {
            line.text +=
                style_(Paint::red, "the turn failed: ") + escape_for_terminal(*error) + "\n";
        }
    }
    return line;
}

void ConsumptionCount::add(json::View event) {
    auto const type = event["type"].string_or("");
    auto const data = event["data"];
    auto const seq = event["seq"].integer_or(0);
    bool const ours = data["pendingID"].string_or("") == pending_id_;
    if (type == "tool_started" && ours) ++result_.tool_starts;
    if ((type == "submitted" || type == "expired" || type == "cancelled") && ours) {
        ++result_.settlements;
        settled_seq_ = seq;
    }
    if (type == "model_requested") view_seq_ = data["viewSeq"].integer_or(seq);
    if (type == "model_replied") {
        // A committed step consumes what its request saw.
        if (settled_seq_ != 0 && view_seq_ >= settled_seq_) ++result_.steps_after;
        result_.answer = text_of_parts(data["parts"]);
    }
    if (type == "turn_ended") ++result_.turns_ended;
}

}  // namespace dormouse::cli
