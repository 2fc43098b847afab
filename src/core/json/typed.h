#pragma once
// What reading and writing of typed values have in common (include/dormouse/schema.h).

#include <dormouse/schema.h>

#include "json/json.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::json {

inline constexpr Rule no_rule{};

// Where a walk through a value is, and what it found wrong there.
class Walk {
public:
    static constexpr std::size_t problems_max = 16;

    // Goes into a member or item for the life of the step. Steps lie on the stack, and are spelled
    // out only when something is wrong.
    class Step {
    public:
        Step(Walk& walk, std::string_view name) : Step(walk, name, 0) {}
        Step(Walk& walk, std::size_t index) : Step(walk, {}, index) {}
        Step(Step const&) = delete;
        Step& operator=(Step const&) = delete;
        ~Step() { walk_.deepest_ = above_; }

        void append_to(std::string& pointer) const;

    private:
        Step(Walk& walk, std::string_view name, std::size_t index)
            : walk_(walk), above_(walk.deepest_), name_(name), index_(index) {
            walk.deepest_ = this;
        }

        Walk& walk_;
        Step const* above_;
        std::string_view name_;  // of a member; without data: an item
        std::size_t index_;
    };

    void wrong(std::string message);
    [[nodiscard]] bool enough() const { return problems_.size() >= problems_max; }
    [[nodiscard]] bool clean() const { return problems_.empty(); }
    [[nodiscard]] Error error() const;  // bad_value; REQUIRES: !clean()

private:
    struct Problem {
        std::string pointer;
        std::string message;
    };
    [[nodiscard]] std::string pointer() const;

    Step const* deepest_ = nullptr;
    std::vector<Problem> problems_;
};

// An integer of up to 64 bits, signed or not.
struct Integer {
    bool negative = false;
    std::uint64_t size = 0;

    [[nodiscard]] double real() const {
        return negative ? -static_cast<double>(size) : static_cast<double>(size);
    }
    [[nodiscard]] std::string text() const {
        return (negative && size != 0 ? "-" : "") + std::to_string(size);
    }
};
[[nodiscard]] Integer integer_of(std::int64_t number);
[[nodiscard]] bool operator<(Integer const& a, Integer const& b);
// What integers of that many bytes can hold.
[[nodiscard]] Integer least(detail::Type const& type);
[[nodiscard]] Integer greatest(detail::Type const& type);
// Of an integer, enumeration or duration, as it is kept.
[[nodiscard]] Integer load(detail::Type const& type, void const* object);
// REQUIRES: it fits.
void store(detail::Type const& type, Integer number, void* object);

[[nodiscard]] std::string text_of(Bound const& bound);

// Each says what a rule finds wrong.
void check_number(Walk& walk, Rule const& rule, Integer const& number);
void check_number(Walk& walk, Rule const& rule, double number);
void check_text(Walk& walk, Rule const& rule, std::string_view text);
void check_size(Walk& walk, Rule const& rule, std::size_t size, std::string_view unit);

// Which fields may not be left out, a bit each: those that are no optional, whose initialiser is
// the zero of their type, and whose rule does not say otherwise.
[[nodiscard]] std::uint64_t required_fields(detail::Type const& structure);

// A value of the field by itself, held against its rule.
[[nodiscard]] Result<Json> write_field(detail::Field const& field, void const* object);

// "250ms", "5s"; empty: it has no such form.
[[nodiscard]] std::string duration_text(Integer const& ticks, std::int64_t tick_ms);
inline constexpr std::string_view duration_pattern = "^(0|[1-9][0-9]{0,8})(ms|s|m|h|d)$";

}  // namespace dormouse::json
