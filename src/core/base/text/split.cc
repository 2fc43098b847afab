#include "base/text/split.h"

#include "base/text/cut.h"
#include "base/text/text.h"

#include <algorithm>

namespace dormouse {

std::vector<std::string_view> split_list(std::string_view text, char separator) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        auto const end = std::min(text.find(separator), text.size());
        if (auto const one = trimmed(text.substr(0, end)); !one.empty()) out.push_back(one);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::vector<std::string> lower_cased(std::vector<std::string> texts) {
    for (std::string& text : texts) text = lower_case(text);
    return texts;
}

}  // namespace dormouse
