#include "runner/lane/freshness.h"

#include "base/check.h"

#include <utility>

namespace dormouse::runner {

void Freshness::compare(SessionId session, port::NewestFrame newest, Done done) {
    CHECK(done);
    if (!shared_) return done(true);
    waiting_.push_back({session, newest, std::move(done)});
    if (waiting_.size() == 1) loop_.post(scope_.guard([this] { ask(); }));
}

void Freshness::ask() {
    std::vector<SessionId> sessions;
    for (Question const& question : waiting_) sessions.push_back(question.session);
    auto read = [sessions = std::move(sessions)](port::JournalStore& store) {
        return store.newest(sessions);
    };
    auto use = [questions = std::exchange(waiting_, {})](
                   Result<std::vector<port::NewestFrame>> stored) mutable {
        CHECK(!stored || stored->size() == questions.size());
        for (std::size_t i = 0; i < questions.size(); ++i) {
            Question& question = questions[i];
            if (stored) {
                question.done((*stored)[i] == question.newest);
            } else {
                question.done(std::unexpected(stored.error()));
            }
        }
    };
    port::ask(journal_, std::move(read), scope_.guard(std::move(use)));
}

}  // namespace dormouse::runner
