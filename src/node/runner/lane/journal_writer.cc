#include "runner/lane/journal_writer.h"

#include "base/check.h"
#include "base/trace.h"

#include <utility>

namespace dormouse::runner {

namespace {

// See port::Append.
void check(port::Append const& append) {
    port::Frame const& frame = append.frame;
    CHECK(frame.count == 0 ? append.drive != port::Drive::none : frame.first == append.after + 1);
    CHECK(frame.count != 0 || (!append.snapshot && !append.base && !append.rewrite));
    CHECK(!append.base || append.base->frame.first < frame.first);
    CHECK(!append.rewrite || append.erase || append.snapshot);
}

}  // namespace

void JournalWriter::append(port::Append append, Done done) {
    CHECK(done);
    check(append);
    waiting_.emplace_back(std::move(append), std::move(done));
    if (!std::exchange(busy_, true)) loop_.post(scope_.guard([this] { commit(); }));
}

void JournalWriter::commit() {
    trace();
    CHECK(busy_ && !waiting_.empty());
    std::vector<port::Append> appends;
    std::vector<Done> dones;
    while (!waiting_.empty() && appends.size() < batch_max) {
        appends.push_back(std::move(waiting_.front().first));
        dones.push_back(std::move(waiting_.front().second));
        waiting_.pop_front();
    }
    CHECK(!appends.empty() && appends.size() <= batch_max);
    ++commits_;
    appends_ += appends.size();
    auto use = [this, dones = std::move(dones)](std::vector<port::AppendResult> results) mutable {
        finish(std::move(dones), std::move(results));
    };
    journal_.commit(std::move(appends), scope_.guard(std::move(use)));
}

void JournalWriter::finish(std::vector<Done> dones, std::vector<port::AppendResult> results) {
    CHECK(busy_ && results.size() == dones.size());
    for (std::size_t i = 0; i < dones.size(); ++i) dones[i](std::move(results[i]));
    busy_ = !waiting_.empty();  // the lanes have reopened, and what waited for them is queued
    if (busy_) commit();
}

}  // namespace dormouse::runner
