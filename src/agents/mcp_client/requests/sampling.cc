#include "mcp_client/requests/sampling.h"

#include "base/text/cut.h"
#include "session/parts.h"

#include <vector>

namespace dormouse::mcp_client {
namespace {

struct Said {
    bool by_user = true;
    std::string text;
};

// The texts of a message: one object, or an array of them. Errors: it has something else.
std::expected<std::string, std::string> text_in(json::View content) {
    std::string out;
    bool other = false;
    auto const add_text = [&](json::View part) {
        auto const text = part["text"].string();
        if (part["type"].string_or("") != "text" || !text) {
            other = true;
            return;
        }
        out += (out.empty() ? "" : "\n") + *text;
    };
    if (content.kind() == json::Kind::array) {
        content.elements(add_text);
    } else {
        add_text(content);
    }
    if (other) return std::unexpected("messages must have only text");
    return out;
}

std::expected<std::vector<Said>, std::string> read_messages(json::View messages) {
    bool const fits = messages.kind() == json::Kind::array && messages.size() > 0 &&
                      messages.size() <= sample_messages_max;
    if (!fits) return std::unexpected("messages must be an array of 1 to 100 messages");
    std::vector<Said> out;
    std::string wrong;
    messages.elements([&](json::View message) {
        auto const role = message["role"].string_or("");
        if (role != "user" && role != "assistant") wrong = "role must be user or assistant";
        auto text = text_in(message["content"]);
        if (!text) wrong = text.error();
        out.push_back({role == "user", text.value_or("")});
    });
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    return out;
}

}  // namespace

std::expected<Question, std::string> read_sample(json::View params) {
    auto const messages = read_messages(params["messages"]);
    if (!messages) return std::unexpected(messages.error());
    if (params["tools"].size() > 0) return std::unexpected("tools are not offered");
    auto const system = params["systemPrompt"].string_or("");
    Question out{.message = "the model of this agent is to answer this:"};
    json::Writer sample;
    sample.begin_object().member("system", system).key("messages").begin_array();
    if (!system.empty()) out.message += "\n\n[instructions] " + system;
    for (Said const& one : *messages) {
        out.message += (one.by_user ? "\n\n[user] " : "\n\n[assistant] ") + one.text;
        sample.begin_object().member("user", one.by_user).member("text", one.text).end_object();
    }
    if (out.message.size() > sample_bytes_max)
        return std::unexpected("the texts must be at most 16,000 bytes");
    out.sample = sample.end_array().end_object().json();
    set_digest(out);
    return out;
}

agent::Question model_question(Question const& question) {
    agent::Question out;
    json::View const sample(question.sample);
    out.instructions = sample["system"].string_or("");
    sample["messages"].elements([&](json::View one) {
        session::ViewMessage message;
        using Role = session::ViewMessage::Role;
        message.role = one["user"].boolean_or(true) ? Role::user : Role::assistant;
        message.parts = session::text_parts(one["text"].string_or(""));
        out.view.messages.push_back(std::move(message));
    });
    return out;
}

std::expected<Json, std::string> sampled(agent::ModelOutcome const& outcome,
                                         std::string const& model) {
    if (auto const* trouble = std::get_if<agent::ModelTrouble>(&outcome))
        return std::unexpected("the model has failed: " + trouble->error.message);
    auto const& reply = std::get<agent::Reply>(outcome);
    bool const whole =
        reply.finish != session::FinishReason::length && reply.text.size() <= sampled_bytes_max;
    json::Writer out;
    out.begin_object().member("role", "assistant").key("content").begin_object();
    out.member("type", "text").member("text", cut_with_mark(reply.text, sampled_bytes_max, "…"));
    out.end_object().member("model", model);
    return out.member("stopReason", whole ? "endTurn" : "maxTokens").end_object().json();
}

}  // namespace dormouse::mcp_client
