#include "runner/repair/delete_unreadable.h"

#include "base/check.h"
#include "wire/audit.h"
#include "wire/outbox_json.h"

#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

// The rows of the session that the deletion uses.
struct StoredRows {
    port::SessionRow row;
    Seq head = 0;  // as far as frames are left
    std::optional<Parent> parent = {};
};

// The parent for whose task the session works, if its first record can be read.
std::optional<Parent> parent_of(port::JournalStore& store, SessionId session) {
    auto const frames = store.page(session, 1, 1);  // the first frame only
    if (!frames || frames->empty()) return std::nullopt;
    auto const records = wire::unpack(session, frames->front().first, frames->front().bytes);
    if (!records || records->empty()) return std::nullopt;
    auto const* const created = std::get_if<SessionCreated>(&records->front()->event.body);
    return created ? created->parent : std::nullopt;
}

// Notifies the parent that its task has ended.
port::OutboxRow task_ended_row(SessionId session, Seq seq, Parent const& parent, Time at) {
    port::OutboxRow row;
    row.key = {session, seq, 0};
    row.kind = "session";
    row.target = parent.session.text();
    row.body = wire::write_outbox_body(RunEnded{.task = parent.task, .gone = true});
    row.created = at;
    return row;
}

Result<StoredRows> find_stored(port::Store& store, SessionId session) {
    std::uint64_t const before = session.number() - 1;
    auto const rows = store.all_sessions(before, 1);
    if (!rows) return std::unexpected(rows.error());
    if (rows->empty() || rows->front().id != session || rows->front().status == "deleted")
        return fail(Code::not_found, "This id was not found.");
    auto const heads = store.heads(before, 1);
    if (!heads) return std::unexpected(heads.error());
    bool const known = !heads->empty() && heads->front().session == session;
    return StoredRows{rows->front(), known ? heads->front().head : 0, parent_of(store, session)};
}

port::Append append_of(StoredRows stored, DeletionServices const& with, SessionId session,
                       Actor by) {
    CHECK(stored.row.id == session);
    Event event{stored.head + 1, with.at, 0, {}, SessionDeleted{std::move(by)}};
    port::Append out;
    out.session = session;
    out.epoch = with.epoch;
    out.after = stored.head;
    if (auto line = wire::audit_line(session, event)) out.audit.push_back(std::move(*line));
    if (stored.parent)
        out.outbox.push_back(task_ended_row(session, event.seq, *stored.parent, with.at));
    out.frame = {event.seq, 1, wire::pack(session, {wire::record(session, std::move(event))})};
    stored.row.status = "deleted";
    stored.row.turn = port::TurnState::rest;
    stored.row.updated = with.at;
    if (stored.head > 0) out.row = std::move(stored.row);
    out.erase = true;
    return out;
}

}  // namespace

void delete_unreadable(DeletionServices with, SessionId session, Actor by, Lane::Reply reply) {
    CHECK(reply);
    port::ask(
        with.journal, [session](port::Store& store) { return find_stored(store, session); },
        [with, session, by = std::move(by),
         reply = std::move(reply)](Result<StoredRows> stored) mutable {
            if (!stored) return reply(std::unexpected(std::move(stored.error())));
            Answer answer;
            answer.seq = stored->head + 1;
            with.writer.append(
                append_of(*std::move(stored), with, session, std::move(by)),
                [answer, reply = std::move(reply)](port::AppendResult durable) mutable {
                    if (!durable) return reply(std::unexpected(durable.error()));
                    reply(answer);
                });
        });
}

}  // namespace dormouse::runner
