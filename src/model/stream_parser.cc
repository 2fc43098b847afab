#include "model/stream_parser.h"

#include <utility>

namespace dormouse::model {

bool SseParser::feed(std::string_view chunk, Each const& each) {
    while (!chunk.empty()) {
        if (std::exchange(after_return_, false) && chunk.front() == '\n') {
            chunk.remove_prefix(1);
            continue;
        }
        auto const end = chunk.find_first_of("\r\n");
        line_ += chunk.substr(0, end);
        if (line_.size() + data_.size() > event_max_) return false;
        if (end == std::string_view::npos) return true;
        after_return_ = chunk[end] == '\r';
        chunk.remove_prefix(end + 1);
        take_line(each);
    }
    return true;
}

void SseParser::take_line(Each const& each) {
    std::string const taken = std::exchange(line_, {});
    std::string_view line = taken;
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (std::exchange(first_line_, false) && line.starts_with(mark)) line.remove_prefix(3);
    if (line.empty()) {
        std::string const name = std::exchange(name_, {});
        std::string const data = std::exchange(data_, {});
        if (std::exchange(has_data_, false)) each(name, data);
        return;
    }
    auto const colon = line.find(':');
    auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    take_field(line.substr(0, colon), value);
}

void SseParser::take_field(std::string_view field, std::string_view value) {
    if (field == "event") name_ = value;
    if (field != "data") return;
    if (std::exchange(has_data_, true)) data_ += '\n';
    data_ += value;
}

bool LineParser::feed(std::string_view chunk, SseParser::Each const& each) {
    while (!chunk.empty()) {
        auto const end = chunk.find('\n');
        line_ += chunk.substr(0, end);
        if (line_.size() > event_max_) return false;
        if (end == std::string_view::npos) return true;
        chunk.remove_prefix(end + 1);
        std::string const taken = std::exchange(line_, {});
        if (taken.find_first_not_of(" \t\r") != std::string::npos) each({}, taken);
    }
    return true;
}

}  // namespace dormouse::model
