#pragma once
// The log: one line for each event, to stderr; text for people at a terminal, JSON lines otherwise.
// Created in main and passed down. Fields named after a secret (token, cookie, …) are never
// written.

#include "port/world.h"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <variant>

namespace dormouse::io {

enum class LogLevel : std::uint8_t { debug, info, warn, error, off };

// One key=value. Refers to texts that live as long as the call.
struct Field {
    using Value = std::variant<std::string_view, std::int64_t, double, bool>;

    Field(std::string_view key_, std::string_view value_) : key(key_), value(value_) {}
    Field(std::string_view key_, char const* value_) : key(key_), value(std::string_view(value_)) {}
    Field(std::string_view key_, bool value_) : key(key_), value(value_) {}
    Field(std::string_view key_, double value_) : key(key_), value(value_) {}
    template <std::integral Number>
        requires(!std::same_as<Number, bool>)
    Field(std::string_view key_, Number value_)
        : key(key_), value(static_cast<std::int64_t>(value_)) {}

    std::string_view key;
    Value value;
};

struct LogOptions {
    enum class Form : std::uint8_t {
        automatic,
        text,
        json
    };  // automatic: json unless stderr is a terminal
    LogLevel level = LogLevel::info;
    Form form = Form::automatic;
    // Receives each finished line (without line break) instead of stderr; called on the logging
    // thread, one line at a time.
    port::Fn<void(std::string_view line)> to = {};
};

// Any thread.
class Log {
public:
    explicit Log(LogOptions options = {});
    ~Log();
    Log(Log const&) = delete;
    Log& operator=(Log const&) = delete;

    void debug(std::string_view message, std::initializer_list<Field> fields = {});
    void info(std::string_view message, std::initializer_list<Field> fields = {});
    void warn(std::string_view message, std::initializer_list<Field> fields = {});
    void error(std::string_view message, std::initializer_list<Field> fields = {});
    [[nodiscard]] bool writes(LogLevel level) const;

private:
    void write(LogLevel level, std::string_view message, std::initializer_list<Field> fields);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace dormouse::io
