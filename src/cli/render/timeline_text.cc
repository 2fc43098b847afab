// Lanes as text. Time goes from left to right in columns: each moment at which something begins or
// ends has one, and the space between two grows with the logarithm of the time between them, and
// so that the words of a lane fit. Where the terminal ends, the lanes continue in the next band.

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/render/money.h"
#include "cli/render/timeline.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace dormouse::cli {
namespace {

using Moments = std::vector<std::int64_t>;

// Words that begin at a moment of a lane.
struct Words {
    std::size_t moment = 0;
    std::string text = {};
    std::size_t columns = 0;
    Paint paint = Paint::plain;
};
using Lane = std::vector<Words>;
using ByTime = std::multimap<std::int64_t, std::pair<std::string, Paint>>;

// One line of a band: a cell for each column. A wide character leaves the next cell empty.
class Line {
public:
    explicit Line(std::size_t columns) : cells_(columns, " "), paints_(columns, Paint::plain) {}

    void fill(std::size_t from, std::size_t to, std::string_view cell, Paint paint) {
        for (std::size_t i = from; i < std::min(to, cells_.size()); ++i) {
            cells_[i] = cell;
            paints_[i] = paint;
        }
    }
    void put(std::size_t at, std::string_view text, Paint paint) {
        for (std::size_t i = 0; i < text.size() && at < cells_.size();) {
            auto const code = decode_utf8(text.substr(i));
            auto const piece = text.substr(i, code.length);
            auto const wide = width(code.code);
            i += code.length;
            if (wide == 0) continue;
            fill(at, at + 1, piece, paint);
            if (wide == 2) fill(at + 1, at + 2, "", paint);
            at += wide;
        }
    }
    // Without spaces at the end.
    [[nodiscard]] std::string text(Style style) const {
        std::size_t end = cells_.size();
        while (end > 0 && cells_[end - 1] == " ") --end;
        std::string out;
        for (std::size_t i = 0; i < end;) {
            std::string run;
            auto const paint = paints_[i];
            for (; i < end && paints_[i] == paint; ++i) run += cells_[i];
            out += style(paint, run);
        }
        return out;
    }

private:
    std::vector<std::string> cells_;
    std::vector<Paint> paints_;
};

// Columns between two moments.
std::size_t gap(std::int64_t ms) {
    constexpr std::array<std::pair<std::int64_t, std::size_t>, 6> steps{
        {{1'000, 1}, {10'000, 2}, {60'000, 3}, {600'000, 4}, {3'600'000, 5}, {86'400'000, 6}}};
    for (auto const& [below, columns] : steps) {
        if (ms < below) return columns;
    }
    return 8;
}

std::string day_text(std::int64_t at_ms) {
    constexpr std::array<char const*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::time_t const seconds = at_ms / 1000;
    std::tm parts{};
    if (localtime_r(&seconds, &parts) == nullptr) return "";
    return std::to_string(parts.tm_mday) + " " + months.at(static_cast<std::size_t>(parts.tm_mon));
}

std::string grouped(std::int64_t number) {
    auto out = std::to_string(number);
    for (auto i = static_cast<std::ptrdiff_t>(out.size()) - 3; i > 0; i -= 3)
        out.insert(static_cast<std::size_t>(i), ",");
    return out;
}

std::string counted(std::size_t number, std::string const& one) {
    return grouped(static_cast<std::int64_t>(number)) + " " + one + (number == 1 ? "" : "s");
}

class Drawing {
public:
    Drawing(Timeline const& line, std::size_t columns, Style style)
        : line_(line), style_(style), label_(label_columns(line)), width_(columns - label_) {
        collect_moments();
        collect_words();
        place();
    }

    [[nodiscard]] std::string bands() const {
        std::string out;
        for (std::size_t from = 0;;) {
            auto const to = band_end(from);
            bool const whole = to == moments_.size();
            auto const end = whole ? total_ - columns_[from] : columns_[to] - columns_[from];
            out += "\n" + band(from, to, std::min(end, width_));
            if (whole) return out;
            from = to;
        }
    }

private:
    static constexpr std::size_t label_min = 10;
    static constexpr std::size_t label_max = 18;

    static std::size_t label_columns(Timeline const& line) {
        std::size_t most = label_min;
        for (auto const& call : line.calls)
            most = std::max(most, width(escape_for_terminal(call.tool)) + 2);
        return std::min(most, label_max);
    }

