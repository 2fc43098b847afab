#include "runner/rows.h"

#include "wire/post_json.h"

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

port::PendingStatus status_of(std::optional<CallStatus> status) {
    if (!status) return port::PendingStatus::waiting;
    switch (*status) {
        case CallStatus::completed: return port::PendingStatus::completed;
        case CallStatus::failed: return port::PendingStatus::failed;
        case CallStatus::expired: return port::PendingStatus::expired;
        case CallStatus::cancelled: return port::PendingStatus::cancelled;
    }
    return port::PendingStatus::waiting;
}

bool shown_in_row(Event::Body const& body) {
    return std::holds_alternative<SessionCreated>(body) ||
           std::holds_alternative<SessionChanged>(body) ||
           std::holds_alternative<StatusChanged>(body) ||
           std::holds_alternative<SessionEnded>(body) ||
           std::holds_alternative<SessionDeleted>(body);
}

}  // namespace

port::PendingRow pending_row(PendingChange const& change) {
    return {change.pending.call,
            change.pending.generation,
            status_of(change.status),
            change.tool,
            change.created,
            change.deadline,
            change.paused,
            change.settled};
}

// Those between sessions are tried in the order of their sender's events, whatever its clock says.
port::PostRow post_row(State const& state, Post const& post, Time at) {
    port::PostRow row;
    row.key = {state.id, post.seq, post.n};
    row.kind = "session";
    row.target = post.to.text();
    row.body = wire::write_post(post.what);
    auto const* run = std::get_if<StartRun>(&post.what);
    if (run && run->run == 1) row.makes = post.to;
    row.created = at;
    return row;
}

port::SessionRow session_row(State const& state) {
    return {state.id,      state.project, state.agent,
            state.alias,   state.title,   std::string(text(state.lifecycle)),
            state.created, state.updated};
}

std::optional<port::SessionRow> changed_row(State const& state,
                                            std::vector<wire::RecordPtr> const& records) {
    for (wire::RecordPtr const& record : records) {
        if (shown_in_row(record->event.body)) return session_row(state);
    }
    return std::nullopt;
}

}  // namespace dormouse::runner
