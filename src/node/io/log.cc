#include "io/log.h"

#include "base/text/text.h"
#include "base/text/utf8.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <string>

namespace dormouse::io {

namespace {

constexpr std::string_view hidden = "(hidden)";
constexpr std::size_t line_bytes = 400;  // of most lines

// A safeguard: callers should not log secrets, but if one does, it is not written.
bool names_secret(std::string_view key) {
    static constexpr std::array<std::string_view, 6> names{"authorization", "cookie", "password",
                                                           "secret",        "token",  "capability"};
    return std::ranges::any_of(names, [key](std::string_view name) { return key.ends_with(name); });
}

void append_json_escape(std::string& out, char32_t code) {
    auto const units = static_cast<std::uint32_t>(code);
    if (units < 0x10000) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", units);
        return;
    }
    std::uint32_t const rest = units - 0x10000;
    fmt::format_to(std::back_inserter(out), "\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10U),
                   0xdc00 + (rest & 0x3ffU));
}

// Appends a non-ASCII character or invalid bytes; escapes what must not reach a terminal.
void append_json_character(std::string& out, std::string_view bytes, Utf8 const& character) {
    if (!character.valid) {
        for (char const byte : bytes) append_json_escape(out, static_cast<std::uint8_t>(byte));
    } else if (escape_for_terminal(bytes) != bytes) {
        append_json_escape(out, character.code);
    } else {
        out += bytes;
    }
}

// The bytes that are written as they are.
constexpr std::array<bool, 256> plain = [] {
    std::array<bool, 256> out{};
    for (std::size_t byte = 0x20; byte < 0x7f; ++byte) out[byte] = byte != '"' && byte != '\\';
    return out;
}();

// The end of the bytes at the front of `text` that are written as they are.
std::size_t plain_length(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && plain[static_cast<std::uint8_t>(text[length])]) ++length;
    return length;
}

void append_json_text(std::string& out, std::string_view text) {
    out += '"';
    while (true) {
        std::size_t const plain = plain_length(text);
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        char const c = text.front();
        auto const byte = static_cast<std::uint8_t>(c);
        std::size_t length = 1;
        if (byte > 0x7f) {
            Utf8 const next = decode_utf8(text);
            length = next.length;
            append_json_character(out, text.substr(0, length), next);
        } else if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else {
            append_json_escape(out, byte);
        }
        text.remove_prefix(length);
    }
    out += '"';
}

struct JsonValue {
    std::string& out;
    void operator()(std::string_view text) const { append_json_text(out, text); }
    void operator()(std::int64_t number) const {
        fmt::format_to(std::back_inserter(out), "{}", number);
    }
    void operator()(bool yes) const { out += yes ? "true" : "false"; }
    void operator()(double number) const {
        // JSON has no infinities.
        if (std::isfinite(number))
            fmt::format_to(std::back_inserter(out), "{}", number);
        else
            out += "null";
    }
};

struct TextValue {
    std::string& out;
    void operator()(std::string_view text) const {
        bool const plain = !text.empty() && text.find_first_of(" =\"") == std::string_view::npos;
        auto const shown = escape_for_terminal(text);
        if (plain)
            out += shown;
        else
            fmt::format_to(std::back_inserter(out), "\"{}\"", shown);
    }
    void operator()(std::int64_t number) const {
        fmt::format_to(std::back_inserter(out), "{}", number);
    }
    void operator()(bool yes) const { out += yes ? "true" : "false"; }
    void operator()(double number) const { fmt::format_to(std::back_inserter(out), "{}", number); }
};

std::string json_body(std::string_view message, std::initializer_list<Field> fields) {
    std::string out;
    out.reserve(line_bytes);
    out += "\"message\":";
    append_json_text(out, message);
    for (auto const& field : fields) {
        out += ',';
        append_json_text(out, field.key);
        out += ':';
        if (names_secret(field.key))
            append_json_text(out, hidden);
        else
            std::visit(JsonValue{out}, field.value);
    }
    return out;
}