    void collect_moments() {
        auto const add = [&](std::int64_t at) { moments_.push_back(at); };
        auto const both = [&](auto const& items) {
            for (auto const& item : items) {
                add(item.start);
                if (item.end) add(*item.end);
            }
        };
        add(line_.start);
        add(line_.end);
        both(line_.turns);
        both(line_.model);
        both(line_.sleeps);
        for (auto const& call : line_.calls) {
            both(call.bars);
            both(call.waits);
            if (call.settled) add(call.settled->at);
            for (auto const& note : call.notes) add(note.at);
        }
        for (auto const& wake : line_.wakes) add(wake.at);
        for (auto const& crash : line_.crashes) {
            add(crash.at);
            add(crash.started);
        }
        for (auto const& use : line_.use) add(use.at);
        std::ranges::sort(moments_);
        auto const [first, last] = std::ranges::unique(moments_);
        moments_.erase(first, last);
    }

    [[nodiscard]] std::size_t moment(std::int64_t at) const {
        return static_cast<std::size_t>(std::ranges::lower_bound(moments_, at) - moments_.begin());
    }

    // Adds words to a lane. Words of the same moment become one text.
    void add(Lane& lane, std::int64_t at, std::string const& text, Paint paint) {
        auto const where = moment(at);
        bool const same = !lane.empty() && lane.back().moment == where;
        auto const whole = shortened(same ? lane.back().text + " " + text : text, width_ - 2);
        if (same) lane.pop_back();
        lane.push_back({where, whole, width(whole), paint});
    }

    void collect_words() {
        for (auto const& wake : line_.wakes)
            add(woken_, wake.at,
                escape_for_terminal("▶ " + wake.name + (wake.verb.empty() ? "" : " ") + wake.verb),
                Paint::bold);
        for (auto const& sleep : line_.sleeps) {
            auto const ms = sleep.end.value_or(line_.end) - sleep.start;
            add(sleeps_, sleep.start, "☾ " + in_words(Duration(ms)), Paint::cyan);
        }
        ByTime server;
        for (auto const& crash : line_.crashes) {
            server.emplace(crash.at, std::pair(crash.clean ? "✗ stopped" : "✗ killed", Paint::red));
            auto const down = Duration(crash.started - crash.at);
            server.emplace(crash.started,
                           std::pair("↺ started after " + in_words(down), Paint::green));
        }
        for (auto const& sleep : line_.sleeps) {
            if (sleep.restarted)
                server.emplace(sleep.start, std::pair("↺ started, no effect", Paint::dim));
        }
        for (auto const& [at, words] : server) add(server_, at, words.first, words.second);
        for (auto const& call : line_.calls) call_words(call);
    }

    void call_words(Timeline::Call const& call) {
        auto& lane = calls_.emplace_back();
        ByTime found;
        if (auto const& settled = call.settled) {
            bool const good = settled->text == "done";
            std::string const sign = good ? "✓ " : settled->text == "failed" ? "✗ " : "⊘ ";
            found.emplace(settled->at,
                          std::pair(sign + settled->text, good ? Paint::green : Paint::red));
        }
        for (auto const& note : call.notes) {
            bool const refused = note.text == "conflict";
            found.emplace(note.at, std::pair(refused ? "✗ conflict" : "◇ no effect",
                                             refused ? Paint::red : Paint::dim));
        }
        for (auto const& [at, words] : found) add(lane, at, words.first, words.second);
    }

    // Gives each moment its column: behind the one before, and behind the words of each lane.
    void place() {
        std::vector<std::size_t> least(moments_.size() + 1, 0);
        columns_.assign(moments_.size(), 0);
        std::vector<std::vector<std::pair<std::size_t, std::size_t>>> after(moments_.size());
        auto const behind = [&](Words const& words, std::size_t next) {
            if (next < moments_.size() && next > words.moment)
                after[words.moment].emplace_back(next, words.columns + 1);
        };
        auto const in_row = [&](Lane const& lane) {
            for (std::size_t i = 0; i + 1 < lane.size(); ++i) behind(lane[i], lane[i + 1].moment);
        };
        in_row(woken_);
        in_row(server_);
        for (auto const& lane : calls_) in_row(lane);
        for (std::size_t i = 0; i < sleeps_.size() && i < line_.sleeps.size(); ++i) {
            auto const end = line_.sleeps[i].end.value_or(line_.end);
            if (moment(line_.sleeps[i].start) == sleeps_[i].moment) behind(sleeps_[i], moment(end));
        }
        for (std::size_t i = 0; i < moments_.size(); ++i) {
            if (i > 0)
                columns_[i] =
                    std::max(least[i], columns_[i - 1] + gap(moments_[i] - moments_[i - 1]));
            for (auto const& [next, columns] : after[i])
                least[next] = std::max(least[next], columns_[i] + columns);
        }
        total_ = columns_.back() + 1;
        each_lane([&](Lane const& lane) {
            for (auto const& words : lane)
                total_ = std::max(total_, columns_[words.moment] + words.columns);
        });
    }

