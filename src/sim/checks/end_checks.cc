#include "sim/checks/end_checks.h"

#include "runner/repair/verify.h"
#include "session/testing/invariants.h"
#include "session/testing/ledger.h"

namespace dormouse::sim {

using namespace dormouse::session;

namespace {

// The runtime or a prompt settled the call, which are not among the recorded operations.
bool settled_by_another(std::vector<Operation> const& operations, Receipt const& receipt) {
    for (Operation const& operation : operations) {
        bool const asked = operation.kind != Operation::Kind::read;
        if (asked && operation.by == receipt.by.name) return false;
    }
    return true;
}

void agree_with_journal(std::vector<Operation> const& operations, Receipt const* receipt,
                        Findings& findings) {
    for (Operation const& operation : operations) {
        if (operation.observed != Operation::Observed::won) continue;
        bool const kept =
            receipt && receipt->by.name == operation.by && receipt->digest == operation.seen.digest;
        if (!kept) findings.add("lost: an operation won that the journal does not name");
    }
}

}  // namespace

bool is_idle(State const& state) {
    bool const over = state.lifecycle == Lifecycle::deleted;
    return over || (!state.turn && state.queue.empty() && state.outstanding.empty());
}

void check_store(port::Store& store, Durable const& durable, Findings& findings) {
    auto const report = runner::verify(store, [](std::uint64_t) {});
    if (!report) return findings.add("verify: " + report.error().detail);
    for (runner::Finding const& finding : report->findings) findings.add("verify: " + finding.what);
    std::uint64_t most = 0, least = 0;  // retention keeps what is still in use
    for (auto const& [id, session] : durable.sessions()) {
        if (session.state.lifecycle == Lifecycle::deleted) continue;
        most += session.records.size();
        least += session.records.size() - session.state.base.through;
    }
    if (report->events < least || report->events > most)
        findings.add("verify: the disk holds another number of events");
}

void check_sessions(Durable const& durable, Findings& findings) {
    for (auto const& [id, session] : durable.sessions()) {
        std::vector<Event> log;
        for (wire::RecordPtr const& record : session.records) log.push_back(record->event);
        testing::Ledger const ledger(log);
        if (!ledger.broken().empty()) findings.add("session: " + ledger.broken());
        // Mail in the inbox of a session that has ended stays unread.
        Lifecycle const lifecycle = session.state.lifecycle;
        bool const over = lifecycle == Lifecycle::completed || lifecycle == Lifecycle::deleted;
        bool const unread = over && !session.state.inbox.empty();
        if (!ledger.at_rest() && !unread) findings.add("session: something was never consumed");
        std::string const broken = testing::broken_of(session.state);
        if (!broken.empty()) findings.add("session: " + broken);
    }
}

namespace {

using Sent = std::map<std::pair<MailId, SessionId>, int>;  // how often it arrived or was returned

void count_outbox(Durable const& durable, Sent& sent, Findings& findings) {
    for (auto const& [id, session] : durable.sessions()) {
        std::map<SessionId, Seq> newest;
        for (wire::RecordPtr const& record : session.records) {
            Event const& event = record->event;
            if (auto const* e = std::get_if<MailSent>(&event.body)) {
                for (MailTarget const& to : e->to) sent.try_emplace({{id, event.seq}, to.session});
            } else if (auto const* e = std::get_if<MailReceived>(&event.body)) {
                ++sent[{e->mail->id, id}];
                Seq& last = newest[e->mail->id.session];
                if (e->mail->id.seq <= last) findings.add("mail: it came out of order");
                last = e->mail->id.seq;
            } else if (auto const* e = std::get_if<MailBounced>(&event.body)) {
                ++sent[{{id, e->mail}, e->to.session}];
            }
        }
    }
}

}  // namespace

void check_outbox(Durable const& durable, Findings& findings) {
    Sent sent;
    count_outbox(durable, sent, findings);
    for (auto const& [mail, count] : sent) {
        auto const* const sender = durable.find(mail.first.session);
        bool const gone = !sender || sender->state.lifecycle == Lifecycle::deleted;
        if (count == 0 && !gone) findings.add("lost: mail " + text(mail.first));
        if (count > 1) findings.add("repeat: mail " + text(mail.first) + " came twice");
    }
    for (auto const& [id, session] : durable.sessions()) {
        bool const over = session.state.lifecycle == Lifecycle::deleted;
        for (auto const& [no, task] : session.state.tasks) {
            if (!over && task.active()) findings.add("lost: the end of task " + task_id(id, no));
        }
    }
}

void check_histories(History const& history, Durable const& durable, Findings& findings) {
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
