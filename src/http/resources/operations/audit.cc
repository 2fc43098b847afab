#include "http/resources/operations/doctor/facts_fields.h"
#include "http/resources/operations/handlers.h"

#include "base/check.h"
#include "base/text/text.h"

#include <algorithm>
#include <ranges>
#include <utility>

// GET /api/audit: the lines of the audit, newest first, each compared with the hash of the line
// before it in its chain. A filter reads on until a page is full, and stops after a bounded number
// of lines.
namespace dormouse::http {

namespace {

constexpr std::uint64_t chunk_lines = 500;   // lines in one read
constexpr std::size_t chains_max = 256;      // writers of a shared database
constexpr std::uint64_t lines_max = 20'000;  // in one request

struct AuditFilter {
    std::string session;
    std::string by;
    std::string type;
    std::size_t limit = 50;
};

Result<bool> has_line_after(port::AuditStore& store, std::uint64_t number) {
    auto const rows = store.audit(number, 1);
    if (!rows) return std::unexpected(rows.error());
    return !rows->empty() && port::audit_chain(rows->front().n) == port::audit_chain(number);
}

// The number of the newest line of the chain whose numbers begin after `base`; `base`: it has none.
Result<std::uint64_t> newest_line(port::AuditStore& store, std::uint64_t base) {
    std::uint64_t low = base;  // there are lines up to this one
    std::uint64_t step = 1;
    for (;; step *= 2) {
        auto const more = has_line_after(store, low + step - 1);
        if (!more) return std::unexpected(more.error());
        if (!*more) break;
        low += step;
    }
    // The newest line is in [low, low + step).
    for (step /= 2; step > 0; step /= 2) {
        auto const more = has_line_after(store, low + step - 1);
        if (!more) return std::unexpected(more.error());
        if (*more) low += step;
    }
    return low;
}

std::optional<bool> check_line(port::AuditRow const& row, port::AuditRow const* before) {
    // Retention removes only the beginning: a line that is missing elsewhere was removed by others.
    if (before)
        return before->n + 1 == row.n && port::chained(before->hash, row.n, row.line) == row.hash;
    bool const is_first = (row.n & port::end_of_chain(0)) == 1;
    if (is_first) return port::chained({}, row.n, row.line) == row.hash;
    return std::nullopt;
}

std::optional<std::string> text_or_none(json::View value) {
    auto text = value.string();
    return text && text->empty() ? std::nullopt : text;
}

std::optional<AuditEntry> audit_entry(port::AuditRow const& row, std::optional<bool> verified) {
    auto const line = json::check(row.line);
    if (!line) return std::nullopt;
    json::View const view(*line);
    return AuditEntry{row.n,
                      from_ms(view["at"].integer_or(0)),
                      view["type"].string_or(""),
                      text_or_none(view["by"]["name"]),
                      text_or_none(view["sessionID"]),
                      text_or_none(view["pendingID"]),
                      *line,
                      digest_text(row.hash),
                      verified};
}

bool audit_fits(AuditFilter const& filter, AuditEntry const& one) {
    return (filter.session.empty() || one.session == filter.session) &&
           (filter.by.empty() || one.by == filter.by) &&
           (filter.type.empty() || one.type == filter.type);
}

// A line, with what is known of it without its entry.
struct AuditLine {
    std::optional<AuditEntry> entry = {};  // nullopt: the line is not readable
    std::optional<bool> verified = {};
};

// One chain, read from its newest line to its oldest.
class ChainReader {
public:
    // `until`: the number after the first line to read.
    ChainReader(port::AuditStore& store, std::uint64_t until)
        : store_(store), base_(port::audit_chain(until - 1) << 48), until_(until) {}

