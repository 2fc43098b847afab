// Retention: sessions that were completed long ago are deleted, oldest first, a small batch at a
// time, each by a command of its own, as if somebody had asked for it.
#include "runner/runner.h"

#include <algorithm>

namespace dormouse::runner {

using namespace session;

namespace {

// How the commands of one batch ended.
struct Batch {
    std::size_t open = 0;
    std::size_t deleted = 0;
};

}  // namespace

void Runner::sweep() {
    if (draining_ || failed_) return;
    Time const until = now() - *options_.completed_after;
    port::ask(
        world_.journal,
        [until](port::Store& store) { return store.completed_until(until, sweep_size); },
        [this, alive = alive_](Result<std::vector<SessionId>> completed) {
            if (!*alive) return;
            bool const some = completed && !completed->empty();
            some ? sweep(*completed) : sweep_again(sweep_every_max);
        });
}

// One that was taken up again meanwhile is refused (only_completed). The next batch follows at once
// while all of a full one went.
void Runner::sweep(std::vector<SessionId> const& completed) {
    auto const batch = std::make_shared<Batch>(Batch{.open = completed.size()});
    for (SessionId const session : completed) {
        command(session, Delete{.only_completed = true}, Asker{},
                [this, alive = alive_, batch](Result<Answer> const& answer) {
                    if (answer) ++batch->deleted;
                    if (--batch->open > 0 || !*alive) return;
                    if (batch->deleted > 0 && on_swept_) on_swept_(batch->deleted);
                    sweep_again(batch->deleted == sweep_size ? Duration(0) : sweep_every_max);
                });
    }
}

void Runner::sweep_again(Duration delay) {
    Duration const often = std::max(Duration(1'000), *options_.completed_after);
    world_.loop.after(std::min(delay, often), [this, alive = alive_] {
        if (*alive) sweep();
    });
}

}  // namespace dormouse::runner
