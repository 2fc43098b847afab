#include "json/typed/typed.h"

#include <array>
#include <cmath>

namespace dormouse::json {

using detail::Field;
using detail::fields_max;
using detail::Shape;
using detail::Type;

namespace {

// Writes null for a value without a JSON form, so that the text stays JSON; the text is then not
// returned.
class TypedWriter {
public:
    explicit TypedWriter(bool by_rules = true) : by_rules_(by_rules) {}

    void write(Type const& type, Rule const& rule, void const* object) {
        switch (type.shape) {
            case Shape::boolean: out.value(*static_cast<bool const*>(object)); return;
            case Shape::integer: return integer(type, rule, object);
            case Shape::number: return number(rule, *static_cast<double const*>(object));
            case Shape::string: return string(rule, *static_cast<std::string const*>(object));
            case Shape::enumeration: return enumeration(type, object);
            case Shape::duration: return duration(type, object);
            case Shape::optional: return optional(type, rule, object);
            case Shape::list: return list(type, rule, object);
            case Shape::array: return array(type, object);
            case Shape::map: return map(type, rule, object);
            case Shape::structure: return structure(type, object);
            case Shape::choice: return choice(type, object);
            case Shape::nothing: out.null(); return;
            case Shape::json: out.value(*static_cast<Json const*>(object)); return;
        }
    }

    Walk walk;
    Writer out;

private:
    [[nodiscard]] Rule const& rule_of(Field const& field) const {
        return by_rules_ && field.doc != nullptr ? field.doc->rule : no_rule;
    }

    void no_form(std::string why) {
        walk.wrong(std::move(why));
        out.null();
    }

    void integer(Type const& type, Rule const& rule, void const* object) {
        Integer const number = load(type, object);
        check_number(walk, rule, number);
        out.raw(number.text());
    }

    void number(Rule const& rule, double number) {
        if (!std::isfinite(number)) return no_form("is not a finite number and has no JSON form");
        check_number(walk, rule, number);
        out.value(number);
    }

    void string(Rule const& rule, std::string const& text) {
        check_text(walk, rule, text);
        out.value(text);
    }

    void enumeration(Type const& type, void const* object) {
        Integer const number = load(type, object);
        for (auto const& [name, value] : type.names) {
            if (!number.negative && number.size == static_cast<std::uint64_t>(value)) {
                out.value(name);
                return;
            }
        }
        no_form("has the value " + number.text() + ", which has no name");
    }

    void duration(Type const& type, void const* object) {
        Integer const ticks = load(type, object);
        std::string const text = duration_text(ticks, type.tick_ms);
        if (text.empty()) return no_form("is below zero or too long for a duration");
        out.value(text);
    }

    void optional(Type const& type, Rule const& rule, void const* object) {
        void const* const value = type.access.get(object);
        if (value == nullptr) {
            out.null();
        } else {
            write(*type.inner, rule, value);
        }
    }

    void list(Type const& type, Rule const& rule, void const* object) {
        std::size_t const size = type.access.size(object);
        check_size(walk, rule, size, "items");
        out.begin_array();
        for (std::size_t i = 0; i < size; ++i) {
            Walk::Step const step(walk, i);
            write(*type.inner, no_rule, type.access.at(object, i));
        }
        out.end_array();
    }

    void array(Type const& type, void const* object) {
        out.begin_array();
        for (std::size_t i = 0; i < type.length; ++i) {
            Walk::Step const step(walk, i);
            write(*type.inner, no_rule, static_cast<char const*>(object) + type.bytes * i);
        }
        out.end_array();
    }

    void map(Type const& type, Rule const& rule, void const* object) {
        check_size(walk, rule, type.access.size(object), "entries");
        struct Context {
            TypedWriter& writer;
            Type const& type;
        } context{*this, *type.inner};
        out.begin_object();
        type.access.each(object, &context,
                         [](void* raw, std::string const& key, void const* value) {
                             auto& [writer, inner] = *static_cast<Context*>(raw);
                             Walk::Step const step(writer.walk, key);
                             writer.out.key(key);
                             writer.write(inner, no_rule, value);
                         });
        out.end_object();
    }

    static bool holds_nothing(Field const& field, void const* place) {
        return field.type->shape == Shape::optional && field.type->access.get(place) == nullptr;
    }

