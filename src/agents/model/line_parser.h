#pragma once
// Splits chunks of bytes with any boundaries into lines of JSON.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace dormouse::model {

class LineParser {
public:
    // Called for each line that is not blank.
    using Each = std::function<void(std::string_view line)>;

    // A line larger than `line_max` bytes ends the parsing.
    explicit LineParser(std::size_t line_max) : line_max_(line_max) {}

    // Returns false, also for all later calls, once a line was too large.
    [[nodiscard]] bool feed(std::string_view chunk, Each const& each);

private:
    std::size_t line_max_;
    std::string line_;
};

}  // namespace dormouse::model
