#include "transcript/transcript.h"

#include "transcript/draft.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace dormouse::transcript {

std::optional<Program> program_named(std::string_view word) {
    if (word == "claude-code") return Program::claude_code;
    if (word == "codex") return Program::codex;
    if (word == "gemini") return Program::gemini;
    return std::nullopt;
}

Result<Transcript> read_text(Program program, std::string_view text, std::string const& name) {
    switch (program) {
        case Program::claude_code: return read_claude_code(text, name);
        case Program::codex: return read_codex(text, name);
        case Program::gemini: return read_gemini(text, name);
    }
    return fail(Code::bad_value, "unknown program");
}

Result<Transcript> read_file(Program program, std::string const& path) {
    std::error_code error;
    std::filesystem::path const file(path);
    if (!std::filesystem::is_regular_file(file, error))
        return fail(Code::not_found, "there is no file " + path);
    if (std::filesystem::file_size(file, error) > file_bytes_max)
        return fail(Code::too_large, path + " is larger than 256 MiB");
    std::ifstream in(file, std::ios::binary);
    std::string const text{std::istreambuf_iterator<char>(in), {}};
    if (!in) return fail(Code::bad_value, path + " cannot be read");
    auto out = read_text(program, text, file.stem().string());
    if (!out) out.error().detail = path + ": " + out.error().detail;
    return out;
}

}  // namespace dormouse::transcript
