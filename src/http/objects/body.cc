#include "http/objects/body.h"

#include "base/text/text.h"

#include <algorithm>
#include <vector>

namespace dormouse::http {

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

Body::Body(json::View object, std::string pointer, std::vector<std::string_view> const& known)
    : object_(object), pointer_(std::move(pointer)) {
    check_names(known);
}

Body::Body(json::View object, Request const& request, std::string pointer, std::string_view implied)
    : object_(object), pointer_(std::move(pointer)) {
    std::vector<std::string_view> names;
    for (Member const& member : request.members) names.push_back(member.name);
    check_names(names);
    if (error_) return;
    for (Member const& member : request.members) {
        json::View const value = value_of(member.name);
        bool const absent = !value.exists() || value.is_null();
        if (!absent || member.name != implied) check(member);
    }
}

void Body::check_names(std::vector<std::string_view> const& known) {
    if (object_.kind() != json::Kind::object) {
        error_ = bad_value(pointer_, "must be a JSON object");
        return;
    }
    object_.members([&](std::string_view name, json::View value) {
        auto const found = std::ranges::find(known, name);
        if (found != known.end()) return void(present_.emplace_back(*found, value));
        if (!error_) error_ = unknown_field(pointer_ + "/", name, known);
    });
}

json::View Body::value_of(std::string_view name) const {
    auto const found = std::ranges::find(present_, name, &Present::name);
    return found == present_.end() ? json::View("") : found->value;
}

void Body::check(Member const& member) {
    using Type = Member::Type;
    json::View value = value_of(member.name);
    switch (member.type) {
        case Type::text: value = get(member.name, json::Kind::string, "a string"); break;
        case Type::integer: value = get(member.name, json::Kind::number, "an integer"); break;
        case Type::flag: value = get(member.name, json::Kind::boolean, "true or false"); break;
        case Type::object: value = get(member.name, json::Kind::object, "an object"); break;
        case Type::list: value = get(member.name, json::Kind::array, "an array"); break;
        case Type::any: break;
    }
    if (value.exists()) return check_bounds(member, value);
    if (!member.required) return;
    bool const is_null = value_of(member.name).exists();
    std::string_view why = is_null ? member.why : "";
    if (why.empty()) why = member.missing;
    if (why.empty() && member.type == Type::text) why = "is missing: it must be a string";
    if (why.empty() && member.type == Type::flag) why = "is missing: true or false";
    refuse(member.name, std::string(why.empty() ? "is missing" : why));
}

namespace {

std::string out_of_bounds(Member const& member, bool too_small) {
    using Type = Member::Type;
    if (!member.why.empty()) return std::string(member.why);
    std::string const most = std::to_string(member.most);
    switch (member.type) {
        case Type::integer: {
            bool const open = member.most == std::numeric_limits<std::int64_t>::max();
            return "must be " + std::to_string(member.least) + (open ? " or more" : " to " + most);
        }
        case Type::object:
        case Type::list:
            if (member.least > 0)
                return "must have " + std::to_string(member.least) + " to " + most + " members";
            return "must have at most " + most + " members";
        case Type::text:
            if (too_small) return "must not be empty";
            [[fallthrough]];
        default: return "must be at most " + most + " bytes";
    }
}

}  // namespace

// Checks the bounds of a member.
void Body::check_bounds(Member const& member, json::View value) {
    using Type = Member::Type;
    std::int64_t count = member.least;
    if (member.type == Type::integer) {
        auto const number = value.integer();
        if (!number) return refuse(member.name, "must be an integer");
        count = *number;
    } else if (member.type == Type::text) {
        count = static_cast<std::int64_t>(value.raw().size()) - 2;  // escapes are longer
        if (count > member.most) count = static_cast<std::int64_t>(value.string()->size());
    } else if (member.type == Type::object || member.type == Type::list) {
        count = static_cast<std::int64_t>(value.size());
    }
    if (count < member.least || count > member.most)
        refuse(member.name, out_of_bounds(member, count < member.least));
    if (member.facts.words.empty()) return;
    std::vector<std::string_view> words;
    for (auto const word : std::views::split(member.facts.words, ' ')) words.emplace_back(word);
    if (std::ranges::find(words, *value.string()) == words.end())
        refuse(member.name, "must be " + one_of(words));
}

json::View Body::get(std::string_view name, json::Kind kind, std::string_view word) {
    json::View const value = value_of(name);
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
    json::View const value = value_of(name);
    return value.exists() ? std::optional(json::compact(value.copy())) : std::nullopt;
}

std::string Body::required_string(std::string_view name) {
    auto text = string(name);
    if (!text) refuse(name, "is missing: it must be a string");
    return text.value_or("");
}

void Body::refuse(std::string_view name, std::string const& why) {
    refuse(bad_value(pointer_ + "/" + std::string(name), why));
}

void Body::refuse(Error error) {
    if (!error_) error_ = std::move(error);
}

}  // namespace dormouse::http
