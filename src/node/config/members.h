#pragma once
// Converts values of the file to members of config.h, and defaults of members to text. A row
// (keys.h) selects the function by the member's type.

#include "config/config.h"
#include "config/keys.h"
#include "config/node.h"

#include <expected>
#include <type_traits>
#include <utility>

namespace dormouse::config {

class Section;

// A value that matches its row.
struct Value {
    Section const& section;
    Key const& key;
    Node const& node;
};

// Pointers and the texts of the required values.
using Conditions = std::vector<std::pair<std::string, std::string>>;

// Stores the value. Reports what a row cannot check, and then leaves `out` unchanged.
void take(Value const& value, bool& out);  // true, or the second of two words
void take(Value const& value, std::uint32_t& out);
void take(Value const& value, Price& out);
void take(Value const& value, Duration& out);
void take(Value const& value, std::optional<Duration>& out);  // "none" resets it
void take(Value const& value, std::string& out);
void take(Value const& value, std::vector<std::string>& out);
void take(Value const& value, std::optional<Secret>& out);
void take(Value const& value, std::vector<Secret>& out);  // those that are set
void take(Value const& value, std::vector<Header>& out);
void take(Value const& value, Json& out);  // a table, a JSON text, or a file with a JSON Schema
void take(Value const& value, session::Join& out);
void take(Value const& value, std::vector<session::PauseReason>& out);
void take(Value const& value, Conditions& out);
void take(Value const& value, std::vector<Condition>& out);
void take(Value const& value, std::vector<OidcRole>& out);
void take(Value const& value, Poll& out);
void take(Value const& value, Validator& out);

// The price in millionths; nullopt if it has more decimals. REQUIRES: 0 to 1,000,000.
[[nodiscard]] std::optional<Price> price_of(double number);

// The index of a word among those of its row, and the word at an index.
[[nodiscard]] std::size_t place_of(Value const& value);
[[nodiscard]] std::string word_at(Key const& key, std::size_t place);

template <class E>
    requires std::is_enum_v<E>
void take(Value const& value, E& out) {
    out = static_cast<E>(place_of(value));
}
template <class T> void take(Value const& value, std::optional<T>& out) {
    T got{};
    take(value, got);
    out = std::move(got);
}

// The default as TOML.
[[nodiscard]] std::string initial(Key const& key, bool value);
[[nodiscard]] std::string initial(Key const& key, std::uint32_t value);
[[nodiscard]] std::string initial(Key const& key, Price value);
[[nodiscard]] std::string initial(Key const& key, Duration value);
[[nodiscard]] std::string initial(Key const& key, std::string const& value);
[[nodiscard]] std::string initial(Key const& key, std::vector<std::string> const& value);
[[nodiscard]] std::string initial(Key const& key, std::vector<session::PauseReason> const& value);
[[nodiscard]] std::string initial(Key const& key, session::Join const& value);
// The names of variables and headers; never what a secret holds.
[[nodiscard]] std::string initial(Key const& key, Secret const& value);
[[nodiscard]] std::string initial(Key const& key, std::vector<Secret> const& value);
[[nodiscard]] std::string initial(Key const& key, std::vector<Header> const& value);
[[nodiscard]] std::string initial(Key const& key, Json const& value);
[[nodiscard]] std::string initial(Key const& key, std::vector<OidcRole> const& value);

template <class T>
std::string initial([[maybe_unused]] Key const& key, [[maybe_unused]] T const& value) {
    if constexpr (std::is_enum_v<T>) return word_at(key, static_cast<std::size_t>(value));
    return {};
}
template <class T> std::string initial(Key const& key, std::optional<T> const& value) {
    if (value) return initial(key, *value);
    return key.none ? "\"none\"" : "";
}

// Converts a table of the file to a JSON object; the error says what is wrong.
[[nodiscard]] std::expected<Json, std::string> to_json(Node const& node);

}  // namespace dormouse::config
