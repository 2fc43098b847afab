#pragma once
// Text for the terminal: colours, aligned tables, ages, and the API's objects. Pure. All text of
// the server passes escape_for_terminal() here; no other code prints it.

#include <dormouse/time.h>

#include "base/text/width.h"
#include "json/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

enum class Paint : std::uint8_t { plain, bold, dim, red, green, yellow, cyan };

// Paints text, or not: only a terminal gets colours.
struct Style {
    bool color = false;
    [[nodiscard]] std::string operator()(Paint paint, std::string_view text) const;
};

// The way in which a column shrinks when the table is wider than the terminal.
enum class Narrow : std::uint8_t {
    no,
    id,      // to the shortest unique beginnings; shrunk first, because nothing is lost
    id_end,  // to …ENDING, the shortest unique endings; commands accept them
    words,   // cut with …, the widest first
    last,    // like words, after those cannot shrink further
};
struct Column {
    Column(char const* name, Narrow how = Narrow::no) : head(name), narrow(how) {}
    std::string head;
    Narrow narrow;
};

// A table with columns as wide as their widest cell and two spaces between them; the last column is
// not padded.
class Table {
public:
    explicit Table(std::vector<Column> columns);
    // Adds a row and escapes its cells. REQUIRES: one cell for each column.
    void add(std::vector<std::string> cells, Paint paint = Paint::plain);
    // Returns lines of at most `terminal` columns (0: not a terminal, nothing is cut).
    [[nodiscard]] std::string text(Style style, std::size_t terminal = 0) const;
    [[nodiscard]] bool empty() const { return rows_.size() == 1; }

private:
    using Rows = std::vector<std::vector<std::string>>;
    [[nodiscard]] Rows fitted(std::size_t terminal) const;

    std::vector<Narrow> narrow_;
    Rows rows_;
    std::vector<Paint> paints_{Paint::bold};
};

// Returns the same JSON value with everything that escape_for_terminal() escapes as \uXXXX.
[[nodiscard]] std::string json_for_terminal(std::string_view json);

// Formats a duration, rounded down to two units: "3 s", "12 min", "5 h 10 min", "3 d 4 h".
[[nodiscard]] std::string in_words(Duration duration);
[[nodiscard]] std::string ago(std::int64_t at_ms, Time now);  // "3 min ago"; "-" for 0
[[nodiscard]] std::string ahead(std::int64_t at_ms,
                                Time now);  // "in 3 min", "3 min overdue"; "none" for 0
[[nodiscard]] std::string clock_text(std::int64_t at_ms);  // local time of day, HH:MM:SS

// Returns a JSON value on one line: a string unquoted, everything else as compact JSON.
[[nodiscard]] std::string plain(json::View value);
// Returns an output on one line. For an output stored as an artifact: its beginning, its size and
// the command that reads all of it.
[[nodiscard]] std::string output_words(json::View output);

// Describes what the session does: "waits for deploy (pnd_…)", "busy, step 2".
[[nodiscard]] std::string activity_text(json::View activity);
// `first`: the number of the first row, in a column before it; 0: rows have no numbers.
[[nodiscard]] std::string sessions_table(json::View items, Time now, Style style,
                                         std::size_t terminal = 0, std::size_t first = 0);
// Returns why a call waits, in words for people: "approval", "in doubt", "timer".
[[nodiscard]] std::string reason_word(json::View call);
[[nodiscard]] std::string pending_table(json::View items, Time now, Style style,
                                        std::size_t terminal = 0, std::size_t first = 0);
[[nodiscard]] std::string deliveries_table(json::View items, Time now, Style style,
                                           std::size_t terminal = 0);
[[nodiscard]] std::string audit_table(json::View items, Time now, Style style,
                                      std::size_t terminal = 0);
[[nodiscard]] std::string tasks_table(json::View items, Style style, std::size_t terminal = 0);
[[nodiscard]] std::string agents_table(json::View items, Style style, std::size_t terminal = 0);
// Lists the arguments of a tool by its schema: "target, branch?".
[[nodiscard]] std::string tool_arguments(json::View tool);
[[nodiscard]] std::string tools_table(json::View items, Style style, std::size_t terminal = 0);
// Formats a changed call on one line: "21:13:05  waiting     pnd_…  deploy {"target":"A"}  …".
[[nodiscard]] std::string pending_line(json::View call, Time now, Style style);
[[nodiscard]] std::string session_text(json::View session, Time now, Style style);
[[nodiscard]] std::string message_text(json::View message, Style style);
[[nodiscard]] std::string pending_text(json::View call, Time now, Style style);
// Describes the receipt of a submission: "applied: result, completed, sha256:…".
[[nodiscard]] std::string submission_text(json::View answer);
// Formats the answer of explain: who settled which call, when, and which step used it.
[[nodiscard]] std::string explain_text(json::View answer, Time now, Style style);
[[nodiscard]] std::string repair_text(json::View report, Style style);
// Says for which members of the report not all was looked at; empty: all was.
[[nodiscard]] std::string cut_text(json::View report, Style style);
// `before`: whether the earlier pages reported no problem; nullopt: this is the first page.
[[nodiscard]] std::string doctor_text(json::View report, Time now, Style style,
                                      std::optional<bool> before = {});

// Shows what waits and the commands that settle it; `flags` is repeated_flags(). Ends in a line
// break.
[[nodiscard]] std::string how_to_settle(json::View call, Time now, std::string const& flags,
                                        Style style);

}  // namespace dormouse::cli
