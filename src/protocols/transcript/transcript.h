#pragma once
// Reads transcripts that coding agents keep of their sessions: messages and tool calls, in the form
// of opencode's sessions, which the import sends. Lines and members that are not known are ignored.

#include <dormouse/error.h>

#include "opencode/source.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::transcript {

enum class Program : std::uint8_t { claude_code, codex, gemini };
// "claude-code", "codex", "gemini"; nullopt: another word.
[[nodiscard]] std::optional<Program> program_named(std::string_view word);

inline constexpr std::size_t file_bytes_max = std::size_t{256} << 20;

struct Transcript {
    opencode::Session session;
    std::vector<std::string> left_out = {};  // lines that cannot be read: where and why
};
// `name`: of the file, without its folder and ending; the session's id if the text has none.
// Errors: bad_value: it is no transcript of this program.
[[nodiscard]] Result<Transcript> read_text(Program program, std::string_view text,
                                           std::string const& name);
// Reads one file. Errors: also not_found and too_large.
[[nodiscard]] Result<Transcript> read_file(Program program, std::string const& path);

}  // namespace dormouse::transcript
