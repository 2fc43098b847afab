#pragma once
// The list that each terminal showed last, so that #3 means its third line. Kept in
// DIR/last-lists, for the terminal that showed it and the server that it is of.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

inline constexpr std::size_t listed_max = 200;  // lines

// Names the controlling terminal's session as no other one of this machine's boot is named; empty:
// there is no terminal.
[[nodiscard]] std::string terminal_name();

[[nodiscard]] std::vector<std::string> last_list(std::string const& directory,
                                                 std::string const& terminal,
                                                 std::string const& url);
// Ignores write errors: losing the list only costs convenience.
void remember_list(std::string const& directory, std::string const& terminal,
                   std::string const& url, std::vector<std::string> const& ids);

// Parses "#3" or "3" as 3; nullopt: it is no number of a line.
[[nodiscard]] std::optional<std::size_t> line_number(std::string_view given);

}  // namespace dormouse::cli
