#include "cli/client/saved/last_list.h"

#include "base/text/text.h"
#include "cli/client/saved/settings.h"

#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <sstream>

namespace dormouse::cli {
namespace {

constexpr std::size_t terminals_max = 16;

std::vector<std::string> words_of(std::string const& line) {
    std::istringstream in(line);
    std::vector<std::string> out;
    for (std::string word; in >> word;) out.push_back(word);
    return out;
}

std::vector<std::vector<std::string>> stored_lists(std::string const& directory) {
    std::ifstream file(directory + "/last-lists");
    std::vector<std::vector<std::string>> out;
    for (std::string line; out.size() < terminals_max && std::getline(file, line);) {
        auto words = words_of(line);
        if (words.size() >= 2) out.push_back(std::move(words));
    }
    return out;
}

}  // namespace

// The number of a session leader is used again after it has ended; with its start it is unique.
std::string terminal_name() {
    auto const leader = std::to_string(::getsid(0));
    std::ifstream file("/proc/" + leader + "/stat");
    std::string stat;
    std::getline(file, stat);
    constexpr std::size_t start_field = 19;  // of those after the name in parentheses
    auto const end = stat.rfind(')');
    if (end == std::string::npos) return {};
    auto const fields = words_of(stat.substr(end + 1));
    return fields.size() > start_field ? leader + "." + fields[start_field] : std::string();
}

std::vector<std::string> last_list(std::string const& directory, std::string const& terminal,
                                   std::string const& url) {
    if (directory.empty() || terminal.empty()) return {};
    for (auto const& words : stored_lists(directory))
        if (words[0] == terminal && words[1] == url) return {words.begin() + 2, words.end()};
    return {};
}

void remember_list(std::string const& directory, std::string const& terminal,
                   std::string const& url, std::vector<std::string> const& ids) {
    if (directory.empty() || terminal.empty()) return;
    std::string kept = terminal + " " + url;
    for (std::size_t i = 0; i < ids.size() && i < listed_max; ++i) kept += " " + ids[i];
    kept += "\n";
    std::size_t count = 1;
    for (auto const& words : stored_lists(directory)) {
        if (words[0] == terminal || count == terminals_max) continue;
        for (std::size_t i = 0; i < words.size(); ++i) kept += (i == 0 ? "" : " ") + words[i];
        kept += "\n";
        ++count;
    }
    replace_private(directory, "last-lists", kept);
}

std::optional<std::size_t> line_number(std::string_view given) {
    constexpr std::size_t digits_max = 3;
    if (given.starts_with('#')) given.remove_prefix(1);
    if (given.empty() || given.size() > digits_max) return std::nullopt;
    auto const number = parse_number(given);
    if (!number || *number == 0 || *number > listed_max) return std::nullopt;
    return static_cast<std::size_t>(*number);
}

}  // namespace dormouse::cli
