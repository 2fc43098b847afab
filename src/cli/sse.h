#pragma once
// Server-Sent Events (WHATWG HTML §9.2.6): bytes in, events out. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

struct SseEvent {
    std::string id;     // the last id seen; it stays until the stream names another
    std::string event;  // "message" when the stream names none
    std::string data;
};

class SseParser {
public:
    // The events that `bytes` completed. Comments are skipped; an event without data is none.
    [[nodiscard]] std::vector<SseEvent> feed(std::string_view bytes);
    [[nodiscard]] std::string const& last_id() const { return last_id_; }
    // What `retry:` asked for, in ms.
    [[nodiscard]] std::optional<int> retry_ms() const { return retry_ms_; }
    // Forgets a half-read event with its id: the connection was lost.
    void restart();

private:
    void take_line(std::string_view line, std::vector<SseEvent>& out);
    void take_field(std::string_view name, std::string_view value);

    std::string line_;
    bool after_cr_ = false;
    std::string last_id_;
    std::string whole_id_;  // that of the last event which came in full
    std::string event_;
    std::string data_;
    bool has_data_ = false;
    std::optional<int> retry_ms_;
};

}  // namespace dormouse::cli
