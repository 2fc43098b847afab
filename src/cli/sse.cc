#include "cli/sse.h"

#include "base/text.h"

#include <utility>

namespace dormouse::cli {

std::vector<SseEvent> SseParser::feed(std::string_view bytes) {
    std::vector<SseEvent> out;
    for (char const c : bytes) {
        bool const second_half =
            std::exchange(after_cr_, c == '\r') && c == '\n';  // CR LF is one end
        if (second_half) continue;
        if (c == '\r' || c == '\n') {
            take_line(line_, out);
            line_.clear();
        } else {
            line_ += c;
        }
    }
    return out;
}

void SseParser::restart() {
    last_id_ = whole_id_;
    line_.clear();
    event_.clear();
    data_.clear();
    has_data_ = false;
    after_cr_ = false;
}

void SseParser::take_line(std::string_view line, std::vector<SseEvent>& out) {
    if (line.empty()) {
        whole_id_ = last_id_;
        if (has_data_) {
            auto name = event_.empty() ? std::string("message") : event_;
            out.push_back({last_id_, std::move(name), data_});
        }
        event_.clear();
        data_.clear();
        has_data_ = false;
        return;
    }
    auto const colon = line.find(':');
    if (colon == 0) return;  // a comment: the heartbeat
    auto const name = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    take_field(name, value);
}

void SseParser::take_field(std::string_view name, std::string_view value) {
    if (name == "event") event_ = value;
    if (name == "id" && value.find('\0') == std::string_view::npos) last_id_ = value;
    if (name == "retry") {
        auto const number = parse_number(value);
        if (number && *number <= 3'600'000) retry_ms_ = static_cast<int>(*number);
    }
    if (name == "data") {
        if (has_data_) data_ += '\n';
        data_ += value;
        has_data_ = true;
    }
}

}  // namespace dormouse::cli
