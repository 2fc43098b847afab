#include "config/schema.h"

#include "config/keys.h"
#include "config/values.h"

#include "base/text/duration.h"
#include "json/json.h"

namespace dormouse::config {

namespace {

constexpr int elements_max = 1'000;

// A pattern that each text of the form matches; empty: none that is simple.
std::string_view pattern_of(Form form) {
    switch (form) {
        case Form::id: return "^[A-Za-z0-9_.-]+$";
        case Form::tool: return "^[A-Za-z0-9_-]+$";
        case Form::pattern: return "^[A-Za-z0-9_*:/.-]+$";
        case Form::address: return ":[0-9]{1,5}$";
        case Form::url: return "^https?://[^?]*[^?/]$";
        case Form::issuer: return "^https?://[^?]+$";
        case Form::template_url: return "^https?://";
        case Form::origin: return "^https?://[^/?]+$";
        case Form::host: return "^[^/?@]+$";
        case Form::store: return "^(sqlite|memory|postgres(ql)?://.*)$";
        case Form::redis: return "^redis(\\+unix)?://[^@]*$";
        case Form::index: return "^(files|redis(\\+unix)?://[^@]*)$";
        case Form::pointer: return "^(/.*)?$";
        case Form::variable:
        case Form::variables: return "^[A-Za-z_][A-Za-z0-9_]*$";
        case Form::network: return "^[0-9a-fA-F:.]+(/[0-9]{1,3})?$";
        case Form::email: return "^[^@ ]+@[^@: ]+$";
        case Form::currency: return "^[A-Z]{3}$";
        case Form::contact: return "^(mailto:[^@ ]+@[^@ ]+|https://.+)$";
        case Form::any:
        case Form::file: break;
    }
    return {};
}

void write_text(json::Writer& out, Key const& key) {
    out.member("type", "string").member("minLength", key.min).member("maxLength", key.max);
    if (auto const pattern = pattern_of(key.form); !pattern.empty()) out.member("pattern", pattern);
}

void write_words(json::Writer& out, Key const& key) {
    out.member("type", "string").key("enum").begin_array();
    for (std::string const& word : split_words(key.words)) out.value(word);
    out.end_array();
}

void write_object(json::Writer& out, std::string_view section);

void write_table(json::Writer& out, Key const& key) {
    auto const section = std::string(key.section) + "." + std::string(key.name);
    bool const known = !keys_of(section).empty();
    known ? write_object(out, section) : (void)out.member("type", "object");
}

void write_value(json::Writer& out, Key const& key) {
    switch (key.kind) {
        case Kind::flag: out.member("type", "boolean"); break;
        case Kind::number:
        case Kind::price:
            out.member("type", key.kind == Kind::number ? "integer" : "number");
            out.member("minimum", key.min).member("maximum", key.max);
            break;
        case Kind::duration:
            out.member("type", "string");
            out.member("pattern",
                       std::string("^([0-9]{1,9}(ms|s|m|h|d)") + (key.none ? "|none)$" : ")$"));
            break;
        case Kind::text: write_text(out, key); break;
        case Kind::word: write_words(out, key); break;
        case Kind::texts:
            out.member("type", "array").member("maxItems", elements_max);
            write_text(out.key("items").begin_object(), key);
            out.end_object();
            break;
        case Kind::table: write_table(out, key); break;
        case Kind::mixed: break;
    }
}

// "The sentence of the key. From 1s to 1h. Default: 30s."
std::string description(Key const& key) {
    std::string out = meaning(key);
    if (key.kind == Kind::duration)
        out += " From " + duration_text(Duration(key.min)) + " to " +
               duration_text(Duration(key.max)) + (key.none ? ", or none." : ".");
    auto const by_default = default_of(key);
    return by_default.empty() ? out : out + " Default: " + by_default + ".";
}

// Members of an object that is open.
void write_object(json::Writer& out, std::string_view section) {
    auto const rows = keys_of(section);
    out.member("type", "object").member("additionalProperties", false);
    out.key("required").begin_array();
    for (Key const* const key : rows)
        if (key->required && key->only.empty()) out.value(key->name);
    out.end_array().key("properties").begin_object();
    for (Key const* const key : rows) {
        out.key(key->name).begin_object().member("description", description(*key));
        write_value(out, *key);
        out.end_object();
    }
    out.end_object();
}

}  // namespace

std::string schema() {
    json::Writer out;
    out.begin_object().member("$schema", "http://json-schema.org/draft-07/schema#");
    out.member("title", "dormouse.toml").member("type", "object");
    out.member("additionalProperties", false).key("properties").begin_object();
    for (std::string_view const section : sections()) {
        if (is_part_of_tool(section)) continue;
        out.key(section).begin_object().member("description", heading(section));
        if (is_list(section)) {
            out.member("type", "array");
            write_object(out.key("items").begin_object(), section);
            out.end_object();
        } else {
            write_object(out, section);
        }
        out.end_object();
    }
    return out.end_object().end_object().take();
}

}  // namespace dormouse::config
