#include "json/schema/pattern.h"
#include "json/typed/typed.h"

#include <array>

namespace dormouse::json {

using detail::Field;
using detail::fields_max;
using detail::Shape;
using detail::Type;

namespace {

class SchemaWriter {
public:
    // The keywords of a type, inside an open object.
    void keywords(Type const& type, Rule const& rule, bool or_null = false) {
        switch (type.shape) {
            case Shape::boolean: return kind("boolean", or_null);
            case Shape::integer: return integer(type, rule, or_null);
            case Shape::number:
                kind("number", or_null);
                return bounds("minimum", rule.min, "maximum", rule.max);
            case Shape::string: return string(rule, or_null);
            case Shape::enumeration: return enumeration(type, or_null);
            case Shape::duration:
                kind("string", or_null);
                out.member("pattern", duration_pattern);
                return;
            case Shape::optional: return keywords(*type.inner, rule, true);
            case Shape::list: return list(type, rule, or_null);
            case Shape::array: return array(type, or_null);
            case Shape::map: return map(type, rule, or_null);
            case Shape::structure: return or_null ? nullable(type) : structure(type);
            case Shape::choice: return choice(type, or_null);
            case Shape::nothing: return kind("null", false);
            case Shape::json: return;
        }
    }

    Writer out;

private:
    void kind(std::string_view word, bool or_null) {
        out.key("type");
        if (!or_null) {
            out.value(word);
            return;
        }
        out.begin_array().value(word).value("null").end_array();
    }

    void bound(std::string_view name, Bound const& bound) {
        if (bound.kind != Bound::Kind::none) out.member_raw(name, text_of(bound));
    }
    void bounds(std::string_view least, Bound const& min, std::string_view most, Bound const& max) {
        bound(least, min);
        bound(most, max);
    }

    void integer(Type const& type, Rule const& rule, bool or_null) {
        kind("integer", or_null);
        Rule narrow = rule;
        bool const small = type.bytes < 8;
        bool const from = rule.min.kind == Bound::Kind::none && (small || !type.is_signed);
        if (from) {
            auto const size = static_cast<std::int64_t>(least(type).size);
            narrow.min = type.is_signed ? -size : size;
        }
        if (small && rule.max.kind == Bound::Kind::none)
            narrow.max = static_cast<std::int64_t>(greatest(type).size);
        bounds("minimum", narrow.min, "maximum", narrow.max);
    }

    void string(Rule const& rule, bool or_null) {
        kind("string", or_null);
        bounds("minLength", rule.min_size, "maxLength", rule.max_size);
        if (!rule.pattern.empty()) out.member("pattern", rule.pattern);
    }

    void enumeration(Type const& type, bool or_null) {
        kind("string", or_null);
        out.key("enum").begin_array();
        for (auto const& [name, value] : type.names) out.value(name);
        if (or_null) out.null();
        out.end_array();
    }

    void schema(std::string_view name, Type const& type) {
        out.key(name).begin_object();
        keywords(type, no_rule);
        out.end_object();
    }

    void list(Type const& type, Rule const& rule, bool or_null) {
        kind("array", or_null);
        schema("items", *type.inner);
        bounds("minItems", rule.min_size, "maxItems", rule.max_size);
    }

    void array(Type const& type, bool or_null) {
        kind("array", or_null);
        schema("items", *type.inner);
        out.member("minItems", std::uint64_t{type.length});
        out.member("maxItems", std::uint64_t{type.length});
    }

    void map(Type const& type, Rule const& rule, bool or_null) {
        kind("object", or_null);
        schema("additionalProperties", *type.inner);
        bounds("minProperties", rule.min_size, "maxProperties", rule.max_size);
    }

    void nullable(Type const& type) {
        out.key("anyOf").begin_array().begin_object();
        keywords(type, no_rule);
        out.end_object().begin_object().member("type", "null").end_object().end_array();
    }

    void choice(Type const& type, bool or_null) {
        out.key("anyOf").begin_array();
        for (Type const* one : type.choices) {
            out.begin_object();
            if (one->shape == Shape::structure) {
                structure(*one, one->tag);
            } else {
                keywords(*one, no_rule);
            }
            out.end_object();
        }
        if (or_null) out.begin_object().member("type", "null").end_object();
        out.end_array();
    }

