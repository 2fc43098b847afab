// What deleted rows leave in the files: sessions that are deleted or archived, turns that retention
// cuts, and messages that are not kept any longer. Nobody waits for it as for a redaction
// (writer_rewrite.cc), so one pass over the pages (scrub.h) covers many deletions. It begins a
// minute after the first of them, or later after a pass that took long, and takes a small part of
// the time. An orderly end finishes it for a small file. A row in `meta` says that it is due.
#include "store/sqlite/writer/writer.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>

namespace dormouse::store::sqlite {

namespace {

using std::chrono::milliseconds, std::chrono::steady_clock;

// Between two passes the thread rests for at least 20 times the duration of the first.
constexpr int rest_after_pass = 20;
constexpr std::chrono::seconds end_max{2};

}  // namespace

Result<void> Writer::note_removal() {
    // Not undone with the transaction: then the pass finds nothing.
    if (!removed_) removed_ = steady_clock::now();
    return run(Write::removal_due);
}

Result<void> Writer::note_removal_if_changed() {
    return sqlite3_changes64(connection_.handle()) > 0 ? note_removal() : Result<void>();
}

// What a session that exists has sent is in its journal, too, and is noted when that is deleted.
Result<void> Writer::note_removal_of_deleted(SessionId session) {
    auto due = query(Write::removal_due_of);
    auto const noted = due.bind(static_cast<std::int64_t>(session.number())).next();
    if (!noted) return std::unexpected(noted.error());
    if (!*noted) return {};
    if (!removed_) removed_ = steady_clock::now();
    return due.run();
}

milliseconds Writer::until_pass() const {
    auto const rest =
        std::max<steady_clock::duration>(limits_.overwrite_after, last_pass_ * rest_after_pass);
    auto const left = *removed_ + rest - steady_clock::now();
    return std::max(std::chrono::ceil<milliseconds>(left), milliseconds(0));
}

void Writer::begin_pass() {
    remains_ = Remains::in_pages;
    gentle_ = true;
    pass_begun_ = steady_clock::now();
}

// The pass covers what was removed while it worked: it has read the pages again that changed.
void Writer::end_pass() {
    if (scrub_) last_pass_ = steady_clock::now() - pass_begun_;
    scrub_.reset();
    removed_.reset();
    remains_ = Remains::in_log;
}

// The next open tries again.
void Writer::nothing_remains() {
    scrub_.reset();
    removed_.reset();
    remains_ = Remains::nowhere;
}

void Writer::finish_pass() {
    bool const waits = remains_ == Remains::nowhere ? removed_.has_value() : gentle_;
    if (!waits || stopped_ || !directory_) return;
    auto const bytes = connection_.integer(
        "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()");
    if (!bytes || *bytes > limits_.rebuilt_max) return;
    if (remains_ == Remains::nowhere) begin_pass();
    auto const end = steady_clock::now() + end_max;
    while (remains_ == Remains::in_pages && !stopped_ && steady_clock::now() < end)
        if (overwrite_pages() > milliseconds(1)) break;
    if (remains_ == Remains::in_log) overwrite_log_now();
    scrub_.reset();
}

}  // namespace dormouse::store::sqlite
