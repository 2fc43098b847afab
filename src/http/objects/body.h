#pragma once
// Strict request bodies: what is not expected is refused with its nearest name, what has the wrong
// type or is out of its bounds with its JSON pointer. Reads happen in any order; the first error
// wins and is asked for at the end.

#include <dormouse/error.h>

#include "http/objects/requests.h"
#include "json/json.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::http {

class Body {
public:
    // Checked by its rows. `pointer`: where this object is in the request. `implied`: a required
    // member that may be absent, because something else in the request says it; empty: none.
    explicit Body(json::View object, Request const& request, std::string pointer = "",
                  std::string_view implied = "");
    // One of several shapes: only names are checked. The names' texts outlive this.
    Body(json::View object, std::string pointer, std::vector<std::string_view> const& known);

    // Absent or null: nullopt. Another type: bad_value.
    [[nodiscard]] std::optional<std::string> string(std::string_view name);
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name);
    [[nodiscard]] std::optional<bool> boolean(std::string_view name);
    [[nodiscard]] std::optional<json::View> object(std::string_view name);
    [[nodiscard]] std::optional<json::View> array(std::string_view name);
    // Any value, without insignificant white space; nullopt only when absent.
    [[nodiscard]] std::optional<Json> any(std::string_view name);

    [[nodiscard]] std::string string_or_empty(std::string_view name) {
        return string(name).value_or("");
    }
    [[nodiscard]] std::string required_string(std::string_view name);
    void refuse(std::string_view name, std::string const& why);
    void refuse(Error error);

    [[nodiscard]] std::optional<Error> const& error() const { return error_; }
    [[nodiscard]] std::string const& pointer() const { return pointer_; }  // to this object

private:
    struct Present {
        std::string_view name;  // as the rows spell it
        json::View value;
    };

    // Also sets `present_`, so that the text is scanned once.
    void check_names(std::vector<std::string_view> const& known);
    void check(Member const& member);
    void check_bounds(Member const& member, json::View value);
    [[nodiscard]] json::View value_of(std::string_view name) const;  // absent: exists() is false
    [[nodiscard]] json::View get(std::string_view name, json::Kind kind, std::string_view word);

    json::View object_;
    std::vector<Present> present_;
    std::string pointer_;
    std::optional<Error> error_;
};

// `parent`: the pointer to the object, with '/' at its end, or "?" for a query.
[[nodiscard]] Error unknown_field(std::string const& parent, std::string_view name,
                                  std::vector<std::string_view> const& known);
[[nodiscard]] Error bad_value(std::string const& pointer, std::string const& why);

}  // namespace dormouse::http