    // Writes the schema of a structure, with its initialisers as defaults.
    void structure(Type const& type, std::string_view tag = {}) {
        struct Context {
            SchemaWriter& writer;
            Type const& type;
            std::string_view tag;
        } context{*this, type, tag};
        type.access.with_fresh(&context, [](void* raw, void const* fresh) {
            auto& [writer, of, name] = *static_cast<Context*>(raw);
            writer.structure(of, name, fresh);
        });
    }

    void structure(Type const& type, std::string_view tag, void const* fresh) {
        std::array<void const*, fields_max> places{};
        type.access.const_fields(fresh, places.data());
        std::uint64_t const required = required_fields(type);
        out.member("type", "object").key("properties").begin_object();
        if (!tag.empty())
            out.key("type")
                .begin_object()
                .key("enum")
                .begin_array()
                .value(tag)
                .end_array()
                .end_object();
        for (std::size_t i = 0; i < type.fields.size(); ++i)
            property(type.fields[i], places[i], ((required >> i) & 1) != 0);
        out.end_object();
        write_required(type, tag, required);
        out.member("additionalProperties", false);
    }

    void property(Field const& field, void const* initial, bool required) {
        out.key(field.name).begin_object();
        keywords(*field.type, field.doc ? field.doc->rule : no_rule);
        if (field.doc && !field.doc->text.empty()) out.member("description", field.doc->text);
        bool const has_default = !required && (field.type->shape != Shape::optional ||
                                               field.type->access.get(initial) != nullptr);
        if (has_default) {
            if (auto const text = detail::write(*field.type, initial)) out.member("default", *text);
        }
        out.end_object();
    }

    void write_required(Type const& type, std::string_view tag, std::uint64_t required) {
        if (required == 0 && tag.empty()) return;
        out.key("required").begin_array();
        if (!tag.empty()) out.value("type");
        for (std::size_t i = 0; i < type.fields.size(); ++i) {
            if (((required >> i) & 1) != 0) out.value(type.fields[i].name);
        }
        out.end_array();
    }
};

}  // namespace

}  // namespace dormouse::json

namespace dormouse::inline v0::detail {

Json schema(Type const& type) {
    json::SchemaWriter writer;
    writer.out.begin_object();
    writer.keywords(type, json::no_rule);
    writer.out.end_object();
    return writer.out.json();
}

namespace {

// Checks each struct once, wherever it is used.
class Inspector {
public:
    void inspect(Type const& type) {
        if (!text.empty()) return;
        if (type.inner != nullptr) inspect(*type.inner);
        for (Type const* one : type.choices) inspect(*one);
        for (Field const& field : type.fields) inspect(field);
        if (type.shape == Shape::structure) defaults(type);
    }
    std::string text;

private:
    void inspect(Field const& field) {
        inspect(*field.type);
        if (field.doc == nullptr || field.doc->rule.pattern.empty()) return;
        auto const why = json::pattern_error(std::string(field.doc->rule.pattern));
        if (!why.empty()) text = "the pattern of " + std::string(field.name) + " is broken: " + why;
    }

    void defaults(Type const& type) {
        if (!text.empty()) return;
        std::pair<Type const*, std::string*> context{&type, &text};
        type.access.with_fresh(&context, [](void* raw, void const* fresh) {
            auto& [of, out] = *static_cast<std::pair<Type const*, std::string*>*>(raw);
            std::array<void const*, fields_max> places{};
            of->access.const_fields(fresh, places.data());
            std::uint64_t const required = json::required_fields(*of);
            for (std::size_t i = 0; i < of->fields.size(); ++i) {
                if (((required >> i) & 1) != 0) continue;
                check_default(of->fields[i], places[i], *out);
            }
        });
    }

    static void check_default(Field const& field, void const* initial, std::string& out) {
        if (field.type->shape == Shape::optional && field.type->access.get(initial) == nullptr)
            return;
        auto const written = json::write_field(field, initial);
        if (!written)
            out = "the default value of " + std::string(field.name) +
                  " breaks its own rule: " + written.error().detail;
    }
};

}  // namespace

std::string mistakes(Type const& type) {
    Inspector inspector;
    inspector.inspect(type);
    return std::move(inspector.text);
}

}  // namespace dormouse::inline v0::detail
