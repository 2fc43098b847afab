#include "external/condition.h"

#include "base/check.h"
#include "json/schema/schema.h"

#include <algorithm>
#include <utility>

namespace dormouse::external {

namespace {

bool differs(json::View value, json::View expected) {
    if (value.kind() != expected.kind()) return false;
    if (value.kind() == json::Kind::number)
        return json::canonical(value.copy()) != json::canonical(expected.copy());
    if (value.kind() == json::Kind::string) return value.string() != expected.string();
    return value.boolean() != expected.boolean();
}

bool mismatches(json::View value, json::Pattern const& pattern) {
    auto const text = value.string();
    if (!text || text->size() > json::matched_length_max) return false;
    // Gates are asked on the loop. A text that takes too long to compare is in doubt.
    if (pattern.steps(text->size()) > json::steps_soon) return false;
    return !pattern.found_in(*text);
}

// Rounding a number to a double keeps the order, so a number within the bounds is never outside.
bool is_outside(json::View value, Condition const& bounds) {
    auto const number = value.number();
    if (!number) return false;
    return (bounds.min && *number < *bounds.min) || (bounds.max && *number > *bounds.max);
}

}  // namespace

Conditions::Conditions(std::vector<Condition> all) {
    for (Condition& one : all) {
        CHECK(!one.equals.is_null() || one.pattern || one.min || one.max);
        std::shared_ptr<json::Pattern const> pattern;
        if (one.pattern) pattern = std::make_shared<json::Pattern>(*one.pattern);
        CHECK(!pattern || pattern->error().empty());
        all_.push_back({std::move(one), std::move(pattern)});
    }
}

bool Conditions::may_hold(Json const& input) const {
    json::View const arguments(input);
    return std::ranges::none_of(all_, [&](Compiled const& one) {
        return excluded(one, arguments.at_pointer(one.condition.pointer));
    });
}

bool Conditions::excluded(Compiled const& one, json::View value) {
    if (!value.exists()) return false;
    auto const& [condition, pattern] = one;
    if (!condition.equals.is_null() && differs(value, json::View(condition.equals))) return true;
    return (pattern && mismatches(value, *pattern)) || is_outside(value, condition);
}

}  // namespace dormouse::external
