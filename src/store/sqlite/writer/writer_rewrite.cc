// Removes content for good (port::Rewrite). The append itself replaces the rows, with freed bytes
// overwritten (PRAGMA secure_delete). Older copies of the content may be left in free space of the
// file, and in the log: after the commit a small file is rebuilt without free space, and the free
// space of a large one is overwritten in steps (scrub.h). Then the log is truncated. A row in
// `meta` says that this is due, so that it is done after a crash, too.
#include "store/sqlite/schema/layout.h"
#include "store/sqlite/schema/short_form.h"
#include "store/sqlite/writer/writer.h"

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace dormouse::store::sqlite {

namespace {

using std::chrono::milliseconds, std::chrono::steady_clock;

constexpr milliseconds wait_for_readers{100};
constexpr milliseconds wait_for_disk{2'000};

bool failed_sync(Connection& connection) {
    return (sqlite3_extended_errcode(connection.handle()) & 0xff) == SQLITE_IOERR;
}

}  // namespace

Result<void> Writer::write_rewrite(port::Append const& append) {
    port::Rewrite const& rewrite = *append.rewrite;
    auto done = connection_.run("PRAGMA secure_delete=ON");
    if (done) done = run(Write::overwrite_due);
    if (!done) return done;
    remains_ = Remains::in_file;
    for (port::Frame const& frame : rewrite.frames)
        if (done = rewrite_frame(append.session, frame); !done) return done;
    for (Seq const seq : rewrite.artifacts) {
        auto const key = key_of(append.session.number(), seq);
        if (done = query(Write::erase_artifact).bind(key).run(); !done) return done;
    }
    for (port::OutboxKey const& key : rewrite.outbox) {
        auto take = query(Write::take_outbox_message);
        done = take.bind(key_of(key.from.number(), key.seq)).bind(std::int64_t{key.n}).run();
        if (!done) return done;
    }
    for (CallNo const call : rewrite.calls) {
        auto forget = query(Write::erase_sent_of);
        forget.bind(static_cast<std::int64_t>(append.session.number()));
        if (done = forget.bind(std::int64_t{call}).run(); !done) return done;
    }
    return {};
}

Result<void> Writer::rewrite_frame(SessionId session, port::Frame const& frame) {
    auto const key = key_of(session.number(), frame.first);
    auto const data = short_form(session, frame.bytes);
    auto put = query(Write::rewrite_frame);
    put.bind(key).bind(std::int64_t{frame.count});
    put.bind(frame_sum(port::stamp_of(session, frame))).bind(data);
    auto const found = put.next();
    if (!found) return std::unexpected(found.error());
    if (!*found)
        return fail(Code::internal, "the frame of event " + std::to_string(frame.first) + " of " +
                                        session.text() + " is missing");
    return put.run();
}

void Writer::overwrite() {
    if (stopped_) return;
    if (remains_ == Remains::in_file) {
        remains_ = rebuild();
        gentle_ = false;
        std::ignore = connection_.run("PRAGMA secure_delete=OFF");
        if (remains_ == Remains::in_log) overwrite_log();
    } else if (remains_ == Remains::in_log) {
        overwrite_log_now();
    }
}

// Nothing else is written while the file is rebuilt, and it is copied in memory.
Writer::Remains Writer::rebuild() {
    auto const bytes = connection_.integer(
        "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()");
    if (!bytes) return Remains::nowhere;  // the next open tries again
    if (*bytes > limits_.rebuilt_max && directory_) {
        if (scrub_) scrub_->repeat();
        pass_begun_ = steady_clock::now();
        return Remains::in_pages;
    }
    if (connection_.run("VACUUM")) {
        end_pass();
        return Remains::in_log;
    }
    if (failed_sync(connection_)) stopped_ = true;
    return Remains::nowhere;
}

bool Writer::has_remains() const { return (remains_ != Remains::nowhere || removed_) && !stopped_; }

std::optional<milliseconds> Writer::overwrite_some() {
    if (!has_remains()) return std::nullopt;
    if (remains_ == Remains::nowhere) {
        auto const wait = until_pass();
        if (wait > milliseconds(0)) return wait;
        begin_pass();
    }
    if (remains_ != Remains::in_log) return overwrite_pages();
    overwrite_log_now();
    if (remains_ == Remains::in_log) return wait_for_readers;
    return has_remains() ? std::optional(milliseconds(0)) : std::nullopt;
}

milliseconds Writer::overwrite_pages() {
    if (!scrub_) {
        auto opened = Scrub::open(*directory_);
        if (opened) scrub_ = *std::move(opened);
        // A file that has no map of its pages: the documents say what to do.
        else if (opened.error().code == Code::wrong_state)
            end_pass();
        if (!scrub_) return remains_ == Remains::in_log ? milliseconds(0) : wait_for_disk;
    }
    auto const done = scrub_->step();
    if (!done && done.error().code == Code::fail_stop) stopped_ = true;
    if (!done && done.error().code == Code::internal) nothing_remains();  // damaged
    if (!done) return wait_for_disk;
    note_changes();
    int const rc = sqlite3_wal_checkpoint_v2(connection_.handle(), "main",
                                             SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    if ((rc & 0xff) == SQLITE_IOERR) stopped_ = true;
    if (!*done) return milliseconds(1);
    end_pass();
    return milliseconds(0);
}

void Writer::note_changes() {
    if (changes_) changes_->note();
    if (scrub_) scrub_->note();
}

// If a reader still needs the log, the next commit tries again.
void Writer::overwrite_log() {
    note_changes();
    int const rc = sqlite3_wal_checkpoint_v2(connection_.handle(), "main",
                                             SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    if ((rc & 0xff) == SQLITE_IOERR) stopped_ = true;
    if (rc != SQLITE_OK) return;
    auto const done =
        connection_.run(removed_ ? "DELETE FROM meta WHERE name = 'overwrite'"
                                 : "DELETE FROM meta WHERE name IN ('overwrite', 'removed')");
    if (done) remains_ = Remains::nowhere;
}

// Does not wait for readers.
void Writer::overwrite_log_now() {
    auto const wait = connection_.integer("PRAGMA busy_timeout");
    if (!wait) return;
    sqlite3_busy_timeout(connection_.handle(), 0);
    overwrite_log();
    sqlite3_busy_timeout(connection_.handle(), static_cast<int>(*wait));
}

}  // namespace dormouse::store::sqlite
