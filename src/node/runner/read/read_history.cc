#include "runner/read/read_history.h"

#include "base/check.h"

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

constexpr std::size_t call_page_bytes = std::size_t{32} << 10;
constexpr Seq call_read_back = 32;

// Adds the records from `from` to `to`. If `settled` is set, stops once the step that consumed that
// event is known.
Result<void> add_records(port::JournalStore& store, SessionId session, Seq from, Seq to,
                         Seq settled, wire::History& history) {
    while (from <= to) {
        if (settled != 0 && from > settled && history.consumed(settled)) return {};
        auto const records = read_some_records(store, session, from, to, call_page_bytes);
        if (!records) return std::unexpected(records.error());
        if (records->empty()) return {};
        for (wire::RecordPtr const& record : *records) history.add(*record);
        from = records->back()->event.seq + 1;
    }
    return {};
}

Snapshot snapshot_of(std::shared_ptr<Lane> lane) {
    Snapshot out{std::move(lane), wire::History(SessionId())};
    out.history = wire::History(out.lane->id());
    for (wire::RecordPtr const& record : out.lane->recent()) out.history.add(*record);
    return out;
}

}  // namespace

// The call was made an unknown number of events before it paused, so growing ranges are read.
Result<wire::History> read_call(port::JournalStore& store, PendingId const& pending, Seq base,
                                Seq head) {
    auto const row = store.pending(pending.session, pending.call, pending.generation);
    if (!row) return std::unexpected(row.error());
    wire::History history(pending.session);
    if (!*row) return history;
    Seq const opened = (*row)->paused;
    for (Seq back = call_read_back;; back *= 8) {
        bool const all = opened <= base + back;
        history = wire::History(pending.session);
        auto const added =
            add_records(store, pending.session, all ? base + 1 : opened - back, opened, 0, history);
        if (!added) return std::unexpected(added.error());
        if (all || history.calls().contains(pending.call)) break;
    }
    auto const rest =
        add_records(store, pending.session, opened + 1, head, (*row)->settled, history);
    if (!rest) return std::unexpected(rest.error());
    return history;
}

void read_history(Runner& runner, SessionId session, SnapshotFn done) {
    read_history_from(runner, session, 1, std::move(done));
}

void read_pending(Runner& runner, port::StoreView<port::JournalStore> journal,
                  PendingId const& pending, SnapshotFn done) {
    CHECK(done);
    auto looked = [&runner, journal, pending,
                   done = std::move(done)](Result<std::shared_ptr<Lane>> lane) mutable {
        if (!lane) return done(std::unexpected(std::move(lane.error())));
        if ((*lane)->recent_from_start()) return done(snapshot_of(*std::move(lane)));
        auto question = [pending, base = (*lane)->state().base.through,
                         head = (*lane)->state().head](port::JournalStore& store) {
            return read_call(store, pending, base, head);
        };
        auto answered = [&runner, pending,
                         done = std::move(done)](Result<wire::History> history) mutable {
            if (!history) return done(std::unexpected(std::move(history.error())));
            runner.read_lane(pending.session,
                             [history = *std::move(history),
                              done = std::move(done)](Result<std::shared_ptr<Lane>> now) mutable {
                                 if (!now) return done(std::unexpected(std::move(now.error())));
                                 done(Snapshot{*std::move(now), std::move(history)});
                             });
        };
        port::ask(journal, std::move(question), std::move(answered),
                  port::read_key(pending.session));
    };
    runner.read_lane(pending.session, std::move(looked));
}

void read_history_from(Runner& runner, SessionId session, Seq from, SnapshotFn done) {
    CHECK(done);
    runner.read(session, from,
                [session, done = std::move(done)](Result<Runner::Read> read) mutable {
                    if (!read) return done(std::unexpected(std::move(read.error())));
                    Snapshot snapshot{std::move(read->lane), wire::History(session)};
                    for (wire::RecordPtr const& record : read->records)
                        snapshot.history.add(*record);
                    done(std::move(snapshot));
                });
}

void read_open_calls(Runner& runner, SessionId session, SnapshotFn done) {
    CHECK(done);
    auto looked = [&runner, session,
                   done = std::move(done)](Result<std::shared_ptr<Lane>> lane) mutable {
        if (!lane) return done(std::unexpected(std::move(lane.error())));
        auto const& turn = (*lane)->state().turn;
        Seq const from = turn ? turn->input : (*lane)->state().head + 1;
        read_history_from(runner, session, from, std::move(done));
    };
    runner.read_lane(session, std::move(looked));
}

}  // namespace dormouse::runner
