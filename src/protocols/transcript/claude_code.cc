// Claude Code: one JSON object a line. An entry names the one before it (parentUuid).
#include "transcript/draft.h"

#include <map>
#include <set>
#include <string>

namespace dormouse::transcript {

namespace {

bool is_result(json::View part) { return part["type"].string_or("") == "tool_result"; }

// A text of the person; results of tools are entries of the user, too.
bool is_prompt(json::View entry) {
    if (entry["type"].string_or("") != "user") return false;
    bool results = false;
    entry["message"]["content"].elements(
        [&](json::View part) { results = results || is_result(part); });
    return !results;
}

class ClaudeReader {
public:
    // A prompt with a later one in its place was taken back, with all that follows it.
    void note(json::View entry) {
        if (is_prompt(entry)) newest_[entry["parentUuid"].string_or("")] = uuid(entry);
    }

    void take(json::View entry) {
        draft_.id(entry["sessionId"].string_or(""));
        draft_.directory(entry["cwd"].string_or(""));
        if (entry["type"].string_or("") == "summary") {
            draft_.title(entry["summary"].string_or(""));
            return;
        }
        auto const parent = entry["parentUuid"].string_or("");
        bool const replaced = is_prompt(entry) && !parent.empty() && newest_[parent] != uuid(entry);
        if (replaced || gone_.contains(parent)) {
            gone_.insert(uuid(entry));
            return;
        }
        if (entry["isSidechain"].boolean_or(false) || entry["isMeta"].boolean_or(false)) return;
        auto const type = entry["type"].string_or("");
        auto const at = entry["timestamp"].string_or("");
        auto const content = entry["message"]["content"];
        if (type == "assistant") {
            draft_.assistant(at);
            content.elements([&](json::View part) { reply(part); });
        } else if (type == "user") {
            if (is_prompt(entry)) draft_.user(at);
            if (auto const text = content.string()) draft_.text(*text);
            content.elements([&](json::View part) { input(part); });
        }
    }

    [[nodiscard]] Draft& draft() { return draft_; }

private:
    static std::string uuid(json::View entry) { return entry["uuid"].string_or(""); }

    void reply(json::View part) {
        auto const type = part["type"].string_or("");
        if (type == "text") draft_.text(part["text"].string_or(""));
        if (type == "thinking") draft_.reasoning(part["thinking"].string_or(""));
        if (type == "tool_use")
            draft_.call(part["id"].string_or(""), part["name"].string_or("tool"), part["input"]);
    }

    void input(json::View part) {
        auto const type = part["type"].string_or("");
        if (type == "text") draft_.text(part["text"].string_or(""));
        if (type == "image" && part["source"]["type"].string_or("") == "base64")
            draft_.file(part["source"]["media_type"].string_or("image/png"),
                        part["source"]["data"].string_or(""));
        if (is_result(part))
            draft_.result(part["tool_use_id"].string_or(""), joined_text(part["content"]),
                          part["is_error"].boolean_or(false));
    }

    Draft draft_{"claude-code"};
    std::map<std::string, std::string> newest_;  // prompt by the entry before it
    std::set<std::string> gone_;
};

}  // namespace

Result<Transcript> read_claude_code(std::string_view text, std::string const& name) {
    ClaudeReader reader;
    (void)for_lines(text, [&](json::View entry) { reader.note(entry); });
    auto left_out = for_lines(text, [&](json::View entry) { reader.take(entry); });
    auto out = reader.draft().finish(name);
    if (out) out->left_out = std::move(left_out);
    return out;
}

}  // namespace dormouse::transcript