    // Returns true if field `i` has its initial value, so that reading without the field would
    // restore it.
    static bool has_initial(Type const& type, std::size_t i) {
        struct Asked {
            Type const& type;
            std::size_t i;
            bool has = false;
        } asked{type, i};
        type.access.with_fresh(&asked, [](void* context, void const* fresh) {
            auto& [of, field, has] = *static_cast<Asked*>(context);
            std::array<void const*, fields_max> places{};
            of.access.const_fields(fresh, places.data());
            has = !holds_nothing(of.fields[field], places[field]);
        });
        return asked.has;
    }

    void structure(Type const& type, void const* object, std::string_view tag = {}) {
        std::array<void const*, fields_max> places{};
        type.access.const_fields(object, places.data());
        out.begin_object();
        if (!tag.empty()) out.member("type", tag);
        for (std::size_t i = 0; i < type.fields.size(); ++i) {
            Field const& field = type.fields[i];
            if (holds_nothing(field, places[i]) && !has_initial(type, i)) continue;
            Walk::Step const step(walk, field.name);
            out.key(field.name);
            write(*field.type, rule_of(field), places[i]);
        }
        out.end_object();
    }

    void choice(Type const& type, void const* object) {
        Type const& one = *type.choices[type.access.size(object)];
        void const* const value = type.access.get(object);
        if (one.shape == Shape::structure) return structure(one, value, one.tag);
        write(one, no_rule, value);
    }

    bool by_rules_;
};

std::string spelled(Type const& type, void const* object) {
    TypedWriter writer;
    writer.write(type, no_rule, object);
    return writer.out.take();
}

// The value that {} gives.
bool is_zero(Type const& type, void const* object) {
    switch (type.shape) {
        case Shape::boolean: return !*static_cast<bool const*>(object);
        case Shape::integer:
        case Shape::enumeration:
        case Shape::duration: return load(type, object).size == 0;
        case Shape::number: return *static_cast<double const*>(object) == 0;
        case Shape::string: return static_cast<std::string const*>(object)->empty();
        case Shape::optional: return type.access.get(object) == nullptr;
        case Shape::list:
        case Shape::map: return type.access.size(object) == 0;
        case Shape::array:
            for (std::size_t i = 0; i < type.length; ++i) {
                if (!is_zero(*type.inner, static_cast<char const*>(object) + type.bytes * i))
                    return false;
            }
            return true;
        case Shape::structure: {
            std::pair<Type const*, std::string> fresh{&type, {}};
            type.access.with_fresh(&fresh, [](void* context, void const* made) {
                auto& [of, text] = *static_cast<std::pair<Type const*, std::string>*>(context);
                text = spelled(*of, made);
            });
            return spelled(type, object) == fresh.second;
        }
        case Shape::choice: {
            std::size_t const which = type.access.size(object);
            return which == 0 && is_zero(*type.choices[which], type.access.get(object));
        }
        case Shape::nothing: return true;
        case Shape::json: return static_cast<Json const*>(object)->is_null();
    }
    return true;
}

struct Required {
    Type const& type;
    std::uint64_t bits = 0;
};

void find_required(void* context, void const* fresh) {
    auto& required = *static_cast<Required*>(context);
    std::array<void const*, fields_max> places{};
    required.type.access.const_fields(fresh, places.data());
    for (std::size_t i = 0; i < required.type.fields.size(); ++i) {
        Field const& field = required.type.fields[i];
        bool const may = required.type.all_optional || field.type->shape == Shape::optional ||
                         (field.doc != nullptr && field.doc->rule.may_be_left_out) ||
                         !is_zero(*field.type, places[i]);
        if (!may) required.bits |= std::uint64_t{1} << i;
    }
}

}  // namespace

std::uint64_t required_fields(Type const& structure) {
    Required required{structure};
    structure.access.with_fresh(&required, find_required);
    return required.bits;
}

namespace {

Result<Json> write_ruled(Type const& type, Rule const& rule, void const* object, bool by_rules) {
    TypedWriter writer(by_rules);
    writer.write(type, rule, object);
    if (!writer.walk.clean()) return std::unexpected(writer.walk.error());
    return writer.out.json();
}

}  // namespace

Result<Json> write_field(Field const& field, void const* object) {
    return write_ruled(*field.type, field.doc ? field.doc->rule : no_rule, object, true);
}

}  // namespace dormouse::json

namespace dormouse::inline v0::detail {

Result<Json> write(Type const& type, void const* object, bool by_rules) {
    return json::write_ruled(type, json::no_rule, object, by_rules);
}

}  // namespace dormouse::inline v0::detail
