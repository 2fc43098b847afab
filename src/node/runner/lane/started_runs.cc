#include "runner/lane/started_runs.h"

#include "base/check.h"
#include "base/crypto/sha256_stream.h"

#include <algorithm>
#include <span>
#include <string>

namespace dormouse::runner {

using namespace dormouse::session;

StartedRuns::Key StartedRuns::key_of(SessionId session, RunTool const& run) {
    Sha256Stream stream;
    stream.add(session.text() + " " + std::to_string(run.pending.call) + " " +
               std::to_string(run.pending.generation) + " " + std::to_string(run.attempt) + " " +
               run.tool + "\n");
    stream.add(run.input.text());
    Sha256 const digest = stream.finish();
    Key key{};
    std::ranges::copy(std::span(digest).first(key.size()), key.begin());
    return key;
}

bool StartedRuns::add(SessionId session, RunTool const& run) {
    if (known_ == 0) return true;
    Key const key = key_of(session, run);
    if (runs_.contains(key)) return false;
    newest_.push_back(key);
    runs_.insert(key);
    CHECK(runs_.size() <= newest_.size());  // so the oldest ones can be forgotten
    if (newest_.size() <= known_) return true;
    runs_.erase(newest_.front());
    newest_.pop_front();
    return true;
}

void StartedRuns::remove(SessionId session, RunTool const& run) {
    if (known_ != 0) runs_.erase(key_of(session, run));
}

}  // namespace dormouse::runner
