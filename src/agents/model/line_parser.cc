#include "model/line_parser.h"

#include <utility>

namespace dormouse::model {

bool LineParser::feed(std::string_view chunk, Each const& each) {
    while (!chunk.empty()) {
        auto const end = chunk.find('\n');
        line_ += chunk.substr(0, end);
        if (line_.size() > line_max_) return false;
        if (end == std::string_view::npos) return true;
        chunk.remove_prefix(end + 1);
        std::string const taken = std::exchange(line_, {});
        if (taken.find_first_not_of(" \t\r") != std::string::npos) each(taken);
    }
    return true;
}

}  // namespace dormouse::model
