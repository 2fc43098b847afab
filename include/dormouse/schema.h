#pragma once
// Between C++ values and JSON: the JSON Schema (draft 7) of a type, reading with all that is wrong
// and where, writing. Which types: type.h. What the schema says and what reading accepts are the
// same, but for integers: the schema does not name the limits of 64 bits, and says "integer" of
// nothing else.

#include <dormouse/error.h>
#include <dormouse/type.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

namespace detail {

// Deterministic: the same text for the same type, with the fields in their order.
[[nodiscard]] Json schema(Type const& type);
// What is wrong with the rules and defaults that a type's author wrote, which no compiler sees: a
// pattern that is none, a default value that its own rule refuses. Empty: nothing.
[[nodiscard]] std::string mistakes(Type const& type);
// `object` is a value of the type as it is made from {}. After an error it holds anything.
[[nodiscard]] Result<void> read(Json const& json, Type const& type, void* object,
                                bool skip_unknown = false);
// `by_rules`: what breaks a rule is an error.
[[nodiscard]] Result<Json> write(Type const& type, void const* object, bool by_rules = true);

}  // namespace detail

// What reading does with members that the type does not have: an error, or nothing. `skip` is for
// what others write and extend, such as the data of events.
enum class Unknown : std::uint8_t { refuse, skip };

// What JSON must be like to be read as a T.
template <class T> [[nodiscard]] Json schema_of() {
    if constexpr (detail::check_type<T>()) return detail::schema(detail::type_of<T>);
    return {};
}

// Errors: bad_value. `extra` is {"errors": [{"pointer", "message"}…]}, with all that is wrong, up
// to 16; `detail` says the same in a line. Unknown members are errors, and are told the nearest
// name, unless they are to be skipped.
template <class T>
[[nodiscard]] Result<T> from_json(Json const& json, Unknown unknown = Unknown::refuse) {
    T value{};
    if constexpr (detail::check_type<T>()) {
        bool const skip = unknown == Unknown::skip;
        if (auto read = detail::read(json, detail::type_of<T>, &value, skip); !read)
            return std::unexpected(std::move(read.error()));
    }
    return value;
}

// Optional fields that hold nothing are left out, or null where {} would give them a value. Errors:
// bad_value, as above, for what has no JSON form (NaN, an enum without a name, a duration below
// zero) and for what breaks a rule of the type.
template <class T> [[nodiscard]] Result<Json> to_json(T const& value) {
    if constexpr (detail::check_type<T>()) return detail::write(detail::type_of<T>, &value);
    return Json();
}

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
