#include "sim/judge.h"

#include "runner/verify.h"
#include "session/testing/invariants.h"
#include "session/testing/ledger.h"

namespace dormouse::sim {

using namespace dormouse::session;

namespace {

// Whoever settled the call is not among those whose operations are known: the runtime, or a prompt.
bool settled_by_another(std::vector<Operation> const& operations, Receipt const& receipt) {
    for (Operation const& operation : operations) {
        bool const asked = operation.kind != Operation::Kind::look;
        if (asked && operation.by == receipt.by.name) return false;
    }
    return true;
}

void agree_with_journal(std::vector<Operation> const& operations, Receipt const* receipt,
                        Findings& findings) {
    for (Operation const& operation : operations) {
        if (operation.verdict != Operation::Verdict::won) continue;
        bool const kept =
            receipt && receipt->by.name == operation.by && receipt->digest == operation.seen.digest;
        if (!kept) findings.add("lost: an operation won that the journal does not name");
    }
}

}  // namespace

bool at_rest(State const& state) {
    bool const over = state.lifecycle == Lifecycle::deleted;
    return over || (!state.turn && state.queue.empty() && state.owed.empty());
}

void judge_store(port::Store& store, Durable const& durable, Findings& findings) {
    auto const report = runner::verify(store, [](std::uint64_t) {});
    if (!report) return findings.add("verify: " + report.error().detail);
    for (runner::Finding const& finding : report->findings) findings.add("verify: " + finding.what);
    std::uint64_t events = 0;
    for (auto const& [id, session] : durable.sessions()) {
        bool const erased = session.state.lifecycle == Lifecycle::deleted;
        if (!erased) events += session.records.size();
    }
    if (events != report->events) findings.add("verify: the disk holds another number of events");
}

void judge_sessions(Durable const& durable, Findings& findings) {
    for (auto const& [id, session] : durable.sessions()) {
        std::vector<Event> log;
        for (wire::RecordPtr const& record : session.records) log.push_back(record->event);
        testing::Ledger const ledger(log);
        if (!ledger.broken().empty()) findings.add("session: " + ledger.broken());
        if (!ledger.at_rest()) findings.add("session: something was never consumed");
        std::string const broken = testing::broken_of(session.state);
        if (!broken.empty()) findings.add("session: " + broken);
    }
}

void judge_histories(History const& history, Durable const& durable, Findings& findings) {
    for (auto const& [pending, seen] : history.all()) {
        auto operations = seen;
        Receipt const* const receipt = durable.receipt(pending);
        agree_with_journal(operations, receipt, findings);
        if (receipt && settled_by_another(operations, *receipt)) {
            Operation other;
            other.kind = Operation::Kind::runtime;
            operations.push_back(other);
        }
        std::string const broken = check_register(operations);
        if (!broken.empty()) findings.add("history: " + broken + ": " + pending.text());
    }
}

}  // namespace dormouse::sim