    // Reads ahead as needed. False: there are no more lines.
    [[nodiscard]] Result<bool> ready() {
        if (line_) return true;
        if (rows_.empty() || rows_.back().n <= after_) {
            if (ended_) return false;
            if (auto const read = read_chunk(); !read) return std::unexpected(read.error());
            if (rows_.empty()) return false;
        }
        auto const before = rows_.size() > 1 ? &rows_[rows_.size() - 2] : nullptr;
        auto const verified = check_line(rows_.back(), before);
        line_ = AuditLine{audit_entry(rows_.back(), verified), verified};
        return true;
    }
    // REQUIRES: ready. Damaged lines have no time: they come first, and hold up no other.
    [[nodiscard]] Time at() const {
        CHECK(line_);
        return line_->entry ? line_->entry->at : Time::max();
    }
    // REQUIRES: ready.
    [[nodiscard]] AuditLine take() {
        CHECK(line_);
        until_ = rows_.back().n;
        rows_.pop_back();
        return *std::exchange(line_, std::nullopt);
    }
    [[nodiscard]] std::uint64_t until() const { return until_; }

private:
    // The lines before `until_`, and the line before them, which the oldest is compared with.
    [[nodiscard]] Result<void> read_chunk() {
        after_ = until_ - base_ > chunk_lines + 1 ? until_ - chunk_lines - 1 : base_;
        auto const from = after_ > base_ ? after_ - 1 : base_;
        if (until_ - 1 == from) {
            ended_ = true;
            return {};
        }
        auto rows = store_.audit(from, static_cast<std::uint32_t>(until_ - 1 - from));
        if (!rows) return std::unexpected(rows.error());
        std::erase_if(*rows, [&](port::AuditRow const& row) { return row.n >= until_; });
        if (auto const joined = join_gap(from, *rows); !joined) return joined;
        if (ended_) after_ = base_;
        rows_ = *std::move(rows);
        return {};
    }

    // Sets ended_ if no line is before `rows`. If lines are missing between `from` and them, puts
    // the line before the gap in front, with which the first one is compared.
    [[nodiscard]] Result<void> join_gap(std::uint64_t from, std::vector<port::AuditRow>& rows) {
        if (from == base_ && !rows.empty()) return end_here();
        if (!rows.empty() && rows.front().n == from + 1) return {};
        auto const first = store_.audit(base_, 1);
        if (!first) return std::unexpected(first.error());
        bool const none = first->empty() || first->front().n >= until_;
        if (none || (!rows.empty() && first->front().n == rows.front().n)) return end_here();
        auto const before = last_line_before(rows.empty() ? until_ : rows.front().n, *first);
        if (!before) return std::unexpected(before.error());
        // Only a cursor of a client can name a place behind which everything is missing.
        bool const nothing = rows.empty();
        after_ = nothing ? before->n - 1 : before->n;
        rows.insert(rows.begin(), *before);
        return {};
    }
    Result<void> end_here() {
        ended_ = true;
        return {};
    }
    // The largest line with a number below `n`. `first`: the oldest line, which is one.
    [[nodiscard]] Result<port::AuditRow> last_line_before(std::uint64_t n,
                                                          std::vector<port::AuditRow> first) {
        port::AuditRow found = std::move(first.front());
        std::uint64_t low = found.n;  // a line with this number exists
        for (std::uint64_t high = n - 1; low < high;) {
            std::uint64_t const middle = low + (high - low + 1) / 2;
            auto rows = store_.audit(middle - 1, 1);
            if (!rows) return std::unexpected(rows.error());
            if (rows->empty() || rows->front().n >= n) {
                high = middle - 1;
                continue;
            }
            found = std::move(rows->front());
            low = found.n;
        }
        return found;
    }

    port::AuditStore& store_;
    std::uint64_t base_;  // the numbers of the chain are larger
    std::uint64_t until_;
    std::uint64_t after_ = 0;  // of `rows_`, only lines with a larger number are answers
    bool ended_ = false;       // nothing is before `rows_`
    std::vector<port::AuditRow> rows_ = {};
    std::optional<AuditLine> line_ = {};  // of rows_.back()
};

// The number after the newest line of each chain.
Result<std::vector<std::uint64_t>> newest_of_each(port::AuditStore& store) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t at = 0; out.size() < chains_max;) {
        auto const rows = store.audit(at, 1);
        if (!rows) return std::unexpected(rows.error());
        if (rows->empty()) break;
        std::uint64_t const chain = port::audit_chain(rows->front().n);
        // Retention removes the oldest lines: the newest is looked for from the first that is left.
        auto const newest = newest_line(store, rows->front().n - 1);
        if (!newest) return std::unexpected(newest.error());
        out.push_back(*newest + 1);
        if (chain == chains_max - 1) break;
        at = port::end_of_chain(*newest);
    }
    return out;
}

