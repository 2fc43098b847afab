#pragma once
// Every key of dormouse.toml: what it takes, between which bounds, and what it is when it is not
// there. The reader, the example, `dormouse config keys` and the tests all go by this one table.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::config {

enum class Kind : std::uint8_t {
    flag,      // true or false
    number,    // whole
    duration,  // "24h"; where `fallback` is "none" or `none` is set, "none" too
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
    std::string_view section;
    std::string_view name;
    Kind kind;
    std::string_view fallback;  // as TOML; "": none
    std::string_view about;     // one sentence
    std::int64_t min = 0;       // number; duration in ms; text in bytes
    std::int64_t max = 0;
    std::string_view words = {};  // "a, b, c"
    Form form = Form::any;
    bool required = false;
    bool none = false;  // "none" is a duration here
};

// In the order in which people read them.
[[nodiscard]] std::span<Key const> keys();
[[nodiscard]] std::vector<Key const*> keys_of(std::string_view section);
[[nodiscard]] Key const* find_key(std::string_view section, std::string_view name);

// What the design has and this release has not: refused by name, never ignored.
[[nodiscard]] bool comes_later(std::string_view section, std::string_view name);
// How a section is written: "[server]", "[[tool]]"; "" for the top of the file.
[[nodiscard]] std::string heading(std::string_view section);
[[nodiscard]] bool is_list(std::string_view section);          // [[…]]
[[nodiscard]] bool is_part_of_tool(std::string_view section);  // a table of a [[tool]]
[[nodiscard]] std::span<std::string_view const> sections();
[[nodiscard]] std::vector<std::string> split_words(std::string_view words);

}  // namespace dormouse::config
