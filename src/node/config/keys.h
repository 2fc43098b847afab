#pragma once
// Every key of dormouse.toml as one row: its member, form, bounds and meaning. The reader, the
// example, `dormouse config keys`, docs/reference/configuration.md and the tests use these rows; a
// new key is a row in keys.cc and a member in config.h.

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
    number,    // an integer
    price,     // of a million tokens: a number with up to 6 decimals
    duration,  // "24h"; with `none` also "none"
    text,
    word,   // one of `words`
    texts,  // a list of strings
    table,  // a table whose keys are free or in another section
    mixed,  // several of these; its reader checks it
};

// The form of a text (or of each text in a list).
enum class Form : std::uint8_t {
    any,
    id,            // id of a model, agent or gate
    tool,          // name of a tool
    pattern,       // of tool names
    address,       // HOST:PORT
    url,           // http:// or https://, no query
    store,         // sqlite, memory or postgres://
    index,         // files, redis:// or redis+unix://
    redis,         // redis:// or redis+unix://
    issuer,        // https://, or http:// on this machine; no query
    template_url,  // a url with {input.NAME}, and optionally a query
    origin,        // scheme://host[:port]
    host,          // host[:port]
    pointer,       // RFC 6901
    variable,      // an environment variable that is set
    variables,     // environment variables, set or not
    network,       // an address, or one with /BITS
    file,          // name of a file
    email,         // an address
    currency,      // "USD"
    contact,       // mailto: and an address, or an https URL
};

// When a changed value takes effect.
enum class Applies : std::uint8_t { reload, restart };

struct Key {
    std::string_view section = {};
    std::string_view name = {};
    Kind kind = Kind::mixed;
    std::string_view about = {};  // one sentence
    std::int64_t min = 0;         // number; price; duration in ms; bytes of a text
    std::int64_t max = 0;
    std::string_view words = {};  // "a, b, c"
    Form form = Form::any;
    bool required = false;
    bool none = false;           // the duration may be "none"
    std::string_view only = {};  // kinds of its section that have it, as in `words`; empty: all
    // The default shown to people, if the member's own does not show it.
    std::optional<std::string_view> shown = {};
    std::string_view example = {};  // TOML, or a text without quotes; empty: the default
    // Stores a value that matches this row in its member of `object`, which is of type `owner`.
    // nullptr: the section's finish() reads it.
    void (*store)(void* object, Value const& value) = nullptr;
    std::string (*initial)(Key const& key) = nullptr;  // the member's default
    // The member's value in `object`, in the same form.
    std::string (*current)(Key const& key, void const* object) = nullptr;
    // Returns true if the member has the same value in two objects; copies it to `to`.
    bool (*same)(void const* one, void const* other) = nullptr;
    void (*copy)(void* to, void const* from) = nullptr;
    std::type_info const* owner = nullptr;
    Applies applies = Applies::reload;

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
    [[nodiscard]] constexpr Key at_restart() const {
        Key out = *this;
        out.applies = Applies::restart;
        return out;
    }
    [[nodiscard]] constexpr Key like(std::string_view text) const {
        Key out = *this;
        out.example = text;
        return out;
    }
};

// Returns the keys in the order in which they are shown.
[[nodiscard]] std::span<Key const> keys();
[[nodiscard]] std::vector<Key const*> keys_of(std::string_view section);
[[nodiscard]] Key const* find_key(std::string_view section, std::string_view name);

// The key's default as TOML; "": none.
[[nodiscard]] std::string default_of(Key const& key);
// Its sentence, after the kinds that have it: "http: The method."
[[nodiscard]] std::string meaning(Key const& key);

// Keys of later releases (docs/roadmap.md): reported by name, never ignored.
[[nodiscard]] bool comes_later(std::string_view section, std::string_view name);
// A section as written: "[server]", "[[tool]]"; "" for the top of the file.
[[nodiscard]] std::string heading(std::string_view section);
[[nodiscard]] bool is_list(std::string_view section);          // [[…]]
[[nodiscard]] bool is_part_of_tool(std::string_view section);  // a table of a [[tool]]
[[nodiscard]] std::span<std::string_view const> sections();
[[nodiscard]] std::vector<std::string> split_words(std::string_view words);
// Returns true if `word` is one of them.
[[nodiscard]] bool has_word(std::string_view words, std::string_view word);

}  // namespace dormouse::config
