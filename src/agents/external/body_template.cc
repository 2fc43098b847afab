#include "external/body_template.h"

#include <algorithm>
#include <array>

namespace dormouse::external {

namespace {

constexpr std::array<std::string_view, 6> call_words{"pendingID",   "callID",         "sessionID",
                                                     "callbackURL", "idempotencyKey", "deadline"};

// Returns the first member whose name starts with $; empty: the value is ordinary JSON.
std::string expression_of(json::View value) {
    std::string found;
    if (value.kind() != json::Kind::object) return found;
    value.members([&](std::string_view key, json::View) {
        if (key.starts_with('$') && found.empty()) found = key;
    });
    return found;
}

std::string check_expression(json::View value, std::string const& name) {
    if (name != "$input" && name != "$call")
        return "\"" + name + "\" is not known; there are $input and $call";
    if (value.size() != 1) return "\"" + name + "\" must be the only member of its object";
    auto const word = value[name].string();
    if (!word) return "\"" + name + "\" must be a string";
    if (name == "$input" && !word->empty() && !word->starts_with('/'))
        return "\"$input\": \"" + *word + "\" is not a JSON pointer: must begin with /";
    if (name == "$call" && std::ranges::find(call_words, *word) == call_words.end())
        return "\"$call\": \"" + *word +
               "\" is not known; there are pendingID, callID, sessionID, "
               "callbackURL, idempotencyKey and deadline";
    return {};
}

std::string first_fault(json::View value) {
    std::string fault;
    auto const visit = [&](json::View inner) {
        if (fault.empty()) fault = first_fault(inner);
    };
    if (std::string const name = expression_of(value); !name.empty())
        return check_expression(value, name);
    value.members([&](std::string_view, json::View inner) { visit(inner); });
    value.elements(visit);
    return fault;
}

void write_text_or_null(json::Writer& out, std::string const& text) {
    if (text.empty()) {
        out.null();
    } else {
        out.value(text);
    }
}

void write_deadline(json::Writer& out, agent::ToolCall const& call) {
    if (call.deadline) {
        out.value(to_ms(*call.deadline));
    } else {
        out.null();
    }
}

void write_call(json::Writer& out, std::string const& word, agent::ToolCall const& call) {
    if (word == "pendingID") return (void)out.value(call.pending.text());
    if (word == "callID") return (void)out.value(call.call_id());
    if (word == "sessionID") return (void)out.value(call.session_id().text());
    if (word == "idempotencyKey") return (void)out.value(call.idempotency_key());
    if (word == "callbackURL") return write_text_or_null(out, call.callback_url);
    write_deadline(out, call);
}

void write_filled(json::Writer& out, json::View value, agent::ToolCall const& call) {
    std::string const name = expression_of(value);
    if (name == "$input") {
        json::View const found = json::View(call.input).at_pointer(value[name].string_or(""));
        if (found.exists()) {
            out.raw(found.raw());
        } else {
            out.null();
        }
    } else if (name == "$call") {
        write_call(out, value[name].string_or(""), call);
    } else if (value.kind() == json::Kind::object) {
        out.begin_object();
        value.members([&](std::string_view key, json::View inner) {
            out.key(key);
            write_filled(out, inner, call);
        });
        out.end_object();
    } else if (value.kind() == json::Kind::array) {
        out.begin_array();
        value.elements([&](json::View inner) { write_filled(out, inner, call); });
        out.end_array();
    } else {
        out.raw(value.raw());
    }
}

}  // namespace

Result<void> check_body(Json const& body) {
    if (std::string const fault = first_fault(json::View(body)); !fault.empty())
        return fail(Code::bad_value, "body: " + fault);
    return {};
}

Json fill_body(Json const& body, agent::ToolCall const& call) {
    json::Writer out;
    write_filled(out, json::View(body), call);
    return out.json();
}

Json default_body(agent::ToolCall const& call) {
    json::Writer out;
    out.begin_object()
        .member("pendingID", call.pending.text())
        .member("sessionID", call.session_id().text())
        .member("callID", call.call_id())
        .member("tool", call.tool)
        .member("input", call.input)
        .member("attempt", call.attempt);
    write_text_or_null(out.key("callbackURL"), call.callback_url);
    write_deadline(out.key("deadline"), call);
    return out.end_object().json();
}

}  // namespace dormouse::external
