#pragma once
// JSON Schema check (draft 7 subset). Only schema.cc, schema_check.cc and schema_patterns.cc use
// valijson.

#include <dormouse/error.h>
#include <dormouse/json.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::json {

struct Violation {
    std::string pointer;  // RFC 6901, into the value
    std::string message;
};

// A step takes about a microsecond for any schema and value. A check takes at most `steps_max`;
// where it delays others, at most `steps_soon`.
inline constexpr std::size_t steps_max = 1'000'000;
inline constexpr std::size_t steps_soon = 5'000;

// A schema that is read once and used often. Immutable. An invalid schema is reported by every
// check, as by violations().
class Schema {
public:
    explicit Schema(Json const& schema);
    ~Schema();
    Schema(Schema&&) noexcept;
    Schema& operator=(Schema&&) noexcept;

    [[nodiscard]] std::vector<Violation> violations(Json const& value) const;
    // The same; nullopt: it would take more than `steps`, unless `steps` is steps_max.
    [[nodiscard]] std::optional<std::vector<Violation>> violations_within(std::size_t steps,
                                                                          Json const& value) const;

private:
    struct Compiled;
    std::unique_ptr<Compiled const> compiled_;
};

// Empty: `value` satisfies `schema`. An invalid schema gives one violation with pointer "#".
[[nodiscard]] std::vector<Violation> violations(Json const& schema, Json const& value);
[[nodiscard]] std::optional<std::vector<Violation>> violations_within(std::size_t steps,
                                                                      Json const& schema,
                                                                      Json const& value);

}  // namespace dormouse::json
