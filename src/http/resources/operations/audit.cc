#include "http/resources/operations/facts_fields.h"
#include "http/resources/operations/handlers.h"

#include "base/text/text.h"

#include <algorithm>

// GET /api/audit: the lines of the audit, newest first, each compared with the hash of the line
// before it. A filter reads on until a page is full, and stops after a bounded number of lines.
namespace dormouse::http {

namespace {

constexpr std::uint64_t chunk_lines = 500;   // lines in one read
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
    return !rows->empty();
}

// The number of the newest line; 0: there is none.
Result<std::uint64_t> newest_line(port::AuditStore& store) {
    std::uint64_t low = 0;  // there are lines up to this one
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
    if (before && before->n + 1 == row.n)
        return port::chained(before->hash, row.n, row.line) == row.hash;
    if (row.n == 1) return port::chained({}, 1, row.line) == row.hash;
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

// Adds the lines (after, until) of `rows`, newest first, until the page is full. Returns the number
// of the last line that it looked at.
std::uint64_t add_lines(std::vector<port::AuditRow> const& rows, std::uint64_t after,
                        std::uint64_t until, AuditFilter const& filter, AuditPage& page) {
    std::uint64_t last = until;
    for (std::size_t i = rows.size(); i-- > 0;) {
        port::AuditRow const& row = rows[i];
        if (row.n <= after || row.n >= until) continue;
        auto const verified = check_line(row, i > 0 ? &rows[i - 1] : nullptr);
        auto one = audit_entry(row, verified);
        ++page.checked;
        page.verified = page.verified && one && verified.value_or(true);
        last = row.n;
        if (one && audit_fits(filter, *one)) page.items.push_back(*std::move(one));
        if (page.items.size() == filter.limit) return last;
    }
    return last;
}

// Blocks on reads. `until` 0: from the newest line on.
Result<AuditPage> read_audit(port::AuditStore& store, std::uint64_t until,
                             AuditFilter const& filter) {
    if (until == 0) {
        auto const head = newest_line(store);
        if (!head) return std::unexpected(head.error());
        until = *head + 1;
    }
    AuditPage page;
    while (until > 1 && page.items.size() < filter.limit && page.checked < lines_max) {
        auto const after = until > chunk_lines + 1 ? until - chunk_lines - 1 : 0;
        auto const from = after > 0 ? after - 1 : 0;  // with the line before the first one
        auto const rows = store.audit(from, static_cast<std::uint32_t>(until - 1 - from));
        if (!rows) return std::unexpected(rows.error());
        // The lines of an older part were removed.
        if (rows->empty() || rows->front().n >= until) return page;
        bool const oldest = rows->front().n > from + 1;
        until = add_lines(*rows, after, until, filter, page);
        if (oldest && until <= rows->front().n) return page;
    }
    if (until > 1) page.next = std::to_string(until);
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
    auto const until = cursor ? parse_number(*cursor) : std::optional<std::uint64_t>(0);
    if (!until || (cursor && *until == 0))
        return x->fail({Code::bad_cursor, "The cursor does not belong to this list."});
    port::ask(
        api.services().journal,
        [until = *until, filter](port::AuditStore& store) {
            return read_audit(store, until, filter);
        },
        [x](Result<AuditPage> const& page) {
            page ? x->json(200, object_text(*page)) : x->fail(page.error());
        });
}

}  // namespace dormouse::http
