#include "json/typed/typed.h"

#include "base/check.h"
#include "base/text/utf8.h"
#include "json/schema/pattern.h"

#include <cstring>
#include <limits>

namespace dormouse::json {

using detail::Type;

void Walk::Step::append_to(std::string& pointer) const {
    if (above_ != nullptr) above_->append_to(pointer);
    pointer += '/';
    if (name_.data() == nullptr) pointer += std::to_string(index_);
    for (char const c : name_) pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
}

void Walk::wrong(std::string message) {
    if (!enough()) problems_.push_back({pointer(), std::move(message)});
}

std::string Walk::pointer() const {
    std::string out;
    if (deepest_ != nullptr) deepest_->append_to(out);
    return out;
}

Error Walk::error() const {
    CHECK(!clean());
    Writer extra;
    extra.begin_object().key("errors").begin_array();
    std::string text;
    for (Problem const& problem : problems_) {
        extra.begin_object()
            .member("pointer", problem.pointer)
            .member("message", problem.message)
            .end_object();
        if (!text.empty()) text += "; ";
        text += problem.pointer + (problem.pointer.empty() ? "it " : " ") + problem.message;
    }
    extra.end_array().end_object();
    return {Code::bad_value, std::move(text), extra.json()};
}

Integer integer_of(std::int64_t number) {
    auto const bits = static_cast<std::uint64_t>(number);
    return {number < 0, number < 0 ? 0 - bits : bits};
}

bool operator<(Integer const& a, Integer const& b) {
    bool const a_below = a.negative && a.size != 0;
    bool const b_below = b.negative && b.size != 0;
    if (a_below != b_below) return a_below;
    return a_below ? a.size > b.size : a.size < b.size;
}

Integer least(Type const& type) {
    return type.is_signed ? Integer{true, std::uint64_t{1} << (8 * type.bytes - 1)} : Integer{};
}
Integer greatest(Type const& type) {
    std::uint64_t const all = std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * type.bytes);
    return {false, type.is_signed ? all >> 1 : all};
}

namespace {

template <class Unsigned> std::uint64_t copied(void const* object) {
    Unsigned bits = 0;
    std::memcpy(&bits, object, sizeof bits);
    return bits;
}
template <class Unsigned> void copy(std::uint64_t number, void* object) {
    auto const bits = static_cast<Unsigned>(number);
    std::memcpy(object, &bits, sizeof bits);
}

std::uint64_t bits_of(std::size_t bytes, void const* object) {
    switch (bytes) {
        case 1: return copied<std::uint8_t>(object);
        case 2: return copied<std::uint16_t>(object);
        case 4: return copied<std::uint32_t>(object);
        default: return copied<std::uint64_t>(object);
    }
}

}  // namespace

Integer load(Type const& type, void const* object) {
    std::uint64_t const bits = bits_of(type.bytes, object);
    bool const negative = type.is_signed && ((bits >> (8 * type.bytes - 1)) & 1) != 0;
    if (!negative) return {false, bits};
    std::uint64_t const all = std::numeric_limits<std::uint64_t>::max();
    return {true, 0 - (type.bytes == 8 ? bits : bits | (all << (8 * type.bytes)))};
}

void store(Type const& type, Integer number, void* object) {
    std::uint64_t const bits = number.negative ? 0 - number.size : number.size;
    switch (type.bytes) {
        case 1: return copy<std::uint8_t>(bits, object);
        case 2: return copy<std::uint16_t>(bits, object);
        case 4: return copy<std::uint32_t>(bits, object);
        default: return copy<std::uint64_t>(bits, object);
    }
}

std::string text_of(Bound const& bound) {
    if (bound.kind == Bound::Kind::integer) return std::to_string(bound.integer);
    Writer out;
    out.value(bound.real);
    return out.take();
}

namespace {

// Returns true if the number is below the bound; exact if both are integers.
bool below(Integer const& number, Bound const& bound) {
    if (bound.kind == Bound::Kind::integer) return number < integer_of(bound.integer);
    return bound.kind == Bound::Kind::real && number.real() < bound.real;
}
bool above(Integer const& number, Bound const& bound) {
    if (bound.kind == Bound::Kind::integer) return integer_of(bound.integer) < number;
    return bound.kind == Bound::Kind::real && number.real() > bound.real;
}
double real(Bound const& bound) {
    return bound.kind == Bound::Kind::integer ? static_cast<double>(bound.integer) : bound.real;
}
bool below(double number, Bound const& bound) {
    return bound.kind != Bound::Kind::none && number < real(bound);
}
bool above(double number, Bound const& bound) {
    return bound.kind != Bound::Kind::none && number > real(bound);
}

template <class Number> void check(Walk& walk, Rule const& rule, Number const& number) {
    if (below(number, rule.min)) walk.wrong("must be at least " + text_of(rule.min));
    if (above(number, rule.max)) walk.wrong("must be at most " + text_of(rule.max));
}

}  // namespace

void check_number(Walk& walk, Rule const& rule, Integer const& number) {
    check(walk, rule, number);
}
void check_number(Walk& walk, Rule const& rule, double number) { check(walk, rule, number); }

void check_size(Walk& walk, Rule const& rule, std::size_t size, std::string_view unit) {
    Integer const number{false, size};
    if (below(number, rule.min_size))
        walk.wrong("must have at least " + text_of(rule.min_size) + " " + std::string(unit));
    if (above(number, rule.max_size))
        walk.wrong("must have at most " + text_of(rule.max_size) + " " + std::string(unit));
}

void check_text(Walk& walk, Rule const& rule, std::string_view text) {
    bool const sized =
        rule.min_size.kind != Bound::Kind::none || rule.max_size.kind != Bound::Kind::none;
    if (sized) check_size(walk, rule, count_utf8(text), "characters");
    if (rule.pattern.empty()) return;
    if (auto why = pattern_mismatch(std::string(rule.pattern), std::string(text)); !why.empty())
        walk.wrong(std::move(why));
}

std::string duration_text(Integer const& ticks, std::int64_t tick_ms) {
    constexpr std::uint64_t digits_end = 1'000'000'000;
    constexpr std::pair<std::uint64_t, std::string_view> units[] = {
        {86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}, {1, "ms"}};
    auto const tick = static_cast<std::uint64_t>(tick_ms);
    if (ticks.negative && ticks.size != 0) return {};
    if (ticks.size == 0) return "0s";
    if (ticks.size > std::numeric_limits<std::uint64_t>::max() / tick) return {};
    std::uint64_t const ms = ticks.size * tick;
    for (auto const& [unit, name] : units) {
        if (ms % unit != 0) continue;
        if (ms / unit >= digits_end) return {};
        return std::to_string(ms / unit) + std::string(name);
    }
    return {};
}

}  // namespace dormouse::json
