#include "model/chat_request.h"

#include "json/json.h"

#include <map>
#include <set>

namespace dormouse::model {

using session::ViewCall;
using session::ViewMessage;

namespace {

constexpr std::size_t call_id_max = 40;  // OpenAI's limit

// A string as it is, anything else as JSON.
std::string plain(Json const& value) {
    json::View const view(value);
    auto text = view.string();
    return text ? std::move(*text) : std::string(view.raw());
}

std::string outcome_text(ViewCall const& call) {
    if (!call.error) return plain(call.output);
    return "Error (" + std::string(text(*call.error)) + "): " + call.error_text;
}

// Models repeat ids, and forks bring those of another session.
class CallIds {
public:
    std::string take(ViewCall const& call) {
        std::string id = call.model_id;
        if (id.empty() || id.size() > call_id_max || used_.contains(id))
            id = "call_" + std::to_string(call.call);
        for (int n = 2; used_.contains(id); ++n)
            id = "call_" + std::to_string(call.call) + "_" + std::to_string(n);
        used_.insert(id);
        if (call.call != 0) latest_[call.call] = id;
        return id;
    }
    // Of a call that was answered by a placeholder.
    [[nodiscard]] std::string of(ViewCall const& call) const {
        auto const found = latest_.find(call.call);
        return found == latest_.end() ? call.model_id : found->second;
    }

private:
    std::set<std::string> used_;
    std::map<CallNo, std::string> latest_;
};

class Messages {
public:
    explicit Messages(ToolNames const& names) : names_(names) {}

    Json write(agent::Question const& question) {
        out_.begin_array();
        if (!question.instructions.empty()) {
            out_.begin_object().member("role", "system");
            out_.member("content", question.instructions).end_object();
        }
        for (ViewMessage const& message : question.view.messages) {
            if (message.role == ViewMessage::Role::assistant) {
                assistant(message);
            } else if (message.source == session::InputSource::result) {
                for (ViewCall const& call : message.calls) late(call);
            } else {
                user(message);
            }
        }
        return out_.end_array().json();
    }

private:
    void assistant(ViewMessage const& message) {
        std::string const said = text_of(message.parts);
        if (said.empty() && message.calls.empty()) return;
        out_.begin_object().member("role", "assistant");
        if (said.empty()) {
            out_.member_null("content");
        } else {
            out_.member("content", said);
        }
        std::vector<std::string> ids;
        if (!message.calls.empty()) {
            out_.key("tool_calls").begin_array();
            for (ViewCall const& call : message.calls) ids.push_back(tool_call(call));
            out_.end_array();
        }
        out_.end_object();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            out_.begin_object().member("role", "tool").member("tool_call_id", ids[i]);
            out_.member("content", outcome_text(message.calls[i])).end_object();
        }
    }

    std::string tool_call(ViewCall const& call) {
        std::string const id = ids_.take(call);
        out_.begin_object().member("id", id).member("type", "function");
        out_.key("function").begin_object().member("name", names_.to_provider(call.tool));
        out_.member("arguments", arguments(call.input)).end_object().end_object();
        return id;
    }

    // Many servers take nothing but an object there, whatever the model had said.
    static std::string arguments(Json const& input) {
        if (json::View(input).kind() == json::Kind::object) return std::string(input.text());
        return json::Writer().begin_object().member("arguments", input).end_object().take();
    }

    // The outcome of a call whose placeholder the model has seen.
    void late(ViewCall const& call) {
        std::string const text =
            "The tool call " + ids_.of(call) + " (" + names_.to_provider(call.tool) + " " +
            std::string(call.input.text()) + ") that was pending has settled. Its outcome:\n" +
            outcome_text(call);
        out_.begin_object().member("role", "user").member("content", text).end_object();
    }

    void user(ViewMessage const& message) {
        bool images = false;
        json::View(message.parts).elements([&](json::View part) { images |= is_image(part); });
        out_.begin_object().member("role", "user").key("content");
        if (!images) {
            out_.value(text_of(message.parts));
        } else {
            out_.begin_array();
            json::View(message.parts).elements([&](json::View part) { content_part(part); });
            out_.end_array();
        }
        out_.end_object();
    }

    static bool is_image(json::View part) {
        return part["type"].string_or("") == "image" && part["url"].string();
    }

    void content_part(json::View part) {
        out_.begin_object();
        if (is_image(part)) {
            out_.member("type", "image_url").key("image_url").begin_object();
            out_.member("url", part["url"].string_or("")).end_object();
        } else {
            out_.member("type", "text").member("text", part_text(part));
        }
        out_.end_object();
    }

    static std::string part_text(json::View part) {
        std::string const type = part["type"].string_or("text");
        if (type == "text") return part["text"].string_or("");
        if (type == "data")
            return part["name"].string_or("data") + ": " + std::string(part["data"].raw());
        return "[" + type + " " + part["name"].string_or("") + " " + part["mime"].string_or("") +
               "]";
    }

    // Reasoning is not given back: providers that want theirs sign it, and this interface does not.
    static std::string text_of(Json const& parts) {
        std::string text;
        json::View(parts).elements([&](json::View part) {
            if (part["type"].string_or("") == "reasoning") return;
            if (!text.empty()) text += '\n';
            text += part_text(part);
        });
        return text;
    }

    ToolNames const& names_;
    CallIds ids_;
    json::Writer out_;
};

Json tools_of(agent::Question const& question, ToolNames const& names) {
    json::Writer out;
    out.begin_array();
    for (agent::ToolDeclaration const& tool : question.tools) {
        out.begin_object().member("type", "function").key("function").begin_object();
        out.member("name", names.to_provider(tool.name)).member("description", tool.description);
        out.member("parameters", tool.schema).end_object().end_object();
    }
    return out.end_array().json();
}

}  // namespace

std::string chat_request(ChatSettings const& settings, agent::Question const& question,
                         ToolNames const& names) {
    json::View const extra(settings.extra);
    json::Writer out;
    out.begin_object();
    auto const ours = [&](std::string_view name, auto const& value) {
        if (!extra[name].exists()) out.member(name, value);
    };
    ours("model", settings.model);
    out.member("messages", Messages(names).write(question));
    if (!question.tools.empty()) out.member("tools", tools_of(question, names));
    out.member("stream", true);
    ours("stream_options", Json::trusted(R"({"include_usage":true})"));
    if (settings.max_output_tokens)
        ours(settings.max_completion_tokens ? "max_completion_tokens" : "max_tokens",
             *settings.max_output_tokens);
    extra.members(
        [&](std::string_view name, json::View value) { out.member_raw(name, value.raw()); });
    return out.end_object().take();
}

}  // namespace dormouse::model
