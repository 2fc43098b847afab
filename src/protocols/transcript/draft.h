#pragma once
// A session that is being read: messages in order, and calls that get their results later.

#include "json/json.h"
#include "transcript/transcript.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace dormouse::transcript {

// "2026-01-31T12:00:00.250Z" in ms since the epoch; nullopt: another form.
[[nodiscard]] std::optional<std::int64_t> time_ms(std::string_view text);

class Draft {
public:
    explicit Draft(std::string_view program) { session_.program = program; }

    void id(std::string const& id) {
        if (session_.id.empty()) session_.id = id;
    }
    void directory(std::string const& path) {
        if (session_.directory.empty()) session_.directory = path;
    }
    void title(std::string const& title) {
        if (session_.title.empty()) session_.title = title;
    }
    // Begins a message. Parts of one role that follow each other belong to one message, except
    // prompts.
    void user(std::string_view at);
    void assistant(std::string_view at);
    void text(std::string const& text);
    void reasoning(std::string const& text);
    void file(std::string const& mime, std::string const& base64);
    // `input`: JSON of an object; anything else becomes {"input": …}.
    void call(std::string const& id, std::string const& tool, json::View input);
    void result(std::string const& id, std::string const& output, bool failed);

    // bad_value: it holds no message.
    [[nodiscard]] Result<Transcript> finish(std::string const& name);

private:
    struct Call {
        std::string id;
        std::string tool;
        Json input;
        std::optional<std::string> output;
        bool failed = false;
    };
    void begin(std::string_view role, std::string_view at);
    void add(Json part);

    opencode::Session session_;
    // Calls by the place of their part: message and part.
    std::map<std::pair<std::size_t, std::size_t>, Call> calls_;
    std::map<std::string, std::pair<std::size_t, std::size_t>, std::less<>> open_;
};

// Calls `each` with every line that is JSON; names the others, except one that a crash cut off at
// the end.
[[nodiscard]] std::vector<std::string> for_lines(std::string_view text,
                                                 std::function<void(json::View)> const& each);
// The texts of a text, a part with a text, or a list of these, joined.
[[nodiscard]] std::string joined_text(json::View content);

[[nodiscard]] Result<Transcript> read_claude_code(std::string_view text, std::string const& name);
[[nodiscard]] Result<Transcript> read_codex(std::string_view text, std::string const& name);
[[nodiscard]] Result<Transcript> read_gemini(std::string_view text, std::string const& name);

}  // namespace dormouse::transcript