    template <class F> void each_lane(F const& visit) const {
        visit(woken_);
        visit(sleeps_);
        visit(server_);
        for (auto const& lane : calls_) visit(lane);
    }

    // The moment at which the band that begins at `from` ends; the number of moments: the last
    // band.
    [[nodiscard]] std::size_t band_end(std::size_t from) const {
        if (total_ - columns_[from] <= width_) return moments_.size();
        auto ends = columns_[from] + 1;  // of the words so far
        std::size_t best = from + 1;
        for (std::size_t i = from; i < moments_.size(); ++i) {
            bool const fits =
                columns_[i] - columns_[from] <= width_ && ends - columns_[from] <= width_;
            if (i > from && !fits) break;
            if (i > from) best = i;
            each_lane([&](Lane const& lane) {
                auto const words = std::ranges::lower_bound(lane, i, {}, &Words::moment);
                if (words != lane.end() && words->moment == i)
                    ends = std::max(ends, columns_[i] + words->columns);
            });
        }
        return best;
    }

    struct Band {
        std::size_t from;  // moments
        std::size_t to;
        std::size_t first;  // column
        std::size_t width;
    };

    // The columns of the band from `start` to `end`; nothing: outside.
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> part(
        Band const& band, std::int64_t start, Timeline::OptionalTime end) const {
        auto const first = columns_[moment(start)];
        auto const last = std::max(columns_[moment(end.value_or(line_.end))], first + 1);
        auto const limit = band.first + band.width;
        if (last <= band.first || first >= limit) return {};
        return std::pair(std::max(first, band.first) - band.first,
                         std::min(last, limit) - band.first);
    }

    void bar(Line& out, Band const& band, Timeline::Bar const& one, char const* cell) const {
        auto const where = part(band, one.start, one.end);
        if (!where) return;
        out.fill(where->first, where->second, cell, Paint::plain);
        bool const here = columns_[moment(one.end.value_or(line_.end))] <= band.first + band.width;
        if (one.how == Timeline::End::ok || !here) return;
        char const* const sign = one.how == Timeline::End::cut ? "/" : "×";
        out.fill(where->second - 1, where->second, sign, Paint::red);
    }

    void words(Line& out, Band const& band, Lane const& lane) const {
        for (auto const& one : lane) {
            if (one.moment >= band.from && one.moment < band.to)
                out.put(columns_[one.moment] - band.first, one.text, one.paint);
        }
    }

    [[nodiscard]] std::string clock(Band const& band) const {
        Line out(width_);
        std::size_t free = 0;
        constexpr std::size_t columns = 8;
        for (std::size_t i = band.from; i < band.to; ++i) {
            auto const at = columns_[i] - band.first;
            if ((i > band.from && at < free) || at + columns > width_) continue;
            out.put(at, clock_text(moments_[i]), Paint::dim);
            free = at + columns + 2;
        }
        return labelled(day_text(moments_[band.from]), out);
    }

    [[nodiscard]] Line turns(Band const& band) const {
        Line out(width_);
        for (auto const& turn : line_.turns) {
            auto const where = part(band, turn.start, turn.end);
            if (!where) continue;
            auto const [first, last] = *where;
            out.fill(first, last, "─", Paint::plain);
            if (columns_[moment(turn.start)] >= band.first)
                out.fill(first, first + 1, "├", Paint::plain);
            bool const ends = turn.end && columns_[moment(*turn.end)] <= band.first + band.width;
            if (ends && last > first + 1)
                out.fill(last - 1, last, turn.failed ? "✗" : "┤",
                         turn.failed ? Paint::red : Paint::plain);
        }
        for (auto const& sleep : line_.sleeps) {
            if (auto const where = part(band, sleep.start, sleep.end))
                out.fill(where->first, where->second, "·", Paint::cyan);
        }
        words(out, band, sleeps_);
        for (auto const& words : sleeps_) {  // a space behind the words
            bool const here = words.moment >= band.from && words.moment < band.to;
            auto const end = columns_[words.moment] - band.first + words.columns;
            if (here) out.fill(end, end + 1, " ", Paint::plain);
        }
        return out;
    }

    [[nodiscard]] Line call(Band const& band, std::size_t index) const {
        Line out(width_);
        auto const& one = line_.calls[index];
        for (auto const& wait : one.waits) {
            bool const person = wait.kind == Timeline::WaitsFor::person;
            if (auto const where = part(band, wait.start, wait.end))
                out.fill(where->first, where->second, "┄", person ? Paint::yellow : Paint::plain);
        }
        for (auto const& attempt : one.bars) bar(out, band, attempt, "▒");
        words(out, band, calls_[index]);
        return out;
    }

