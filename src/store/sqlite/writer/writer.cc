#include "store/sqlite/writer/writer.h"

#include "base/check.h"
#include "base/trace.h"
#include "store/sqlite/schema/layout.h"

#include <sqlite3.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <string>

namespace dormouse::store::sqlite {
namespace {

using port::Append;

// Number of pages in the log at which it is checkpointed. A higher number means rarer but longer
// stalls.
constexpr int checkpoint_pages = 1000;

Error stopped_error() {
    return {Code::fail_stop,
            "a write could not be made durable: nothing is written until the store is reopened"};
}

// In session order, so that rows that are neighbours in the file are written together.
std::vector<std::size_t> in_session_order(std::span<Append const> appends) {
    std::vector<std::size_t> order(appends.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {},
                      [&](std::size_t i) { return std::pair(appends[i].session.number(), i); });
    return order;
}

bool is_sync_failure(int rc) { return (rc & 0xff) == SQLITE_IOERR; }

}  // namespace

// Rolls back an open transaction if an allocation fails in it.
class Writer::Undo {
public:
    explicit Undo(Writer& writer) : writer_(writer) {}
    ~Undo() {
        if (!writer_.connection_.in_transaction()) return;
        try {
            writer_.roll_back({Reach::batch, Error{Code::overloaded, {}}});
        } catch (std::bad_alloc const&) {
            writer_.stopped_ = true;
        }
    }
    Undo(Undo const&) = delete;
    Undo& operator=(Undo const&) = delete;

private:
    Writer& writer_;
};

Writer::Writer(Connection connection, std::uint64_t next_number, FeedPlace feed, AuditPlace audit,
               std::optional<std::filesystem::path> directory, std::shared_ptr<Changes> changes,
               Limits limits)
    : changes_(std::move(changes)),
      connection_(std::move(connection)),
      room_(directory),
      directory_(std::move(directory)),
      limits_(limits),
      next_number_(next_number),
      feed_(feed),
      audit_(audit) {
    // Replaces SQLite's own checkpoints, which do not report a failed sync of the file.
    sqlite3_wal_hook(connection_.handle(), &Writer::on_commit, this);
    // The process may have ended before the files were overwritten.
    auto const due = connection_.integer("SELECT value FROM meta WHERE name = 'overwrite'");
    if (due && *due != 0) remains_ = Remains::in_file;
    auto const removed = connection_.integer("SELECT value FROM meta WHERE name = 'removed'");
    if (removed && *removed != 0) removed_ = std::chrono::steady_clock::now();
    overwrite();
}

Writer::~Writer() {
    try {
        finish_pass();
    } catch (std::bad_alloc const&) {
        scrub_.reset();  // the next open continues
    }
    if (stopped_ || !connection_.run("PRAGMA wal_checkpoint(TRUNCATE)")) return;
    // Then closing the last connection only removes the empty log and its index.
    sqlite3_db_config(connection_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
}

int Writer::on_commit(void* self, sqlite3* database, char const* schema, int pages) {
    if (pages < checkpoint_pages) return SQLITE_OK;
    static_cast<Writer*>(self)->note_changes();
    int const rc =
        sqlite3_wal_checkpoint_v2(database, schema, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    // The commit is durable in the log and stays valid; there will be no other.
    if (is_sync_failure(rc)) static_cast<Writer*>(self)->stopped_ = true;
    return SQLITE_OK;
}

std::vector<port::AppendResult> Writer::commit(std::span<Append const> appends) {
    trace();
    if (stopped_) return Results(appends.size(), std::unexpected(stopped_error()));
    // Savepoints cost a tenth to a third, so they are used only after an append must be undone.
    Undo const undo(*this);
    auto results = attempt(appends, false);
    if (!results && results.error().reach == Reach::undo) results = attempt(appends, true);
    if (!results) return Results(appends.size(), std::unexpected(results.error().error));
    room_.written();
    count_sessions(appends, *results);
    overwrite();
    return std::move(*results);
}

std::expected<Writer::Results, Writer::Failure> Writer::attempt(std::span<Append const> appends,
                                                                bool apart) {
    auto const failed = [&](Reach reach, Error error) {
        Failure failure{reach, std::move(error)};
        roll_back(failure);
        return std::unexpected(std::move(failure));
    };
    if (auto begun = run(Write::begin); !begun)
        return failed(Reach::batch, std::move(begun.error()));
    Results results(appends.size());
    feeding_ = feed_.head;
    auditing_ = audit_;
    for (std::size_t const i : in_session_order(appends)) {
        auto step = apart ? apply_apart(appends[i]) : apply(appends[i]);
        if (step) {
            results[i] = *step;
            continue;
        }
        auto& [reach, error] = step.error();
        if (reach != Reach::append) return failed(reach, std::move(error));
        results[i] = std::unexpected(std::move(error));
    }
    if (auto trimmed = trim_feed(); !trimmed)
        return failed(Reach::batch, std::move(trimmed.error()));
    if (auto committed = end_transaction(); !committed)
        return failed(Reach::batch, std::move(committed.error()));
    feed_.head = feeding_;
    audit_ = auditing_;
    return results;
}

Result<void> Writer::end_transaction() {
    if (auditing_.n != audit_.n) {
        auto counted = query(Write::audited).bind(static_cast<std::int64_t>(auditing_.n)).run();
        if (!counted) return counted;
    }
    auto end = query(Write::commit);
    auto committed = end.run();
    // It is unknown whether the log has the batch, until it is read again.
    if (!committed && is_sync_failure(sqlite3_extended_errcode(connection_.handle())))
        committed.error().code = Code::fail_stop;
    return committed;
}

Result<void> Writer::transact(std::function<Result<void>()> const& work) {
    if (stopped_) return std::unexpected(stopped_error());
    Undo const undo(*this);
    auditing_ = audit_;
    auto done = run(Write::begin);
    if (done) done = work();
    if (done) done = end_transaction();
    if (done) audit_ = auditing_;
    if (done) room_.written();
    if (!done) roll_back({Reach::batch, done.error()});
    return done;
}

Result<void> Writer::drop_delivered(Time until) {
    return transact([&] {
        auto const done = query(Write::drop_delivered).bind(to_ms(until)).run();
        return done ? note_removal_if_changed() : done;
    });
}

Result<void> Writer::drop_given_up(Time until, std::uint32_t limit) {
    return transact([&] {
        auto drop = query(Write::drop_given_up);
        auto const done = drop.bind(to_ms(until)).bind(std::int64_t{limit}).run();
        return done ? note_removal_if_changed() : done;
    });
}

Result<void> Writer::raise_epoch(Epoch least) {
    return transact([&] {
        return connection_.run("UPDATE meta SET value = max(value, " + std::to_string(least) +
                               ") WHERE name = 'epoch'");
    });
}

Result<void> Writer::keep(port::KeptRow const& row) {
    return transact([&] { return write_kept(row); });
}

void Writer::roll_back(Failure const& failure) {
    if (failure.error.code == Code::fail_stop) stopped_ = true;
    room_.failed(failure.error.code);
    if (!connection_.in_transaction()) return;
    // If the transaction stayed open, the next batch's commit would write this one too.
    if (!run(Write::rollback) && connection_.in_transaction()) stopped_ = true;
}

void Writer::count_sessions(std::span<Append const> appends, Results const& results) {
    for (std::size_t i = 0; i < appends.size(); ++i) {
        if (!results[i]) continue;
        std::uint64_t largest = appends[i].session.number();
        for (auto const& message : appends[i].outbox)
            if (message.makes) largest = std::max(largest, message.makes->number());
        next_number_ = std::max<std::uint64_t>(next_number_, largest + 1);
    }
}

Result<void> Writer::update_messages(std::span<port::OutboxUpdate const> updates) {
    if (stopped_) return std::unexpected(stopped_error());
    auto const failed = [&](Error error) {
        Failure failure{Reach::batch, std::move(error)};
        roll_back(failure);
        return std::unexpected(std::move(failure.error));
    };
    Undo const undo(*this);
    if (auto begun = run(Write::begin); !begun) return failed(std::move(begun.error()));
    for (auto const& update : updates)
        if (auto done = write_update(update); !done) return failed(std::move(done.error()));
    if (auto committed = query(Write::commit).run(); !committed) {
        if (is_sync_failure(sqlite3_extended_errcode(connection_.handle())))
            committed.error().code = Code::fail_stop;
        return failed(std::move(committed.error()));
    }
    return {};
}

Writer::Step Writer::apply_apart(Append const& append) {
    if (auto done = run(Write::savepoint); !done)
        return std::unexpected(Failure{Reach::batch, std::move(done.error())});
    AuditPlace const before = auditing_;
    auto step = apply(append);
    if (!step && step.error().reach == Reach::batch) return step;
    if (!step) {
        auditing_ = before;
        step.error().reach = Reach::append;
        if (auto done = run(Write::undo); !done)
            return std::unexpected(Failure{Reach::batch, std::move(done.error())});
    }
    if (auto done = run(Write::release); !done)
        return std::unexpected(Failure{Reach::batch, std::move(done.error())});
    return step;
}

Writer::Step Writer::apply(Append const& append) {
    auto const known = check(append);
    if (!known) return std::unexpected(known.error());
    auto const stamp =
        append.erase ? port::Stamp::none : port::stamp_of(append.session, append.frame);
    auto written = write(append, *known, stamp);
    if (written) return stamp;
    auto const code = written.error().code;
    auto const alone = code == Code::conflict || code == Code::too_large;
    if (code == Code::conflict)
        written.error().detail =
            "a key of " + append.session.text() + " is taken: " + written.error().detail;
    return std::unexpected(Failure{alone ? Reach::undo : Reach::batch, std::move(written.error())});
}

std::expected<Writer::Known, Writer::Failure> Writer::check(Append const& append) {
    auto const& frame = append.frame;
    auto const refuse = [](Code code, std::string why) {
        return std::unexpected(Failure{Reach::append, Error{code, std::move(why)}});
    };
    CHECK(append.session.number() > 0);
    CHECK(frame.first == append.after + 1 && frame.count > 0);
    CHECK(!append.row || append.row->id == append.session);
    if (append.session.number() >= number_end)
        return refuse(Code::too_large, "no such session number");
    if (frame.first + frame.count > seq_end)
        return refuse(Code::too_large, "the session's journal is full");

    auto found = query(Write::find_session);
    found.bind(static_cast<std::int64_t>(append.session.number()));
    auto const there = found.next();
    if (!there) return std::unexpected(Failure{Reach::batch, there.error()});
    if (append.claims_alias) {
        auto holder = query(Write::find_alias);
        holder.bind(append.row->project).bind(append.row->alias);
        holder.bind(static_cast<std::int64_t>(append.session.number()));
        auto const holds = holder.next();
        if (!holds) return std::unexpected(Failure{Reach::batch, holds.error()});
        if (*holds)
            return refuse(Code::alias_taken,
                          "Another session holds the alias '" + append.row->alias + "'.");
    }
    auto const repeats = knows_delivery(append);
    if (!repeats) return std::unexpected(Failure{Reach::batch, repeats.error()});
    if (*repeats)
        return std::unexpected(Failure{Reach::append, port::moved(append.session).error()});
    if (append.source) {
        auto const newest = newest_of(append.source->session);
        if (!newest) return std::unexpected(Failure{Reach::batch, newest.error()});
        if (*newest != append.source->newest)
            return std::unexpected(Failure{Reach::append, port::source_changed(*append.source)});
    }
    // A session without any journal can still be deleted.
    if (append.after > 0 || (append.erase && *there)) {
        if (!*there || found.text(0) != append.session.bare())
            return std::unexpected(Failure{Reach::append, port::moved(append.session).error()});
        auto known = check_head(append);
        if (known) known->project = found.integer(1);
        return known;
    }
    if (*there) return check_deleted(append);
    if (!append.row) return refuse(Code::internal, "a session's first append needs its row");
    return Known{static_cast<std::int64_t>(append.session.number()), 0};
}

std::expected<Writer::Known, Writer::Failure> Writer::check_head(Append const& append) {
    auto const newest = is_newest(append);
    if (!newest) return std::unexpected(Failure{Reach::batch, newest.error()});
    if (*newest) return Known{static_cast<std::int64_t>(append.session.number()), 0};
    return std::unexpected(Failure{Reach::append, port::moved(append.session).error()});
}

Result<port::NewestFrame> Writer::newest_of(SessionId session) {
    auto last = query(Write::find_head);
    last.bind(key_of(session.number(), 0)).bind(key_of(session.number(), seq_end - 1) + 1);
    auto const row = last.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return port::NewestFrame();
    return newest_frame(session, last.integer(0), last.integer(1), last.integer(2), last.text(3));
}

// Returns true if the session's newest frame is the one on which the append was decided.
Result<bool> Writer::is_newest(Append const& append) {
    auto const newest = newest_of(append.session);
    if (!newest) return std::unexpected(newest.error());
    return newest->head == append.after && (!append.stamp || newest->stamp == *append.stamp);
}

}  // namespace dormouse::store::sqlite
