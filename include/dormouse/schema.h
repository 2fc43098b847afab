#pragma once
// Conversion between C++ values and JSON: the JSON Schema (draft 7) of a type, reading that reports
// every error with its place, and writing. type.h lists the supported types. Reading accepts what
// the schema allows, with one exception: the schema does not state the limits of 64-bit integers.

#include <dormouse/error.h>
#include <dormouse/type.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

namespace detail {

// Deterministic: the same type gives the same text, with the fields in declaration order.
[[nodiscard]] Json schema(Type const& type);
// Mistakes in the rules and defaults of a type that no compiler finds: an invalid pattern, a
// default value that breaks its own rule. Empty: none.
[[nodiscard]] std::string mistakes(Type const& type);
// `object` must be a value of the type made from {}. After an error its content is unspecified.
[[nodiscard]] Result<void> read(Json const& json, Type const& type, void* object,
                                bool skip_unknown = false);
// `by_rules`: a value that breaks a rule is an error.
[[nodiscard]] Result<Json> write(Type const& type, void const* object, bool by_rules = true);

}  // namespace detail

// The treatment of members that the type does not have: report an error or skip them. `skip` is for
// data that other programs write and extend, such as the data of events.
enum class Unknown : std::uint8_t { refuse, skip };

// Returns the JSON Schema of T.
template <class T> [[nodiscard]] Json schema_of() {
    if constexpr (detail::check_type<T>()) return detail::schema(detail::type_of<T>);
    return {};
}

// Reads a T. Errors: bad_value; `extra` is {"errors": [{"pointer", "message"}…]} with up to 16
// errors, and `detail` says the same in one line. An unknown member is an error that names the most
// similar member, unless `unknown` is `skip`.
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

// Writes `value`. Empty optional fields are left out, or written as null where {} would give them a
// value. Errors: bad_value as above, for values without a JSON form (NaN, an enum value without a
// name, a negative duration) and for values that break a rule of the type.
template <class T> [[nodiscard]] Result<Json> to_json(T const& value) {
    if constexpr (detail::check_type<T>()) return detail::write(detail::type_of<T>, &value);
    return Json();
}

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