std::string text_body(std::string_view message, std::initializer_list<Field> fields) {
    auto out = escape_for_terminal(message);
    for (auto const& field : fields) {
        fmt::format_to(std::back_inserter(out), " {}=", field.key);
        if (names_secret(field.key))
            out += hidden;
        else
            std::visit(TextValue{out}, field.value);
    }
    return out;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
    switch (level) {
        case LogLevel::debug: return spdlog::level::debug;
        case LogLevel::info: return spdlog::level::info;
        case LogLevel::warn: return spdlog::level::warn;
        case LogLevel::error: return spdlog::level::err;
        case LogLevel::off: break;
    }
    return spdlog::level::off;
}

// As --log-level names them; spdlog's own name is "warning".
class LevelWord final : public spdlog::custom_flag_formatter {
public:
    void format(spdlog::details::log_msg const& message, std::tm const&,
                spdlog::memory_buf_t& to) override {
        auto const word = message.level == spdlog::level::warn
                              ? spdlog::string_view_t("warn")
                              : spdlog::level::to_string_view(message.level);
        to.append(word.begin(), word.end());
    }
    [[nodiscard]] std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
        return std::make_unique<LevelWord>();
    }
};

class LineSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit LineSink(port::Fn<void(std::string_view)> to) : to_(std::move(to)) {}

private:
    void sink_it_(spdlog::details::log_msg const& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        std::string_view text(line.data(), line.size());
        while (text.ends_with('\n')) text.remove_suffix(1);
        try {
            to_(text);
        } catch (...) {  // NOLINT(bugprone-empty-catch): there is no other place to report to
        }
    }
    void flush_() override {}

    port::Fn<void(std::string_view)> to_;
};

std::shared_ptr<spdlog::sinks::sink> make_sink(port::Fn<void(std::string_view)> to) {
    if (to) return std::make_shared<LineSink>(std::move(to));
    return std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
}

bool wants_json(LogOptions::Form form) {
    return form == LogOptions::Form::json ||
           (form == LogOptions::Form::automatic && ::isatty(STDERR_FILENO) == 0);
}

}  // namespace

struct Log::Impl {
    // Constructed here, because spdlog's factories would add it to a global registry.
    spdlog::logger logger;
    bool json;
};

Log::Log(LogOptions options)
    : impl_(new Impl{spdlog::logger("dormouse", make_sink(std::move(options.to))),
                     wants_json(options.form)}) {
    impl_->logger.set_level(spdlog_level(options.level));
    auto const utc = spdlog::pattern_time_type::utc;
    auto const* pattern = impl_->json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%*",%v})"
                                      : "%H:%M:%S.%e %^%*%$ %v";
    auto const time = impl_->json ? utc : spdlog::pattern_time_type::local;
    auto formatter = std::make_unique<spdlog::pattern_formatter>(time);
    formatter->add_flag<LevelWord>('*').set_pattern(pattern);
    impl_->logger.set_formatter(std::move(formatter));
}

Log::~Log() = default;

bool Log::writes(LogLevel level) const { return impl_->logger.should_log(spdlog_level(level)); }

void Log::write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) {
    if (!writes(level)) return;
    auto const line = impl_->json ? json_body(message, fields) : text_body(message, fields);
    impl_->logger.log(spdlog_level(level), spdlog::string_view_t(line));
}

void Log::debug(std::string_view message, std::initializer_list<Field> fields) {
    write(LogLevel::debug, message, fields);
}

void Log::info(std::string_view message, std::initializer_list<Field> fields) {
    write(LogLevel::info, message, fields);
}

void Log::warn(std::string_view message, std::initializer_list<Field> fields) {
    write(LogLevel::warn, message, fields);
}

void Log::error(std::string_view message, std::initializer_list<Field> fields) {
    write(LogLevel::error, message, fields);
}

}  // namespace dormouse::io
