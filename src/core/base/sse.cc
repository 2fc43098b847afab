#include "base/sse.h"

#include <utility>

namespace dormouse {

bool SseParser::feed(std::string_view chunk, Each const& each) {
    while (!chunk.empty()) {
        if (std::exchange(after_return_, false) && chunk.front() == '\n') {
            chunk.remove_prefix(1);
            continue;
        }
        auto const end = chunk.find_first_of("\r\n");
        line_ += chunk.substr(0, end);
        if (line_.size() + event_.data.size() > event_max_) return false;
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
        last_id_ = event_.id;
        auto const whole = std::exchange(event_, {.id = event_.id, .name = {}, .data = {}});
        if (std::exchange(has_data_, false)) each(whole);
        return;
    }
    auto const colon = line.find(':');
    auto const field = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "event") event_.name = value;
    if (field == "id" && !value.contains('\0')) event_.id = value;
    if (field != "data") return;
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
}

}  // namespace dormouse
