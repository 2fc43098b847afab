#pragma once
// What every tool from the configuration declares, whatever it is made of, and what outcomes of all
// of them have in common.

#include "agent/tool.h"
#include "json/json.h"

namespace dormouse::external {

struct Declared {
    std::string name;
    std::string description = {};
    Json input_schema = Json::trusted(R"({"type":"object"})");
    Json result_schema = {};  // null: any
    session::CrashPolicy crash = session::CrashPolicy::never;
    bool later = true;                       // its result may come from outside
    std::optional<Duration> timeout = {};    // of that wait; nullopt: a day; Duration::max(): none
    std::optional<Duration> estimated = {};  // of that wait, for people
    std::optional<Duration> warn_before = {};  // of its deadline
    std::string webhook_url = {};              // told when it ends
    std::string webhook_secret = {};
    Duration time_limit{600'000};  // of one attempt
};

// Of a tool with `declared`, all but what it does.
[[nodiscard]] agent::Tool declare(Declared const& declared);

// Done, unless the output does not fit the declared schema: then the error for the model.
[[nodiscard]] agent::ToolResult checked(Declared const& declared, agent::Done done);

// JSON if it is; else the text, as a JSON string.
[[nodiscard]] Json output_of(std::string_view text);

// What "later" may say: {externalRef?, estimatedDuration? (ms), placeholder?, message?,
// webhookURL?}; null: nothing. Errors: bad_value.
[[nodiscard]] Result<session::PauseTerms> read_pause(Declared const& declared, json::View said);

// The end of a text, at most `bytes`, from the beginning of a character on; trimmed.
[[nodiscard]] std::string tail(std::string_view text, std::size_t bytes);
[[nodiscard]] std::string head(std::string_view text, std::size_t bytes);

// What every pause of the tool has.
void add_declared(session::PauseTerms& pause, Declared const& declared);

}  // namespace dormouse::external
