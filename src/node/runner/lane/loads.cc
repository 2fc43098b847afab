#include "runner/lane/loads.h"

#include "base/check.h"
#include "base/trace.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

namespace dormouse::runner {

namespace {
constexpr std::uint64_t first_key = 2;  // not behind lists, the feed and comparisons
}  // namespace

void Loads::read(KnownSession session, Done done) {
    trace();
    CHECK(done);
    if (!shared_) {
        auto question = [session](port::JournalStore& store) {
            return std::move(read_sessions(store, std::span(&session, 1)).front());
        };
        return port::ask(journal_, std::move(question), std::move(done),
                         port::read_key(session.id));
    }
    waiting_.push_back({session, std::move(done)});
    // If others wait, a query is about to begin, or begins when one has ended.
    if (waiting_.size() == 1) loop_.post(scope_.guard([this] { ask(); }));
}

void Loads::ask() {
    for (std::size_t place = 0; place < places && !waiting_.empty(); ++place)
        if (!busy_.at(place)) ask(place);
}

void Loads::ask(std::size_t place) {
    CHECK(!waiting_.empty() && !busy_.at(place));
    auto const end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), at_once));
    auto asked = std::make_shared<std::vector<Question>>(std::make_move_iterator(waiting_.begin()),
                                                         std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    busy_.at(place) = true;
    std::vector<KnownSession> sessions;
    for (Question const& question : *asked) sessions.push_back(question.session);
    auto question = [sessions = std::move(sessions)](port::JournalStore& store) {
        return read_sessions(store, sessions);
    };
    auto use = [this, place, asked](std::vector<Result<LoadedSession>> read) {
        answer(place, *asked, std::move(read));
    };
    port::ask(journal_, std::move(question), scope_.guard(std::move(use)),
              port::ReadKey{first_key + place});
}

void Loads::answer(std::size_t place, std::vector<Question>& asked,
                   std::vector<Result<LoadedSession>> read) {
    CHECK(busy_.at(place) && read.size() == asked.size());
    busy_.at(place) = false;
    ask();
    auto const alive = scope_.token();
    for (std::size_t i = 0; i < asked.size() && alive; ++i) asked[i].done(std::move(read[i]));
}

}  // namespace dormouse::runner
