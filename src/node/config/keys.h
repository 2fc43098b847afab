#pragma once
// Every key of dormouse.toml, as one row: where its value goes, its form, bounds and meaning. The
// reader, the example, `dormouse config keys`, docs/reference/configuration.md and the tests go by
// these rows; a new key is a row in keys.cc and a member in config.h.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace dormouse::config {

struct Value;

enum class Kind : std::uint8_t {
    flag,      // true or false
    number,    // whole
    duration,  // "24h"; with `none` also "none"
    text,
    word,   // one of `words`
    texts,  // a list of strings
    table,  // a table whose keys are free or in another section
    mixed,  // more than one of these; its reader checks it
};

// What a text (or each of texts) must look like beyond being one.
enum class Form : std::uint8_t {
    any,
    id,            // of a model, agent or gate
    tool,          // a tool's name
    pattern,       // of tools' names
    address,       // HOST:PORT
    url,           // http:// or https://, no query
    template_url,  // the same with {input.NAME}, and perhaps a query
    origin,        // scheme://host[:port]
    host,          // host[:port]
    pointer,       // RFC 6901
    variable,      // of the environment, and set
    variables,     // of the environment, set or not
    network,       // an address, or one with /BITS
    file,          // its name
};

struct Key {
    std::string_view section = {};
    std::string_view name = {};
    Kind kind = Kind::mixed;
    std::string_view about = {};  // one sentence
    std::int64_t min = 0;         // number; duration in ms; text in bytes
    std::int64_t max = 0;
    std::string_view words = {};  // "a, b, c"
    Form form = Form::any;
    bool required = false;
    bool none = false;           // "none" is a duration here
    std::string_view only = {};  // the kinds of its section that have it, as `words`; empty: all
    // The default for people where the member's own does not say it.
    std::optional<std::string_view> shown = {};
    std::string_view example = {};  // TOML, or a text without its quotes; empty: the default
    // Puts a value that fits this row into its member of `object`, which is an `owner`. nullptr:
    // the section's finish() reads it.
    void (*store)(void* object, Value const& value) = nullptr;
    std::string (*initial)(Key const& key) = nullptr;  // the member's default
    std::type_info const* owner = nullptr;

    [[nodiscard]] constexpr Key needed() const {
        Key out = *this;
        out.required = true;
        return out;
    }
    [[nodiscard]] constexpr Key shown_as(std::string_view text) const {
        Key out = *this;
        out.shown = text;
        return out;
    }
    [[nodiscard]] constexpr Key like(std::string_view text) const {
        Key out = *this;
        out.example = text;
        return out;
    }
};

// In the order in which people read them.
[[nodiscard]] std::span<Key const> keys();
[[nodiscard]] std::vector<Key const*> keys_of(std::string_view section);
[[nodiscard]] Key const* find_key(std::string_view section, std::string_view name);

// What the key is when it is left out, as TOML; "": nothing.
[[nodiscard]] std::string default_of(Key const& key);
// Its sentence, behind the kinds that have it: "http: The method."
[[nodiscard]] std::string meaning(Key const& key);

// Keys of later releases (docs/roadmap.md): refused by name, never ignored.
[[nodiscard]] bool comes_later(std::string_view section, std::string_view name);
// How a section is written: "[server]", "[[tool]]"; "" for the top of the file.
[[nodiscard]] std::string heading(std::string_view section);
[[nodiscard]] bool is_list(std::string_view section);          // [[…]]
[[nodiscard]] bool is_part_of_tool(std::string_view section);  // a table of a [[tool]]
[[nodiscard]] std::span<std::string_view const> sections();
[[nodiscard]] std::vector<std::string> split_words(std::string_view words);
// Whether `word` is one of them.
[[nodiscard]] bool has_word(std::string_view words, std::string_view word);

}  // namespace dormouse::config
