#pragma once
// Events out of bytes that come in chunks with boundaries anywhere: server-sent ones (WHATWG HTML,
// 9.2), and lines of JSON.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace dormouse::model {

class SseParser {
public:
    // Called for each event that has data; its lines are joined by line feeds.
    using Each = std::function<void(std::string_view name, std::string_view data)>;

    // An event larger than `event_max` bytes ends the parsing.
    explicit SseParser(std::size_t event_max) : event_max_(event_max) {}

    // False, from then on: an event was too large.
    [[nodiscard]] bool feed(std::string_view chunk, Each const& each);

private:
    void take_line(Each const& each);
    void take_field(std::string_view field, std::string_view value);

    std::size_t event_max_;
    std::string line_;
    std::string name_;
    std::string data_;
    bool has_data_ = false;
    bool after_return_ = false;  // a line feed now belongs to the line before it
    bool first_line_ = true;     // may begin with a byte order mark
};

// Lines that are not blank, each one event without a name.
class LineParser {
public:
    explicit LineParser(std::size_t event_max) : event_max_(event_max) {}

    [[nodiscard]] bool feed(std::string_view chunk, SseParser::Each const& each);

private:
    std::size_t event_max_;
    std::string line_;
};

}  // namespace dormouse::model