// The chain with the newest line; nullptr: all are read.
Result<ChainReader*> newest_reader(std::vector<ChainReader>& chains) {
    ChainReader* newest = nullptr;
    for (ChainReader& chain : chains) {
        auto const ready = chain.ready();
        if (!ready) return std::unexpected(ready.error());
        if (*ready && (!newest || chain.at() >= newest->at())) newest = &chain;
    }
    return newest;
}

// The number after the next line of each chain that has more.
Result<std::optional<std::string>> cursor_of(std::vector<ChainReader>& chains) {
    std::optional<std::string> out;
    for (ChainReader& chain : chains) {
        auto const ready = chain.ready();
        if (!ready) return std::unexpected(ready.error());
        if (*ready) out = (out ? *out + "." : "") + std::to_string(chain.until());
    }
    return out;
}

std::optional<std::vector<std::uint64_t>> read_cursor(std::string_view text) {
    std::vector<std::uint64_t> out;
    for (auto const part : std::views::split(text, '.')) {
        auto const number = parse_number(std::string_view(part.begin(), part.end()));
        if (!number || *number == 0 || out.size() == chains_max) return std::nullopt;
        bool const again =
            !out.empty() && port::audit_chain(*number - 1) <= port::audit_chain(out.back() - 1);
        if (again) return std::nullopt;
        out.push_back(*number);
    }
    return out;
}

// The newest lines of a list: where each chain begins, and what was ever written. The latter is
// read first, because lines are added meanwhile.
Result<std::vector<std::uint64_t>> begin_at_newest(port::AuditStore& store, port::AuditEnds* ends,
                                                   AuditPage& page) {
    auto written = ends ? ends->audit_ends() : std::vector<std::uint64_t>();
    if (!written) return std::unexpected(written.error());
    auto untils = newest_of_each(store);
    if (!untils) return untils;
    page.verified = std::ranges::all_of(*written, [&](std::uint64_t n) {
        return std::ranges::any_of(*untils, [n](std::uint64_t until) {
            return until > n && port::audit_chain(until - 1) == port::audit_chain(n);
        });
    });
    page.written = *std::move(written);
    return untils;
}

// Blocks on reads. `untils` empty: from the newest lines on.
Result<AuditPage> read_audit(port::AuditStore& store, port::AuditEnds* ends,
                             std::vector<std::uint64_t> untils, AuditFilter const& filter) {
    AuditPage page;
    if (untils.empty()) {
        auto newest = begin_at_newest(store, ends, page);
        if (!newest) return std::unexpected(newest.error());
        untils = *std::move(newest);
    }
    std::vector<ChainReader> chains;
    for (std::uint64_t const until : untils) chains.emplace_back(store, until);
    while (page.items.size() < filter.limit && page.checked < lines_max) {
        auto const chain = newest_reader(chains);
        if (!chain) return std::unexpected(chain.error());
        if (!*chain) break;
        AuditLine line = (*chain)->take();
        ++page.checked;
        page.verified = page.verified && line.entry && line.verified.value_or(true);
        if (line.entry && audit_fits(filter, *line.entry))
            page.items.push_back(*std::move(line.entry));
    }
    auto next = cursor_of(chains);
    if (!next) return std::unexpected(next.error());
    page.next = *std::move(next);
    return page;
}

}  // namespace

void get_audit(Api& api, ExchangePtr const& x) {
    Query query{x->request};
    constexpr std::size_t by_default = 50;
    constexpr std::size_t most = 200;
    auto const word = [&](std::string_view name) {
        return std::string(x->request.query_value(name).value_or(""));
    };
    AuditFilter const filter{word("session"), word("by"), word("type"),
                             query.number("limit", by_default, 1, most)};
    if (query.error) return x->fail(*query.error);
    auto const cursor = x->request.query_value("cursor");
    auto const untils = cursor ? read_cursor(*cursor) : std::vector<std::uint64_t>{};
    if (!untils) return x->fail({Code::bad_cursor, "The cursor does not belong to this list."});
    port::ask(
        api.services().journal,
        [untils = *untils, filter, ends = api.services().audit_ends](port::AuditStore& store) {
            return read_audit(store, ends, untils, filter);
        },
        [x](Result<AuditPage> const& page) {
            page ? x->json(200, object_text(*page)) : x->fail(page.error());
        });
}

}  // namespace dormouse::http
