// The feed of all sessions' appends.
//
// Order: each writer numbers its own entries, so no writer waits for another one's commit. A call
// takes numbers above all that were committed when it began: n = k << 8 | slot with k above every
// committed k. So a later append of a session, and an append that follows from another one, has the
// larger number.
//
// Horizon: a number may become visible after a larger one, but only while its writer is in a call,
// which holds the writer's advisory lock until its commit is visible. So a reader reads the
// writers' newest numbers, then their locks. A writer in a call will add numbers above its newest
// one only; any other writer will add numbers above all that the reader saw. The smallest of these
// bounds is the horizon: nothing is added below it any more, and a second query, with a newer view,
// sees everything below it.
#include "store/postgres/reader/read_rows.h"
#include "store/postgres/reader/reader.h"

#include <algorithm>
#include <limits>

namespace dormouse::store::postgres {
namespace {

// The maximum number of rows, of all projects, that one query reads.
constexpr std::int64_t feed_rows_max = 1'024;
constexpr std::int64_t any_slot = 0xff;

// Returns nullopt if its session was deleted or its frame was removed. An unreadable row affects
// only its own session.
Result<std::optional<port::FeedRow>> feed_row(Rows const& rows, int row) {
    auto const id = session_id(rows.text(row, 4));
    if (!id) return std::unexpected(id.error());
    port::FeedRow out{.n = static_cast<std::uint64_t>(rows.integer(row, 0)),
                      .session = *id,
                      .project = std::string(rows.text(row, 3)),
                      .frame = {static_cast<Seq>(rows.integer(row, 1)), 0, ""},
                      .deleted = rows.integer(row, 2) != 0,
                      .at = from_ms(rows.integer(row, 6))};
    if (out.deleted) {
        out.frame.count = 1;
        return out;
    }
    if (rows.is_null(row, 7)) {
        bool const removed = rows.text(row, 5) == "deleted" || rows.integer(row, 10) != 0;
        return removed ? std::nullopt : std::optional(std::move(out));
    }
    // frame_of() takes the columns first, n, sum and data.
    auto const count = rows.integer(row, 7);
    port::Frame frame{out.frame.first, static_cast<std::uint32_t>(std::max<std::int64_t>(count, 0)),
                      std::string(rows.text(row, 9))};
    auto const sum = static_cast<std::int64_t>(port::stamp_of(*id, frame));
    if (count <= 0 || sum != rows.integer(row, 8)) return out;
    out.frame = std::move(frame);
    out.at = {};
    return out;
}

}  // namespace

Result<std::int64_t> Reader::horizon() {
    Call call{sql(Read::feed_horizon)};
    call.parameters.integer(lock_);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    std::int64_t newest = 0;
    std::int64_t writing = std::numeric_limits<std::int64_t>::max();
    for (int row = 0; row < rows->size(); ++row) {
        auto const n = rows->integer(row, 0) | any_slot;
        newest = std::max(newest, n);
        if (rows->integer(row, 1) != 0) writing = std::min(writing, n);
    }
    return std::min(newest, writing);
}

Result<std::uint64_t> Reader::feed_head() {
    auto const until = horizon();
    if (!until) return std::unexpected(until.error());
    Call call{sql(Read::feed_head)};
    call.parameters.integer(*until);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    if (timeline_ == 0) timeline_ = rows->integer(0, 1);
    return static_cast<std::uint64_t>(rows->integer(0, 0));
}

// The horizon falls when a writer whose newest number is small begins a call, so it is no limit.
Result<std::uint64_t> Reader::feed_limit() {
    auto const rows = ask(Call{sql(Read::feed_limit)});
    if (!rows) return std::unexpected(rows.error());
    return static_cast<std::uint64_t>(rows->integer(0, 0));
}

// A standby that was promoted may lack the newest entries: then their numbers are used again, and
// the numbers that a process has read are not places in this feed.
Result<port::FeedPage> Reader::others(std::uint64_t after, std::size_t max_bytes,
                                      std::int64_t own_slot) {
    auto const before = timeline_.load();
    auto page = feed(port::Projects::all(), after, max_bytes, own_slot);
    if (page && before != 0 && timeline_ != before)
        return port::FeedPage{.next = after, .gone = true};
    return page;
}

Result<port::FeedPage> Reader::feed(port::Projects const& projects, std::uint64_t after,
                                    std::size_t max_bytes, std::optional<std::int64_t> without) {
    auto const until = horizon();
    if (!until) return std::unexpected(until.error());
    constexpr std::size_t bytes_max = std::numeric_limits<std::int64_t>::max();
    Call bounds{sql(Read::feed_bounds)};
    Call entries{sql(Read::feed)};
    for (Call* const call : {&bounds, &entries}) {
        call->parameters.integer(static_cast<std::int64_t>(std::min(after, bytes_max)));
        call->parameters.integer(*until).integer(feed_rows_max);
    }
    if (projects.names)
        entries.parameters.texts(*projects.names);
    else
        entries.parameters.text(std::nullopt);
    auto const bytes = std::clamp<std::size_t>(max_bytes, 1, bytes_max);
    entries.parameters.integer(static_cast<std::int64_t>(bytes)).integer(without.value_or(-1));
    auto const found = ask(std::vector{std::move(bounds), std::move(entries)});
    if (!found) return std::unexpected(found.error());
    auto const bound = [&](int column) {
        return static_cast<std::uint64_t>((*found)[0].integer(0, column));
    };
    port::FeedPage page;
    page.next = after;
    page.history = bound(3);
    if (without) timeline_ = (*found)[0].integer(0, 3);
    page.gone = after > 0 && after < bound(0);
    if (page.gone || after >= bound(2)) return page;
    page.next = std::max(bound(1), after);
    auto const& rows = (*found)[1];
    std::size_t read = 0;
    for (int row = 0; row < rows.size(); ++row) {
        auto one = feed_row(rows, row);
        if (!one) return std::unexpected(std::move(one.error()));
        read += rows.text(row, 9).size();
        if (read >= bytes) page.next = static_cast<std::uint64_t>(rows.integer(row, 0));
        if (*one) page.rows.push_back(std::move(**one));
    }
    page.more = page.next < bound(2);
    return page;
}

}  // namespace dormouse::store::postgres
