#pragma once
// Shared by reading and writing of typed values (include/dormouse/schema.h).

#include <dormouse/schema.h>

#include "json/json.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::json {

inline constexpr Rule no_rule{};

// The current place in a value, and the problems found so far.
class Walk {
public:
    static constexpr std::size_t problems_max = 16;

    // Enters a member or item for the lifetime of the step. Steps are on the stack, and are
    // formatted only for a problem.
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
        std::string_view name_;  // of a member; null data: an item
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

// An integer of up to 64 bits, signed or unsigned.
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
// Bounds of integers of that size.
[[nodiscard]] Integer least(detail::Type const& type);
[[nodiscard]] Integer greatest(detail::Type const& type);
// The stored value of an integer, enumeration or duration.
[[nodiscard]] Integer load(detail::Type const& type, void const* object);
// REQUIRES: it fits.
void store(detail::Type const& type, Integer number, void* object);

[[nodiscard]] std::string text_of(Bound const& bound);

// Each adds the violations of a rule.
void check_number(Walk& walk, Rule const& rule, Integer const& number);
void check_number(Walk& walk, Rule const& rule, double number);
void check_text(Walk& walk, Rule const& rule, std::string_view text);
void check_size(Walk& walk, Rule const& rule, std::size_t size, std::string_view unit);

// A bit for each required field: not optional, initialised with the zero of its type, and not
// exempted by its rule.
[[nodiscard]] std::uint64_t required_fields(detail::Type const& structure);

// The value of the field alone, checked against its rule.
[[nodiscard]] Result<Json> write_field(detail::Field const& field, void const* object);

// "250ms", "5s"; empty: not representable.
[[nodiscard]] std::string duration_text(Integer const& ticks, std::int64_t tick_ms);
inline constexpr std::string_view duration_pattern = "^(0|[1-9][0-9]{0,8})(ms|s|m|h|d)$";

}  // namespace dormouse::json
