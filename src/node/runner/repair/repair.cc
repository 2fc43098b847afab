// Repair: rebuilds rows that differ from their session's journal. The session's own lane does it,
// with an event in the journal. Existing events are never changed.
#include "base/check.h"
#include "runner/runner.h"

#include <algorithm>
#include <map>

namespace dormouse::runner {

using namespace session;

namespace {

struct Work {
    RepairReport report;
    std::size_t open = 0;
    port::Fn<void(Result<RepairReport>)> done;
};

// Returns for each session one sentence with all findings.
std::map<SessionId, std::string> by_session(std::vector<Finding> const& findings, bool repairable) {
    std::map<SessionId, std::string> out;
    for (Finding const& finding : findings) {
        if (can_be_repaired(finding) != repairable) continue;
        std::string& what = out[finding.session];
        if (what.size() < 1'000) what += (what.empty() ? "" : "; ") + finding.what;
    }
    return out;
}

}  // namespace

void Runner::repair(std::uint64_t after, bool dry_run, Asker asker,
                    port::Fn<void(Result<RepairReport>)> done) {
    CHECK(done);
    auto question = [after](port::Store& store) { return verify_page(store, after, repair_page); };
    auto use = [this, dry_run, asker = std::move(asker),
                done = std::move(done)](Result<VerifyReport> found) mutable {
        if (!found) return done(std::unexpected(std::move(found.error())));
        mend(*found, dry_run, asker, std::move(done));
    };
    port::ask(services_.journal, std::move(question), scope_.guard(std::move(use)));
}

void Runner::mend(VerifyReport const& found, bool dry_run, Asker const& asker,
                  port::Fn<void(Result<RepairReport>)> done) {
    auto const work = std::make_shared<Work>();
    work->report.sessions = found.sessions;
    work->report.events = found.events;
    work->report.next = found.next;
    work->done = std::move(done);
    // Rows of a session whose journal is damaged may be the only trace of what was lost.
    auto const beyond = by_session(found.findings, false);
    for (auto const& [session, what] : beyond)
        work->report.found.push_back({session, what, false, false});
    auto damaged = by_session(found.findings, true);
    std::erase_if(damaged, [&](auto const& one) { return beyond.contains(one.first); });
    for (auto const& [session, what] : damaged)
        work->report.found.push_back({session, what, false, true});
    if (dry_run || damaged.empty()) return work->done(std::move(work->report));
    work->open = damaged.size();
    for (auto const& [session, what] : damaged) {
        command(session, Repair{what}, asker, [this, work, session](Result<Answer> const& answer) {
            if (answer) outbox_.retry(session);
            auto const entry = std::ranges::find_if(work->report.found, [&](auto const& one) {
                return one.session == session && one.repairable;
            });
            CHECK(entry != work->report.found.end() && work->open > 0);
            entry->repaired = answer.has_value();
            if (--work->open == 0) work->done(std::move(work->report));
        });
    }
}

}  // namespace dormouse::runner
