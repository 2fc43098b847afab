#pragma once
// Text for people: colours, aligned tables, ages, and the API's objects in words. Pure. Everything
// that comes from outside passes escape_for_terminal() here; nothing else prints what the server
// sent.

#include <dormouse/time.h>

#include "base/width.h"
#include "json/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

enum class Paint : std::uint8_t { plain, bold, dim, red, green, yellow, cyan };

// Colours, or none: only a terminal gets them.
struct Style {
    bool color = false;
    [[nodiscard]] std::string operator()(Paint paint, std::string_view text) const;
};

// How a column gives way when the table is wider than the terminal.
enum class Narrow : std::uint8_t {
    no,
    id,      // to the shortest beginnings that are unique here; they go first, nothing is lost
    id_end,  // to …ENDING, the shortest endings that are unique here; the commands take them
    words,   // with …, the widest first
    last,    // like words, when those can give no more
};
struct Column {
    Column(char const* name, Narrow how = Narrow::no) : head(name), narrow(how) {}
    std::string head;
    Narrow narrow;
};

// Columns as wide as their widest cell; two spaces between; the last column is not padded.
class Table {
public:
    explicit Table(std::vector<Column> columns);
    // Cells are escaped here; REQUIRES: as many as there are columns.
    void add(std::vector<std::string> cells, Paint paint = Paint::plain);
    // No line is wider than `terminal` columns (0: not a terminal, nothing is cut).
    [[nodiscard]] std::string text(Style style, std::size_t terminal = 0) const;
    [[nodiscard]] bool empty() const { return rows_.size() == 1; }

private:
    using Rows = std::vector<std::vector<std::string>>;
    [[nodiscard]] Rows fitted(std::size_t terminal) const;

    std::vector<Narrow> narrow_;
    Rows rows_;
    std::vector<Paint> paints_{Paint::bold};
};

// The same JSON value with all that escape_for_terminal() escapes as \uXXXX.
[[nodiscard]] std::string json_for_terminal(std::string_view json);

// "3 s", "12 min", "5 h 10 min", "3 d 4 h": rounded down to what matters.
[[nodiscard]] std::string in_words(Duration duration);
[[nodiscard]] std::string ago(std::int64_t at_ms, Time now);  // "3 min ago"; "-" for 0
[[nodiscard]] std::string ahead(std::int64_t at_ms,
                                Time now);  // "in 3 min", "3 min overdue"; "none" for 0
[[nodiscard]] std::string clock_text(std::int64_t at_ms);  // local time of day, HH:MM:SS

// A JSON value in a line: a string as it is, everything else compact.
[[nodiscard]] std::string plain(json::View value);
// An output in a line; of one that was kept as an artifact its beginning, its size, and how to get
// all of it.
[[nodiscard]] std::string output_words(json::View output);

// One line on what the session does: "waits for deploy (pnd_…)", "busy, step 2".
[[nodiscard]] std::string activity_text(json::View activity);
[[nodiscard]] std::string sessions_table(json::View items, Time now, Style style,
                                         std::size_t terminal = 0);
// Why a call waits, as people call it: "approval", "in doubt", "timer".
[[nodiscard]] std::string reason_word(json::View call);
[[nodiscard]] std::string pending_table(json::View items, Time now, Style style,
                                        std::size_t terminal = 0);
[[nodiscard]] std::string deliveries_table(json::View items, Time now, Style style,
                                           std::size_t terminal = 0);
[[nodiscard]] std::string tasks_table(json::View items, Style style, std::size_t terminal = 0);
[[nodiscard]] std::string agents_table(json::View items, Style style, std::size_t terminal = 0);
// "target, branch?": what a tool takes, by its schema.
[[nodiscard]] std::string tool_arguments(json::View tool);
[[nodiscard]] std::string tools_table(json::View items, Style style, std::size_t terminal = 0);
// A call that changed, in a line: "21:13:05  waiting     pnd_…  deploy {"target":"A"}  …".
[[nodiscard]] std::string pending_line(json::View call, Time now, Style style);
[[nodiscard]] std::string session_text(json::View session, Time now, Style style);
[[nodiscard]] std::string message_text(json::View message, Style style);
[[nodiscard]] std::string pending_text(json::View call, Time now, Style style);
// What a submission left behind: "applied: result, completed, sha256:…".
[[nodiscard]] std::string submission_text(json::View answer);
// Who settled what, when, and which step used it: the answer of explain.
[[nodiscard]] std::string explain_text(json::View answer, Time now, Style style);
[[nodiscard]] std::string repair_text(json::View report, Style style);
// `before`: whether the pages before this one were well; nullopt: it is the first.
[[nodiscard]] std::string doctor_text(json::View report, Time now, Style style,
                                      std::optional<bool> before = {});

// What waits, and the commands that settle it; `flags` is repeated_flags(). Ends in a line break.
[[nodiscard]] std::string how_to_settle(json::View call, Time now, std::string const& flags,
                                        Style style);

}  // namespace dormouse::cli
