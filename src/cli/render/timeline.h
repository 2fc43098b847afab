#pragma once
// The timeline of a session as lanes, made from its events alone and drawn as text. Pure. The page
// folds events in the same way (web/src/lib/timeline.ts, timeline-text.ts); the tests of both
// compare with the same files.

#include "cli/render/render.h"
#include "json/json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

// Times are Unix milliseconds. An empty end: not ended yet.
struct Timeline {
    enum class End : std::uint8_t { ok, failed, cut };
    enum class WaitsFor : std::uint8_t { person, job, timer };
    using OptionalTime = std::optional<std::int64_t>;

    // A model request or an attempt of a tool.
    struct Bar {
        std::int64_t start = 0;
        OptionalTime end = {};
        std::int64_t attempt = 1;
        End how = End::ok;
    };
    struct Wait {
        std::int64_t start = 0;
        OptionalTime end = {};
        WaitsFor kind = WaitsFor::job;
        std::string label = {};
    };
    struct Mark {
        std::int64_t at = 0;
        std::string text = {};
    };
    struct Call {
        std::string id = {};
        std::string tool = {};
        std::vector<Bar> bars = {};
        std::vector<Wait> waits = {};
        std::optional<Mark> settled = {};  // done, failed, denied, expired, cancelled
        std::vector<Mark> notes = {};      // duplicate, conflict, late_result, …
    };
    struct Wake {
        std::int64_t at = 0;
        std::string name = {};
        std::string verb = {};
    };
    struct Sleep {
        std::int64_t start = 0;
        OptionalTime end = {};
        std::optional<Wake> wake = {};
        bool restarted = false;  // the server was started again, and nothing was lost
    };
    struct Crash {
        std::int64_t at = 0;  // when the server was last known to run
        std::int64_t started = 0;
        bool clean = false;  // it was stopped, not killed
    };
    struct Turn {
        std::int64_t number = 0;
        std::int64_t start = 0;
        OptionalTime end = {};
        bool failed = false;
    };
    struct Use {
        std::int64_t at = 0;
        std::int64_t tokens = 0;                        // up to then
        std::map<std::string, std::int64_t> cost = {};  // the same, as read_cost() gives it
    };

    std::int64_t start = 0;
    std::int64_t end = 0;
    std::vector<Turn> turns = {};
    std::vector<Bar> model = {};
    std::vector<Call> calls = {};
    std::vector<Sleep> sleeps = {};
    std::vector<Wake> wakes = {};
    std::vector<Crash> crashes = {};
    std::vector<Use> use = {};
};

// Folds events in the order of their numbers.
class TimelineFold {
public:
    // A start of the server as GET /api/starts lists it; before the events. Without it the events
    // beside a crash say about when it was.
    void start(json::View start);
    void add(json::View event);
    // `now` is the end of a turn that is open. The fold is empty afterwards.
    [[nodiscard]] Timeline done(std::int64_t now);

private:
    using Call = Timeline::Call;

    struct Start {
        std::int64_t epoch = 0;
        std::int64_t started = 0;
        Timeline::OptionalTime alive = {};
        bool clean = false;
    };

    [[nodiscard]] Start const* start_of(std::int64_t epoch) const;
    [[nodiscard]] Timeline::Crash crash(std::int64_t before, std::int64_t epoch,
                                        std::int64_t until) const;
    void restart(json::View data, std::int64_t at);
    void work(json::View event, json::View data, std::string_view type, std::int64_t at);
    void model_event(json::View data, std::string_view type, std::int64_t at);
    void call_event(json::View data, std::string_view type, std::int64_t at);
    void outcome(Call& call, json::View data, std::string_view type, std::int64_t at);
    void activity(json::View event, std::int64_t at);
    [[nodiscard]] Call& call_of(json::View data);
    [[nodiscard]] Timeline::WaitsFor last_wait(json::View data) const;

    std::vector<Start> starts_;
    Timeline line_;
    std::optional<std::int64_t> epoch_;
    std::optional<Timeline::Wake> cause_;
    std::int64_t last_ = 0;
    std::int64_t tokens_ = 0;
    std::map<std::string, std::int64_t> cost_;
};

// Draws the lanes in lines of at most `columns` (40 or more), as bands one below the other.
[[nodiscard]] std::string timeline_text(Timeline const& line, std::string_view title,
                                        std::size_t columns, Style style);
[[nodiscard]] Json timeline_json(Timeline const& line);

}  // namespace dormouse::cli
