#include "base/text/duration.h"

#include <cstdint>
#include <utility>

namespace dormouse {

std::string duration_text(Duration duration) {
    constexpr std::pair<std::int64_t, char const*> units[] = {
        {86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}};
    std::int64_t const ms = duration.count();
    for (auto const& [size, name] : units) {
        if (ms >= size && ms % size == 0) return std::to_string(ms / size) + name;
    }
    return std::to_string(ms) + "ms";
}

}  // namespace dormouse
