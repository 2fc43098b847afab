#pragma once
// Numbers of things, for people.

#include <concepts>
#include <string>
#include <string_view>

namespace dormouse {

// "1 session", "2 sessions".
template <std::integral Number>
[[nodiscard]] std::string counted(Number number, std::string_view thing) {
    std::string out = std::to_string(number);
    out.append(" ").append(thing);
    return number == 1 ? out : out + "s";
}

}  // namespace dormouse
