#include "http/objects/body.h"

#include "base/text.h"

#include <algorithm>
#include <vector>

namespace dormouse::server {

Error unknown_field(std::string const& parent, std::string_view name,
                    std::vector<std::string_view> const& known) {
    std::string_view const near = nearest(name, known);
    json::Writer extra;
    extra.begin_object().member("field", parent + std::string(name));
    extra.member("nearest", near.empty() ? std::nullopt : std::optional(std::string(near)))
        .end_object();
    std::string const what = parent == "?" ? "parameter" : "field";
    std::string detail = "There is no " + what + " '" + std::string(name) + "' here.";
    if (!near.empty()) detail += " Did you mean '" + std::string(near) + "'?";
    return {Code::unknown_field, detail, extra.json(), 0};
}

Error bad_value(std::string const& pointer, std::string const& why) {
    json::Writer extra;
    extra.begin_object().member("pointer", pointer).member("why", why).end_object();
    std::string const where = pointer.empty() ? "The body" : pointer;
    return {Code::bad_value, where + ": " + why, extra.json(), 0};
}

Body::Body(json::View object, std::string pointer, std::initializer_list<std::string_view> known)
    : object_(object), pointer_(std::move(pointer)) {
    if (object_.kind() != json::Kind::object) {
        error_ = bad_value(pointer_, "must be a JSON object");
        return;
    }
    std::vector<std::string_view> const names(known);
    object_.members([&](std::string_view name, json::View) {
        bool const is_known = std::ranges::find(names, name) != names.end();
        if (!is_known && !error_) error_ = unknown_field(pointer_ + "/", name, names);
    });
}

json::View Body::get(std::string_view name, json::Kind kind, std::string_view word) {
    json::View const value = object_[name];
    if (!value.exists() || value.is_null()) return json::View("");
    if (value.kind() == kind) return value;
    refuse(name, "must be " + std::string(word));
    return json::View("");
}

std::optional<std::string> Body::string(std::string_view name) {
    json::View const value = get(name, json::Kind::string, "a string");
    return value.exists() ? value.string() : std::nullopt;
}

std::optional<std::int64_t> Body::integer(std::string_view name) {
    json::View const value = get(name, json::Kind::number, "an integer");
    if (!value.exists()) return std::nullopt;
    auto const number = value.integer();
    if (!number) refuse(name, "must be an integer");
    return number;
}

std::optional<bool> Body::boolean(std::string_view name) {
    json::View const value = get(name, json::Kind::boolean, "true or false");
    return value.exists() ? value.boolean() : std::nullopt;
}

std::optional<json::View> Body::object(std::string_view name) {
    json::View const value = get(name, json::Kind::object, "an object");
    return value.exists() ? std::optional(value) : std::nullopt;
}

std::optional<json::View> Body::array(std::string_view name) {
    json::View const value = get(name, json::Kind::array, "an array");
    return value.exists() ? std::optional(value) : std::nullopt;
}

std::optional<Json> Body::any(std::string_view name) {
    json::View const value = object_[name];
    return value.exists() ? std::optional(json::compact(value.copy())) : std::nullopt;
}

std::string Body::required_string(std::string_view name) {
    auto text = string(name);
    if (!text) refuse(name, "is missing: it must be a string");
    return text.value_or("");
}

void Body::require(std::string_view name) {
    if (!object_[name].exists()) refuse(name, "is missing");
}

void Body::refuse(std::string_view name, std::string const& why) {
    refuse(bad_value(pointer_ + "/" + std::string(name), why));
}

void Body::refuse(Error error) {
    if (!error_) error_ = std::move(error);
}

}  // namespace dormouse::server