    [[nodiscard]] Line server(Band const& band) const {
        Line out(width_);
        for (auto const& crash : line_.crashes) {
            if (auto const where = part(band, crash.at, crash.started))
                out.fill(where->first, where->second, "/", Paint::red);
        }
        words(out, band, server_);
        return out;
    }

    // A step line of the tokens used so far.
    [[nodiscard]] Line tokens(Band const& band) const {
        constexpr std::array<char const*, 8> steps{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
        Line out(width_);
        if (line_.use.empty() || line_.use.back().tokens == 0) return out;
        auto const most = line_.use.back().tokens;
        for (std::size_t i = 0; i < line_.use.size(); ++i) {
            auto const until = i + 1 < line_.use.size() ? line_.use[i + 1].at : line_.end;
            auto const where = part(band, line_.use[i].at, until);
            auto const level = (line_.use[i].tokens * 8 + most - 1) / most;
            if (where && level > 0)
                out.fill(where->first, where->second, steps.at(static_cast<std::size_t>(level) - 1),
                         Paint::dim);
        }
        return out;
    }

    [[nodiscard]] std::string labelled(std::string const& name, Line const& line) const {
        auto const text = line.text(style_);
        if (text.empty()) return {};
        auto const label = shortened(name, label_ - 1);
        return style_(Paint::dim, label) + std::string(label_ - width(label), ' ') + text + "\n";
    }

    [[nodiscard]] std::string band(std::size_t from, std::size_t to, std::size_t columns) const {
        Band const here{from, to, columns_[from], columns};
        Line woken(width_);
        words(woken, here, woken_);
        Line model(width_);
        for (auto const& request : line_.model) bar(model, here, request, "█");
        auto out = clock(here) + labelled("woken by", woken) + labelled("turn", turns(here)) +
                   labelled("model", model);
        for (std::size_t i = 0; i < line_.calls.size(); ++i)
            out += labelled(escape_for_terminal(line_.calls[i].tool), call(here, i));
        return out + labelled("server", server(here)) + labelled("tokens", tokens(here));
    }

    Timeline const& line_;
    Style style_;
    std::size_t label_;
    std::size_t width_;
    Moments moments_;
    std::vector<std::size_t> columns_;  // of each moment
    std::size_t total_ = 0;
    Lane woken_;
    Lane sleeps_;
    Lane server_;
    std::vector<Lane> calls_;
};

// Puts pieces beside each other in lines of at most `columns`.
std::string flowed(std::span<std::string const> pieces, std::string_view comma,
                   std::size_t columns) {
    std::string out;
    std::size_t used = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        auto const piece = pieces[i] + std::string(i + 1 < pieces.size() ? comma : "");
        bool const breaks = used > 0 && used + 1 + width(piece) > columns;
        out += (used == 0 ? "" : breaks ? "\n" : " ") + piece;
        used = (used == 0 || breaks ? 0 : used + 1) + width(piece);
    }
    return out;
}

std::string summary(Timeline const& line, std::size_t columns) {
    std::int64_t asleep = 0;
    for (auto const& sleep : line.sleeps) asleep += sleep.end.value_or(line.end) - sleep.start;
    auto const used = line.use.empty() ? 0 : line.use.back().tokens;
    std::vector<std::string> pieces{counted(line.turns.size(), "turn"),
                                    counted(line.calls.size(), "call"),
                                    counted(static_cast<std::size_t>(used), "token")};
    if (!line.use.empty() && !line.use.back().cost.empty())
        pieces.push_back(cost_text(line.use.back().cost));
    pieces.push_back("asleep " + in_words(Duration(asleep)) + " of " +
                     in_words(Duration(line.end - line.start)));
    return flowed(pieces, ",", columns);
}

}  // namespace

std::string timeline_text(Timeline const& line, std::string_view title, std::size_t columns,
                          Style style) {
    constexpr std::size_t columns_min = 40;
    std::string const legend[] = {"█ model",    "▒ tool",   "┄ waits",   "☾ asleep",
                                  "▶ woken by", "✗ killed", "↺ started", "◇ no effect"};
    auto const limit = std::max(columns, columns_min);
    auto out = style(Paint::bold, shortened(escape_for_terminal(title), limit)) + "\n";
    if (line.turns.empty() && line.calls.empty()) return out + "Nothing has happened yet.\n";
    return out + summary(line, limit) + "\n" + Drawing(line, limit, style).bands() + "\n" +
           style(Paint::dim, flowed(legend, "", limit)) + "\n";
}

}  // namespace dormouse::cli
