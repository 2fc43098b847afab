#include "runner/lane/stored.h"

#include "base/check.h"
#include "runner/lane/rows.h"
#include "runner/read/reading.h"
#include "wire/audit.h"
#include "wire/state_json.h"

#include <utility>

namespace dormouse::runner {

namespace {

// The rows of the decision that its events alone do not give.
void add_rows(session::Decision& decision, session::State const& state, Time at,
              port::Append& out) {
    for (session::OutboxMessage const& message : decision.outbox)
        out.outbox.push_back(outbox_row(state, message, at));
    for (session::KeptArtifact& kept : decision.artifacts) {
        CHECK(kept.bytes);
        out.artifacts.push_back({kept.seq, std::move(kept.bytes)});
    }
    for (session::PendingChange const& change : decision.pending)
        out.pending.push_back(pending_row(change));
}

}  // namespace

Result<port::Append> stored_append(session::State& state, session::Command command,
                                   session::Context const& context, OutgoingRows const& outgoing) {
    auto const attachments = take_attachments(command);
    auto const quarantined = quarantined_in(state);
    port::Append out;
    out.session = state.id;
    out.epoch = context.epoch;
    out.after = state.head;
    session::Decision decision = session::decide(state, command, context);
    if (!decision.answer) return std::unexpected(std::move(decision.answer.error()));
    add_attachments(attachments, decision.events, out);
    add_rewritten(attachments, state, decision.events, out);
    add_quarantined(quarantined, state, decision.events, out);
    add_rows(decision, state, context.at, out);
    std::vector<wire::RecordPtr> records;
    for (session::Event& event : decision.events) {
        for (std::string& key : session::keys_of(event))
            out.keys.push_back({std::move(key), event.seq});
        if (auto line = wire::audit_line(state.id, event)) out.audit.push_back(*std::move(line));
        records.push_back(wire::record(state.id, std::move(event)));
    }
    for (port::OutboxRow& row : outgoing(state, records, decision.pending))
        out.outbox.push_back(std::move(row));
    CHECK(state.id == out.session && state.head == out.after + records.size());
    out.frame = {out.after + 1, static_cast<std::uint32_t>(records.size()),
                 wire::pack(state.id, records)};
    out.wake_changed = false;
    out.row = session_row(state);
    out.erase = state.lifecycle == session::Lifecycle::deleted;
    return out;
}

Result<RedactionReport> redact_stored(port::Store& store, SessionId session,
                                      RedactionAsk const& ask, session::Actor const& by, Time now) {
    auto plan = plan_redaction(store, session, ask, by, now);
    if (!plan) return std::unexpected(std::move(plan.error()));
    RedactionReport report = std::move(plan->report);
    report.copies = std::move(plan->elsewhere);
    if (!plan->command || ask.dry_run) return report;
    auto read = read_session(store, session);
    if (!read) return std::unexpected(std::move(read.error()));
    session::Context context;
    context.at = now;
    context.epoch = store.epoch();
    auto append = stored_append(read->state, {.by = by, .body = *std::move(plan->command)}, context,
                                [](auto const&...) { return std::vector<port::OutboxRow>(); });
    if (!append) return std::unexpected(std::move(append.error()));
    append->snapshot =
        port::SnapshotRow{read->state.head, wire::snapshot_format, wire::write_state(read->state)};
    CHECK(append->frame.count > 0);
    report.seq = append->frame.first + append->frame.count - 1;
    report.at = now;
    auto const written = store.commit({&*append, 1});
    if (!written.front()) return std::unexpected(written.front().error());
    return report;
}

Result<void> delete_stored(port::Store& store, SessionId session, Seq head,
                           session::Context const& context, session::Actor const& by,
                           OutgoingRows const& outgoing) {
    auto read = read_session(store, session);
    if (!read) return std::unexpected(std::move(read.error()));
    session::Command command{.by = by,
                             .body = session::Delete{.if_match = head, .only_completed = true}};
    auto const append = stored_append(read->state, std::move(command), context, outgoing);
    if (!append) return std::unexpected(append.error());
    auto const written = store.commit({&*append, 1});
    if (!written.front()) return std::unexpected(written.front().error());
    return {};
}

}  // namespace dormouse::runner
