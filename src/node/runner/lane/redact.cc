#include "runner/lane/redact.h"

#include <memory>
#include <utility>

namespace dormouse::runner {

namespace {

// So often a plan may be outdated by another redaction or by retention.
constexpr int plans_max = 8;

}  // namespace

struct Redactor::Job {
    SessionId session;
    RedactionAsk ask;
    Asker asker;
    Done done;
    int plans = 0;
};

void Redactor::redact(SessionId session, RedactionAsk ask, Asker asker, Done done) {
    asker.idem_key.clear();  // a repeat finds the event
    step(std::make_shared<Job>(Job{session, std::move(ask), std::move(asker), std::move(done)}));
}

void Redactor::step(std::shared_ptr<Job> const& job) {
    if (++job->plans > plans_max)
        return job->done(fail(Code::overloaded, "The session's journal changes all the time."));
    Time const now = runner_.now();
    auto make = [session = job->session, ask = job->ask, by = job->asker.by,
                 now](port::Store& store) { return plan_redaction(store, session, ask, by, now); };
    port::ask(journal_, std::move(make), scope_.guard([this, job](Result<RedactionPlan> plan) {
        if (!plan) return job->done(std::unexpected(std::move(plan.error())));
        take(job, std::move(*plan));
    }));
}

// Once it is done, it is planned again: the answer is read from the event.
void Redactor::take(std::shared_ptr<Job> const& job, RedactionPlan plan) {
    if (!plan.command || job->ask.dry_run) return job->done(std::move(plan.report));
    auto applied = scope_.guard([this, job](Result<session::Answer> const& answer) {
        bool const outdated = !answer && answer.error().code == Code::precondition_failed;
        if (!answer && !outdated) return job->done(std::unexpected(answer.error()));
        step(job);
    });
    runner_.command(job->session, *std::move(plan.command), job->asker, std::move(applied));
}

}  // namespace dormouse::runner
