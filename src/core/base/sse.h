#pragma once
// Parser of Server-Sent Events (WHATWG HTML, 9.2): takes chunks with any boundaries. Pure.

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace dormouse {

struct SseEvent {
    std::string id;    // the last id of the stream; empty: none yet
    std::string name;  // empty: unnamed
    std::string data;  // lines joined by line feeds
};

// Parses one connection. Skips comments and events without data; last_id() keeps their ids.
class SseParser {
public:
    using Each = std::function<void(SseEvent const&)>;

    // An event larger than `event_max` bytes ends the parsing.
    explicit SseParser(std::size_t event_max = std::numeric_limits<std::size_t>::max())
        : event_max_(event_max) {}

    // Calls `each` for the events that `chunk` completes. Returns false, from then on, if an event
    // was too large.
    [[nodiscard]] bool feed(std::string_view chunk, Each const& each);
    // The id of the newest complete frame that has one, also of a frame without data: a stream that
    // begins "now" sends its position in one. Empty: none yet.
    [[nodiscard]] std::string const& last_id() const { return last_id_; }

private:
    void take_line(Each const& each);

    std::size_t event_max_;
    std::string line_;
    SseEvent event_;
    std::string last_id_;
    bool has_data_ = false;
    bool after_return_ = false;  // a line feed now belongs to the line before it
    bool first_line_ = true;     // may begin with a byte order mark
};

}  // namespace dormouse
