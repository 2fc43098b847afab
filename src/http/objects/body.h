#pragma once
// Strict request bodies: what is not expected is refused with its nearest name, what has the wrong
// type with its JSON pointer. Reads happen in any order; the first error wins and is asked for at
// the end.

#include <dormouse/error.h>

#include "json/json.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::server {

class Body {
public:
    // `pointer`: where this object stands in the request ("" for the body itself).
    Body(json::View object, std::string pointer, std::initializer_list<std::string_view> known);

    // Absent or null: nullopt. Of another type: bad_value.
    [[nodiscard]] std::optional<std::string> string(std::string_view name);
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name);
    [[nodiscard]] std::optional<bool> boolean(std::string_view name);
    [[nodiscard]] std::optional<json::View> object(std::string_view name);
    [[nodiscard]] std::optional<json::View> array(std::string_view name);
    // Any value, without insignificant white space; nullopt only when absent.
    [[nodiscard]] std::optional<Json> any(std::string_view name);

    [[nodiscard]] std::string required_string(std::string_view name);
    void require(std::string_view name);  // it must be there; it may be null
    void refuse(std::string_view name, std::string const& why);
    void refuse(Error error);

    [[nodiscard]] std::optional<Error> const& error() const { return error_; }
    [[nodiscard]] std::string const& pointer() const { return pointer_; }  // to this object

private:
    [[nodiscard]] json::View get(std::string_view name, json::Kind kind, std::string_view word);

    json::View object_;
    std::string pointer_;
    std::optional<Error> error_;
};

// `parent`: the pointer to the object, with '/' at its end, or "?" for a query.
[[nodiscard]] Error unknown_field(std::string const& parent, std::string_view name,
                                  std::vector<std::string_view> const& known);
[[nodiscard]] Error bad_value(std::string const& pointer, std::string const& why);

}  // namespace dormouse::server
