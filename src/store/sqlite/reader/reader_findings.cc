// The checks of `dormouse verify` on the feed and the end of the audit. Each row of a statement is
// one finding; statements may read whole tables.
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/reader/reader_transaction.h"

#include <array>

namespace dormouse::store::sqlite {

namespace {

constexpr std::array checks{
    R"sql(SELECT 'feed: all of its rows are missing'
WHERE NOT EXISTS (SELECT 1 FROM feed) AND EXISTS (SELECT 1 FROM journal))sql",
    R"sql(SELECT 'feed: row ' || (f.n + 1) || ' is missing' FROM feed f
WHERE f.n < (SELECT max(n) FROM feed)
  AND NOT EXISTS (SELECT 1 FROM feed g WHERE g.n = f.n + 1))sql",
    R"sql(SELECT 'feed: row ' || n || ' names an event that an earlier row has passed'
FROM (SELECT n, k, lag(k) OVER (PARTITION BY k >> 24 ORDER BY n) AS before FROM feed WHERE k > 0)
WHERE before >= k)sql",
    // 0: the session was forgotten, and its id is free.
    R"sql(SELECT 'feed: row ' || f.n || ' names no session' FROM feed f
WHERE f.k <> 0 AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.no = abs(f.k) >> 24))sql",
    R"sql(SELECT 'feed: row ' || f.n || ' names another project than its session ses_' || s.id
FROM feed f JOIN sessions s ON s.no = abs(f.k) >> 24 WHERE s.project <> f.project)sql",
    // Retention removes frames too; then the first frame of the journal has a negative n.
    R"sql(SELECT 'feed: row ' || f.n || ' names event ' || (f.k & 16777215) || ' of ses_' || s.id ||
  ', which is missing'
FROM feed f JOIN sessions s ON s.no = f.k >> 24
WHERE f.k > 0 AND s.status <> 'deleted' AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.k = f.k)
  AND f.k > coalesce((SELECT iif(c.n < 0, c.k, 0) FROM journal c
    WHERE c.k BETWEEN s.no << 24 AND s.no << 24 | 16777215 ORDER BY c.k LIMIT 1), 0))sql",
    R"sql(SELECT 'audit: lines ' || (kept.n + 1) || ' to ' || meta.value || ' are missing'
FROM meta, (SELECT coalesce(max(n), 0) AS n FROM audit) kept
WHERE meta.name = 'audited' AND meta.value > kept.n)sql",
};
// Maximum number of findings of one kind; more would add nothing.
constexpr int findings_max = 20;

}  // namespace

Result<std::vector<std::string>> Reader::feed_and_audit_findings() {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    std::vector<std::string> out;
    for (char const* const check : checks) {
        auto found =
            connection_.texts(std::string(check) + " LIMIT " + std::to_string(findings_max));
        if (!found) return std::unexpected(std::move(found.error()));
        out.insert(out.end(), found->begin(), found->end());
    }
    return out;
}

}  // namespace dormouse::store::sqlite
