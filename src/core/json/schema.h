#pragma once
// JSON Schema check (draft 7 subset). schema.cc is the only place that names valijson.

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

// A step takes about a microsecond, whatever the schema and the value say. One run takes at most
// `steps_max`, and where others wait meanwhile at most `steps_soon`.
inline constexpr std::size_t steps_max = 1'000'000;
inline constexpr std::size_t steps_soon = 5'000;

// A schema read once and used often. Immutable; a broken one says so in every answer, as
// violations() does.
class Schema {
public:
    explicit Schema(Json const& schema);
    ~Schema();
    Schema(Schema&&) noexcept;
    Schema& operator=(Schema&&) noexcept;

    [[nodiscard]] std::vector<Violation> violations(Json const& value) const;
    // The same; nullopt when it would take more steps than these, and these are not `steps_max`.
    [[nodiscard]] std::optional<std::vector<Violation>> violations_within(std::size_t steps,
                                                                          Json const& value) const;

private:
    struct Compiled;
    std::unique_ptr<Compiled const> compiled_;
};

// Empty: `value` satisfies `schema`. A schema that is itself broken gives one violation with
// pointer "#".
[[nodiscard]] std::vector<Violation> violations(Json const& schema, Json const& value);
[[nodiscard]] std::optional<std::vector<Violation>> violations_within(std::size_t steps,
                                                                      Json const& schema,
                                                                      Json const& value);

}  // namespace dormouse::json
