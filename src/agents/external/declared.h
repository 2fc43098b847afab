#pragma once
// The options that all tools of the configuration share, and the checks that are common to their
// outcomes.

#include "agent/tool.h"
#include "json/json.h"

namespace dormouse::external {

struct Declared {
    std::string name;
    std::string description = {};
    Json input_schema = Json::trusted(R"({"type":"object"})");
    Json result_schema = {};  // null: any
    session::CrashPolicy crash = session::CrashPolicy::never;
    bool later = true;                       // its result may come from outside, after a pause
    std::optional<Duration> timeout = {};    // of the pause; nullopt: a day; Duration::max(): none
    std::optional<Duration> estimated = {};  // of the pause, for people
    std::optional<Duration> warn_before = {};  // before its deadline
    std::string webhook_url = {};              // gets a notification when the call ends
    std::string webhook_secret = {};
    Duration time_limit{600'000};  // of one attempt
};

// Returns a tool with the options in `declared` and without a function.
[[nodiscard]] agent::Tool declare(Declared const& declared);

// Returns `done`, or an error for the model if the output does not fit the declared schema.
[[nodiscard]] agent::ToolResult checked(Declared const& declared, agent::Done done);

// Returns the text if it is JSON, else the text as a JSON string.
[[nodiscard]] Json output_of(std::string_view text);

// Reads the terms of a pause: {externalRef?, estimatedDuration? (ms), placeholder?, message?,
// webhookURL?}; null: no terms. Errors: bad_value.
[[nodiscard]] Result<session::PauseTerms> read_pause(Declared const& declared, json::View answer);

// Returns the end of a text: at most `bytes` bytes, beginning at a whole character, trimmed.
[[nodiscard]] std::string tail(std::string_view text, std::size_t bytes);
[[nodiscard]] std::string head(std::string_view text, std::size_t bytes);

// Adds what every pause of the tool has.
void add_declared(session::PauseTerms& pause, Declared const& declared);

}  // namespace dormouse::external
