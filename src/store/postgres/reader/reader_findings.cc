// The checks of `dormouse verify` on the feed and the ends of the audit chains. Each row of a
// statement is one finding; statements may read whole tables.
#include "store/postgres/reader/reader.h"

#include <array>

namespace dormouse::store::postgres {

namespace {

// Maximum number of findings of one kind; more would add nothing.
#define AT_MOST " ORDER BY 1 LIMIT 20"

constexpr std::array checks{
    "SELECT 'feed: all of its rows are missing'"
    " WHERE NOT EXISTS (SELECT FROM feed) AND EXISTS (SELECT FROM journal)",
    // The feed loses its oldest rows only.
    "SELECT 'feed: event ' || j.first || ' of ses_' || s.id || ' has no row'"
    " FROM (SELECT no, min(first) AS first FROM feed WHERE NOT erased GROUP BY no) known"
    " JOIN journal j ON j.no = known.no AND j.first > known.first AND j.n > 0"
    " JOIN sessions s ON s.no = j.no"
    " WHERE NOT EXISTS (SELECT FROM feed f WHERE f.no = j.no AND f.first = j.first)" AT_MOST,
    "SELECT 'feed: row ' || n || ' names an event that an earlier row has passed'"
    " FROM (SELECT n, first, lag(first) OVER (PARTITION BY no ORDER BY n) AS before FROM feed"
    "   WHERE NOT erased) ordered WHERE before >= first" AT_MOST,
    "SELECT 'feed: row ' || f.n || ' names no session' FROM feed f"
    " WHERE NOT EXISTS (SELECT FROM sessions s WHERE s.no = f.no)" AT_MOST,
    "SELECT 'feed: row ' || f.n || ' names another project than its session ses_' || s.id"
    " FROM feed f JOIN sessions s ON s.no = f.no WHERE s.project <> f.project" AT_MOST,
    // Retention removes frames too; then the first frame of the journal has a negative n.
    "SELECT 'feed: row ' || f.n || ' names event ' || f.first || ' of ses_' || s.id ||"
    "   ', which is missing'"
    " FROM feed f JOIN sessions s ON s.no = f.no"
    " LEFT JOIN (SELECT no, max(first) AS first FROM journal WHERE n < 0 GROUP BY no) base"
    "   ON base.no = f.no"
    " WHERE NOT f.erased AND s.status <> 'deleted' AND f.first > coalesce(base.first, 0)"
    "   AND NOT EXISTS (SELECT FROM journal j WHERE j.no = f.no AND j.first = f.first)" AT_MOST,
    "SELECT 'audit: lines ' || kept.n + 1 || ' to ' || (w.slot << 48 | w.audit_n) || ' are missing'"
    " FROM writers w CROSS JOIN LATERAL (SELECT coalesce(max(a.n), w.slot << 48) AS n FROM audit a"
    "   WHERE a.n >> 48 = w.slot) kept WHERE w.slot << 48 | w.audit_n > kept.n" AT_MOST,
};

#undef AT_MOST

}  // namespace

Result<std::vector<std::string>> Reader::feed_and_audit_findings() {
    std::vector<std::string> out;
    for (char const* const check : checks) {
        auto const rows = ask(Call{check});
        if (!rows) return std::unexpected(rows.error());
        for (int row = 0; row < rows->size(); ++row) out.emplace_back(rows->text(row, 0));
    }
    return out;
}

}  // namespace dormouse::store::postgres
