// Codex: lines {timestamp, type, payload}; older releases wrote the payloads alone.
#include "transcript/draft.h"

namespace dormouse::transcript {

namespace {

// Returns true for text that Codex itself puts in front of the person's text.
bool is_boilerplate(std::string_view text) {
    for (std::string_view const begins : {"<environment_context>", "<user_instructions>",
                                          "<permissions instructions>", "# AGENTS.md instructions"})
        if (text.starts_with(begins)) return true;
    return false;
}

Json parsed(json::View arguments) {
    auto const text = arguments.string();
    auto checked = text ? json::check(*text) : Result<Json>(arguments.copy());
    return checked ? *std::move(checked) : arguments.copy();
}

class CodexReader {
public:
    void take(json::View line) {
        auto const type = line["type"].string_or("");
        auto const payload = line["payload"];
        auto const at = line["timestamp"].string_or("");
        if (type == "session_meta") {
            about(payload);
        } else if (type == "response_item") {
            item(payload, at);
        } else if (!payload.exists()) {
            if (type.empty()) about(line);
            item(line, at);
        }
    }

    [[nodiscard]] Draft& draft() { return draft_; }

private:
    void about(json::View meta) {
        draft_.id(meta["id"].string_or(""));
        draft_.directory(meta["cwd"].string_or(""));
    }

    void item(json::View item, std::string const& at) {
        auto const type = item["type"].string_or("");
        auto const call = item["call_id"].string_or(item["id"].string_or(""));
        if (type == "message") {
            message(item, at);
        } else if (type == "reasoning") {
            draft_.assistant(at);
            draft_.reasoning(joined_text(item["summary"]));
        } else if (type == "function_call" || type == "custom_tool_call") {
            Json const input = parsed(item[type == "function_call" ? "arguments" : "input"]);
            draft_.assistant(at);
            draft_.call(call, item["name"].string_or("tool"), json::View(input));
        } else if (type == "local_shell_call") {
            draft_.assistant(at);
            draft_.call(call, "shell", item["action"]);
        } else if (type == "function_call_output" || type == "custom_tool_call_output") {
            result(call, item["output"]);
        }
    }

    void message(json::View item, std::string const& at) {
        auto const role = item["role"].string_or("");
        auto const text = joined_text(item["content"]);
        if (role == "assistant") {
            draft_.assistant(at);
            draft_.text(text);
        } else if (role == "user" && !is_boilerplate(text)) {
            draft_.user(at);
            draft_.text(text);
        }
    }

    // A text, {content, success}, or a text that holds {output, metadata: {exit_code}}.
    void result(std::string const& call, json::View output) {
        if (output.kind() == json::Kind::object) {
            bool const failed = !output["success"].boolean_or(true);
            return draft_.result(call, output["content"].string_or(std::string(output.raw())),
                                 failed);
        }
        auto const text = joined_text(output);
        auto const inner = json::check(text);
        json::View const view = inner ? json::View(*inner) : json::View();
        if (auto const output = view["output"].string())
            return draft_.result(call, *output, view["metadata"]["exit_code"].integer_or(0) != 0);
        draft_.result(call, text, false);
    }

    Draft draft_{"codex"};
};

}  // namespace

Result<Transcript> read_codex(std::string_view text, std::string const& name) {
    CodexReader reader;
    auto left_out = for_lines(text, [&](json::View line) { reader.take(line); });
    auto out = reader.draft().finish(name);
    if (out) out->left_out = std::move(left_out);
    return out;
}

}  // namespace dormouse::transcript
