#pragma once
// Lines of JSON out of bytes that come in chunks with boundaries anywhere.

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

    // False, from then on: a line was too large.
    [[nodiscard]] bool feed(std::string_view chunk, Each const& each);

private:
    std::size_t line_max_;
    std::string line_;
};

}  // namespace dormouse::model
