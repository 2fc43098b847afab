#include "runner/bury.h"

#include "wire/audit.h"
#include "wire/post_json.h"

#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

struct Grave {
    port::SessionRow row;
    Seq head = 0;  // as far as frames are left
    std::optional<Parent> parent = {};
};

// Whose task the session works on, as far as its first record can be read.
std::optional<Parent> parent_of(port::JournalStore& store, SessionId session) {
    auto const frames = store.page(session, 1, 1);  // the first one alone
    if (!frames || frames->empty()) return std::nullopt;
    auto const records = wire::unpack(session, frames->front().first, frames->front().bytes);
    if (!records || records->empty()) return std::nullopt;
    auto const* const created = std::get_if<SessionCreated>(&records->front()->event.body);
    return created ? created->parent : std::nullopt;
}

// To the parent: its task has ended.
port::PostRow farewell(SessionId session, Seq seq, Parent const& parent, Time at) {
    port::PostRow row;
    row.key = {session, seq, 0};
    row.kind = "session";
    row.target = parent.session.text();
    row.body = wire::write_post(RunEnded{.task = parent.task, .gone = true});
    row.created = at;
    return row;
}

Result<Grave> find_grave(port::Store& store, SessionId session) {
    std::uint64_t const before = session.number() - 1;
    auto const rows = store.all_sessions(before, 1);
    if (!rows) return std::unexpected(rows.error());
    if (rows->empty() || rows->front().id != session || rows->front().status == "deleted")
        return fail(Code::not_found, "There is nothing with this id.");
    auto const heads = store.heads(before, 1);
    if (!heads) return std::unexpected(heads.error());
    bool const known = !heads->empty() && heads->front().session == session;
    return Grave{rows->front(), known ? heads->front().head : 0, parent_of(store, session)};
}

port::Append append_of(Grave grave, Burial const& with, SessionId session, Actor by) {
    Event event{grave.head + 1, with.at, 0, {}, SessionDeleted{std::move(by)}};
    port::Append out;
    out.session = session;
    out.epoch = with.epoch;
    out.after = grave.head;
    if (auto line = wire::audit_line(session, event)) out.audit.push_back(std::move(*line));
    if (grave.parent) out.posts.push_back(farewell(session, event.seq, *grave.parent, with.at));
    out.frame = {event.seq, 1, wire::pack(session, {wire::record(session, std::move(event))})};
    grave.row.status = "deleted";
    grave.row.updated = with.at;
    if (grave.head > 0) out.row = std::move(grave.row);
    out.erase = true;
    return out;
}

}  // namespace

void bury(Burial with, SessionId session, Actor by, Lane::Reply reply) {
    port::ask(
        with.journal, [session](port::Store& store) { return find_grave(store, session); },
        [with, session, by = std::move(by), reply = std::move(reply)](Result<Grave> grave) mutable {
            if (!grave) return reply(std::unexpected(std::move(grave.error())));
            Answer answer;
            answer.seq = grave->head + 1;
            with.writer.append(append_of(*std::move(grave), with, session, std::move(by)),
                               [answer, reply = std::move(reply)](Result<void> durable) mutable {
                                   if (!durable) return reply(std::unexpected(durable.error()));
                                   reply(answer);
                               });
        });
}

}  // namespace dormouse::runner
