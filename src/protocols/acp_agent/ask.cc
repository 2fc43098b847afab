#include "acp_agent/ask.h"

#include <algorithm>
#include <array>
#include <vector>

namespace dormouse::acp_agent {
namespace {

constexpr std::size_t choices_max = 20;

struct Choice {
    Json value;
    std::string name;
    bool refuses = false;
};

// The form that asks what became of a call that a crash cut off.
Json form_of_doubt() {
    return Json::trusted(R"({"type":"object","properties":{"action":{"type":"string","oneOf":[)"
                         R"({"const":"run_again","title":"Run it again"},)"
                         R"({"const":"succeeded","title":"It succeeded"},)"
                         R"({"const":"give_up","title":"Give it up"}]}},"required":["action"]})");
}

std::string only_property(Json const& form) {
    std::string name;
    json::View const properties = json::View(form)["properties"];
    if (properties.size() != 1) return "";
    properties.members([&](std::string_view each, json::View) { name = each; });
    return name;
}

std::vector<Choice> choices_of(Json const& form) {
    std::vector<Choice> out;
    json::View const property = json::View(form)["properties"][only_property(form)];
    property["enum"].elements([&](json::View value) {
        out.push_back({value.copy(), value.string_or(std::string(value.raw())), false});
    });
    property["oneOf"].elements([&](json::View value) {
        json::View const is = value["const"];
        if (is.exists())
            out.push_back({is.copy(), value["title"].string_or(is.string_or("?")),
                           is.string_or("") == "give_up"});
    });
    if (property["type"].string_or("") == "boolean")
        out = {{Json::trusted("true"), "Yes", false}, {Json::trusted("false"), "No", true}};
    if (out.size() > choices_max) out.clear();
    return out;
}

// The protocol supports only flat forms.
bool is_flat(Json const& form) {
    bool flat = json::View(form)["type"].string_or("") == "object";
    json::View(form)["properties"].members([&](std::string_view, json::View property) {
        std::string const type = property["type"].string_or("");
        flat = flat && (type == "string" || type == "number" || type == "integer" ||
                        type == "boolean" || type == "array");
    });
    return flat;
}

void write_option(json::Writer& out, std::string const& id, std::string const& name, bool refuses) {
    out.begin_object().member("optionId", id).member("name", name);
    out.member("kind", refuses ? "reject_once" : "allow_once").end_object();
}

void write_options(json::Writer& out, AcpAsk const& ask) {
    out.key("options").begin_array();
    bool may_refuse = true;
    std::size_t number = 0;
    if (ask.choice == AcpChoice::allow) write_option(out, "approve", "Approve", false);
    if (ask.choice == AcpChoice::choices) {
        for (Choice const& choice : choices_of(ask.form)) {
            write_option(out, "choice-" + std::to_string(number++), choice.name, choice.refuses);
            may_refuse = may_refuse && !choice.refuses;
        }
    }
    if (may_refuse) write_option(out, "deny", "Deny", true);
    out.end_array();
}

Json decision(AcpAsk const& ask, bool approved, Json const& content) {
    json::Writer body;
    body.begin_object().member("pendingID", ask.pending).member("approved", approved);
    body.member("inputDigest", ask.digest);
    if (!content.is_null()) body.member("content", content);
    return body.end_object().json();
}

Json content_of(AcpAsk const& ask, Json const& value) {
    json::Writer out;
    return out.begin_object().member(only_property(ask.form), value).end_object().json();
}

}  // namespace

AcpAsk acp_ask(std::string session, json::View call, bool of_doubt, bool forms) {
    AcpAsk out{std::move(session), call["id"].string_or(""), call["inputDigest"].string_or(""),
               call["message"].string_or("")};
    if (call["reason"].string_or("") != "elicitation") return out;
    json::View const form = call["form"];
    if (of_doubt) {
        out.form = form_of_doubt();
    } else if (form.exists() && !form.is_null()) {
        out.form = form.copy();
    }
    if (out.form.is_null() || json::View(out.form)["properties"].size() == 0) return out;
    out.choice = forms && is_flat(out.form)     ? AcpChoice::form
                 : choices_of(out.form).empty() ? AcpChoice::words
                                                : AcpChoice::choices;
    return out;
}

std::string acp_kind_of(std::string_view tool) {
    constexpr std::array<std::string_view, 9> kinds{
        "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode"};
    if (tool.starts_with("acp:")) tool.remove_prefix(4);
    return std::string(std::ranges::find(kinds, tool) == kinds.end() ? "other" : tool);
}

AcpQuestion acp_question(AcpAsk const& ask, json::View call, std::string const& tool_call) {
    json::Writer out;
    out.begin_object().member("sessionId", ask.session);
    std::string const id = tool_call.empty() ? call["callID"].string_or("") : tool_call;
    if (ask.choice == AcpChoice::form) {
        std::string const tool = call["tool"].string_or("a tool");
        out.member("toolCallId", id).member("mode", "form");
        out.member("message", ask.message.empty() ? tool + " asks." : ask.message);
        out.member("requestedSchema", ask.form);
        return {"elicitation/create", out.end_object().json()};
    }
    out.key("toolCall").begin_object().member("toolCallId", id);
    // The title is the message for an external agent's own tool call, and the name for one of our
    // tools.
    std::string const tool = call["tool"].string_or("");
    bool const of_agent = tool.starts_with("acp:") && !ask.message.empty();
    out.member("title", of_agent ? ask.message : tool);
    out.member("kind", of_agent ? acp_kind_of(tool) : "other");
    out.member("status", "pending").member_raw("rawInput", call["input"].raw());
    if (!ask.message.empty()) {
        out.key("content").begin_array().begin_object().member("type", "content");
        out.key("content").begin_object().member("type", "text").member("text", ask.message);
        out.end_object().end_object().end_array();
    }
    out.end_object();
    write_options(out, ask);
    return {"session/request_permission", out.end_object().json()};
}

std::string acp_words_of(AcpAsk const& ask) {
    std::string out = ask.message.empty() ? "There is a question." : ask.message;
    json::View const properties = json::View(ask.form)["properties"];
    if (properties.size() == 1) return out + "\n\n(Your next message is the answer.)";
    out += "\n\n(Your next message is the answer, as a JSON object:";
    properties.members([&](std::string_view name, json::View property) {
        out += " \"" + std::string(name) + "\", " + property["type"].string_or("any value") + ";";
    });
    out.back() = ')';
    return out;
}

std::optional<Json> acp_decision(AcpAsk const& ask, json::View answer) {
    if (ask.choice == AcpChoice::form) {
        std::string const action = answer["action"].string_or("");
        json::View const content = answer["content"];
        if (action == "decline") return decision(ask, false, {});
        if (action != "accept") return std::nullopt;
        return decision(
            ask, true, content.kind() == json::Kind::object ? content.copy() : Json::trusted("{}"));
    }
    json::View const outcome = answer["outcome"];
    std::string const option = outcome["optionId"].string_or("");
    if (outcome["outcome"].string_or("") != "selected") return std::nullopt;
    if (option == "deny") return decision(ask, false, {});
    if (option == "approve" && ask.choice == AcpChoice::allow) return decision(ask, true, {});
    std::size_t number = 0;
    for (Choice const& choice : choices_of(ask.form)) {
        if (option == "choice-" + std::to_string(number++))
            return decision(ask, true, content_of(ask, choice.value));
    }
    return std::nullopt;
}

std::expected<Json, std::string> acp_decision_in_words(AcpAsk const& ask, std::string const& text) {
    std::string const name = only_property(ask.form);
    auto const value = json::check(text);
    if (name.empty()) {
        if (value && json::View(*value).kind() == json::Kind::object)
            return decision(ask, true, *value);
        return std::unexpected(
            "The answer must be a JSON object with the members of the question.");
    }
    std::string const type = json::View(ask.form)["properties"][name]["type"].string_or("string");
    if (type == "string")
        return decision(ask, true, content_of(ask, Json::trusted(json::quote(text))));
    if (!value) return std::unexpected("The answer must be JSON of type " + type + ".");
    return decision(ask, true, content_of(ask, *value));
}

}  // namespace dormouse::acp_agent
