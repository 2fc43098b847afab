// Removes content for good (port::Rewrite). The append itself replaces the rows, with freed bytes
// overwritten (PRAGMA secure_delete). Older copies of the content may be left in free space of the
// file, and in the log: after the commit the file is rebuilt without free space, and the log
// truncated. A row in `meta` says that this is due, so that it is done after a crash, too.
#include "store/sqlite/schema/layout.h"
#include "store/sqlite/schema/short_form.h"
#include "store/sqlite/writer/writer.h"

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <tuple>

namespace dormouse::store::sqlite {

namespace {

// A larger file is not rebuilt: nothing else is written meanwhile, and it is copied in memory.
constexpr std::int64_t rebuilt_bytes_max = std::int64_t{128} << 20;

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
    for (port::OutboxKey const& key : rewrite.posts) {
        auto take = query(Write::take_post);
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
    if (remains_ == Remains::nowhere || stopped_) return;
    if (remains_ == Remains::in_file) {
        bool const rebuilt = rebuild();
        std::ignore = connection_.run("PRAGMA secure_delete=OFF");
        // Otherwise the next open tries again.
        remains_ = rebuilt ? Remains::in_log : Remains::nowhere;
    }
    if (remains_ == Remains::in_log) overwrite_log();
}

bool Writer::rebuild() {
    auto const bytes = connection_.integer(
        "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()");
    if (!bytes) return false;
    if (*bytes > rebuilt_bytes_max) return true;
    auto const done = connection_.run("VACUUM");
    if (!done && (sqlite3_extended_errcode(connection_.handle()) & 0xff) == SQLITE_IOERR)
        stopped_ = true;
    return done.has_value();
}

// If a reader still needs the log, the next commit tries again.
void Writer::overwrite_log() {
    if (changes_) changes_->note();
    int const rc = sqlite3_wal_checkpoint_v2(connection_.handle(), "main",
                                             SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    if ((rc & 0xff) == SQLITE_IOERR) stopped_ = true;
    if (rc != SQLITE_OK) return;
    auto const done = connection_.run("DELETE FROM meta WHERE name = 'overwrite'");
    if (done) remains_ = Remains::nowhere;
}

}  // namespace dormouse::store::sqlite
