#include "runner/lane/redact/redact_stored.h"

#include "runner/lane/rows.h"
#include "runner/read/reading.h"
#include "session/decide.h"
#include "wire/audit.h"
#include "wire/journal/record.h"
#include "wire/state_json.h"

#include <utility>
#include <vector>

namespace dormouse::runner {

namespace {

// What a lane would write for the command.
Result<port::Append> append_of(session::State& state, session::Command command,
                               session::Context const& context) {
    auto const attachments = take_attachments(command);
    port::Append out;
    out.session = state.id;
    out.epoch = context.epoch;
    out.after = state.head;
    session::Decision decision = session::decide(state, command, context);
    if (!decision.answer) return std::unexpected(std::move(decision.answer.error()));
    add_attachments(attachments, decision.events, out);
    add_rewritten(attachments, state, decision.events, out);
    std::vector<wire::RecordPtr> records;
    for (session::Event& event : decision.events) {
        if (auto line = wire::audit_line(state.id, event)) out.audit.push_back(*std::move(line));
        records.push_back(wire::record(state.id, std::move(event)));
    }
    out.frame = {out.after + 1, static_cast<std::uint32_t>(records.size()),
                 wire::pack(state.id, records)};
    out.wake_changed = false;
    out.row = session_row(state);
    out.snapshot = port::SnapshotRow{state.head, wire::snapshot_format, wire::write_state(state)};
    return out;
}

}  // namespace

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
    auto append = append_of(read->state, {.by = by, .body = *std::move(plan->command)}, context);
    if (!append) return std::unexpected(std::move(append.error()));
    report.seq = append->frame.first + append->frame.count - 1;
    report.at = now;
    auto const written = store.commit({&*append, 1});
    if (!written.front()) return std::unexpected(written.front().error());
    return report;
}

}  // namespace dormouse::runner
