// The feed of all sessions' appends in commit order, and artifacts.
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/reader/reader_transaction.h"
#include "store/sqlite/schema/layout.h"

#include <sqlite3.h>

#include <algorithm>
#include <memory>

namespace dormouse::store::sqlite {

namespace {
// The maximum number of rows, of all projects, that one query reads.
constexpr std::uint64_t feed_rows_max = 1'024;

bool is_missing(port::FeedRow const& row, Query const& read) {
    return !row.deleted && row.frame.count == 0 && !read.maybe_integer(1);
}
}  // namespace

// Positions `stored` at the artifact's row; false: it does not exist.
Result<bool> Reader::find_artifact(Query& stored, SessionId session, Seq seq) {
    auto const known = find(session);
    if (!known) return std::unexpected(known.error());
    if (!*known || seq >= seq_end) return false;
    stored.bind(key_of(session.number(), seq));
    return stored.next();
}

Result<std::optional<std::string>> Reader::artifact(SessionId session, Seq seq) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto stored = query(Read::artifact);
    auto const there = find_artifact(stored, session, seq);
    if (!there) return std::unexpected(there.error());
    if (!*there) return std::nullopt;
    auto const key = key_of(session.number(), seq);
    std::string bytes(stored.text(1));
    if (checksum(key, static_cast<std::int64_t>(bytes.size()), bytes) != stored.integer(0))
        return damaged("artifact of " + session.text() + ", event " + std::to_string(seq));
    return bytes;
}

// Reads only the requested bytes of the row. REQUIRES: the row exists.
Result<std::string> Reader::blob_piece(std::int64_t key, std::uint64_t offset, std::size_t count) {
    sqlite3_blob* raw = nullptr;
    auto* const database = connection_.handle();
    int const opened = sqlite3_blob_open(database, "main", "artifacts", "data", key, 0, &raw);
    std::unique_ptr<sqlite3_blob, int (*)(sqlite3_blob*)> const blob(raw, sqlite3_blob_close);
    if (opened != SQLITE_OK) return std::unexpected(error_of(database, opened));
    auto const size = static_cast<std::uint64_t>(sqlite3_blob_bytes(blob.get()));
    if (offset >= size) return std::string();
    std::string bytes(std::min<std::uint64_t>(count, size - offset), '\0');
    int const read = sqlite3_blob_read(blob.get(), bytes.data(), static_cast<int>(bytes.size()),
                                       static_cast<int>(offset));
    if (read != SQLITE_OK) return std::unexpected(error_of(database, read));
    return bytes;
}

Result<std::optional<std::string>> Reader::artifact_piece(SessionId session, Seq seq,
                                                          std::uint64_t offset, std::size_t count) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    {
        auto stored = query(Read::has_artifact);
        auto const there = find_artifact(stored, session, seq);
        if (!there) return std::unexpected(there.error());
        if (!*there) return std::nullopt;
    }
    auto bytes = blob_piece(key_of(session.number(), seq), offset, count);
    if (!bytes) return std::unexpected(std::move(bytes.error()));
    return std::move(*bytes);
}

Result<std::uint64_t> Reader::number(Read name) {
    auto asked = query(name);
    if (auto const row = asked.next(); !row) return std::unexpected(row.error());
    return static_cast<std::uint64_t>(asked.integer(0));  // NULL, for an empty table, reads as 0
}

Result<std::uint64_t> Reader::feed_head() { return number(Read::feed_head); }

Result<port::FeedPage> Reader::feed(port::Projects const& projects, std::uint64_t after,
                                    std::size_t max_bytes) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto const head = number(Read::feed_head);
    if (!head) return std::unexpected(head.error());
    auto const oldest = number(Read::feed_oldest);
    if (!oldest) return std::unexpected(oldest.error());
    port::FeedPage page;
    page.next = after;
    page.gone = after > 0 && after + 1 < *oldest;
    if (page.gone || after >= *head) return page;
    auto const from = std::max(after, *oldest - 1);
    page.next = std::min(*head, from + feed_rows_max);
    auto const* const one = projects.single();
    auto rows = query(one ? Read::feed : Read::feed_of_all);
    rows.bind(static_cast<std::int64_t>(from)).bind(static_cast<std::int64_t>(page.next));
    if (one) rows.bind(*one);
    for (std::size_t bytes = 0;;) {
        auto const there = rows.next();
        if (!there) return std::unexpected(there.error());
        if (!*there) break;
        if (!projects.has(rows.text(8))) continue;
        auto row = feed_row(rows);
        if (!row) return std::unexpected(row.error());
        if (!*row) continue;
        if (is_missing(**row, rows)) {
            // Retention removes frames too; then the journal begins with a later frame.
            auto journal = query(Read::frames);
            auto const number = (*row)->session.number();
            journal.bind(key_of(number, 1)).bind(key_of(number, seq_end - 1) + 1);
            auto const first = journal.next();
            if (!first) return std::unexpected(first.error());
            bool const cut =
                *first && journal.integer(1) < 0 && journal.integer(0) >= rows.integer(0);
            if (cut) continue;
        }
        bytes += (*row)->frame.bytes.size();
        page.rows.push_back(std::move(**row));
        if (bytes < max_bytes) continue;
        page.next = page.rows.back().n;
        break;
    }
    page.more = page.next < *head;
    return page;
}

// Returns nullopt if its session was deleted. An unreadable row affects only its own session.
Result<std::optional<port::FeedRow>> Reader::feed_row(Query const& row) const {
    auto const id = session_id(row.text(5));
    if (!id) return std::unexpected(id.error());
    auto const n = static_cast<std::uint64_t>(row.integer(4));
    auto const key = row.integer(0);
    std::string const project(row.text(8));
    if (key < 0)
        return port::FeedRow{n, *id, project, {seq_of(-key), 1, ""}, true, from_ms(row.integer(6))};
    port::FeedRow damaged{n, *id, project, {seq_of(key), 0, ""}, false, from_ms(row.integer(6))};
    if (!row.maybe_integer(1)) {
        if (row.text(7) == "deleted") return std::nullopt;
        return damaged;
    }
    auto frame = this->frame(*id, row, seq_of(key));
    if (!frame) return damaged;
    return port::FeedRow{n, *id, project, std::move(*frame)};
}

}  // namespace dormouse::store::sqlite
