#include "runner/lane/freshness.h"

#include "base/check.h"

#include <cstddef>
#include <iterator>
#include <utility>

namespace dormouse::runner {

namespace {
constexpr port::ReadKey beside_lists{1};  // not behind lists and the feed
}  // namespace

void Freshness::compare(SessionId session, port::NewestFrame newest, Done done) {
    CHECK(done);
    if (!shared_) return done(true);
    waiting_.push_back({session, newest, std::move(done)});
    // If others wait, a query is under way, or about to begin.
    if (waiting_.size() == 1) loop_.post(scope_.guard([this] { ask(); }));
}

void Freshness::ask() {
    CHECK(!waiting_.empty());
    std::vector<SessionId> sessions;
    for (Question const& question : waiting_) sessions.push_back(question.session);
    auto read = [sessions = std::move(sessions)](port::JournalStore& store) {
        return store.newest(sessions);
    };
    auto use = [this, count = waiting_.size()](
                   Result<std::vector<port::NewestFrame>> const& stored) { answer(count, stored); };
    port::ask(journal_, std::move(read), scope_.guard(std::move(use)), beside_lists);
}

void Freshness::answer(std::size_t count, Result<std::vector<port::NewestFrame>> const& stored) {
    CHECK(count <= waiting_.size() && (!stored || stored->size() == count));
    auto const asked_later = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<Question> questions(std::make_move_iterator(waiting_.begin()),
                                    std::make_move_iterator(asked_later));
    waiting_.erase(waiting_.begin(), asked_later);
    if (!waiting_.empty()) ask();
    for (std::size_t i = 0; i < count; ++i) {
        Question& question = questions[i];
        if (stored) {
            question.done((*stored)[i] == question.newest);
        } else {
            question.done(std::unexpected(stored.error()));
        }
    }
}

}  // namespace dormouse::runner
