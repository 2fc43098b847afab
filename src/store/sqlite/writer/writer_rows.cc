// Writes the rows of one append. writer.cc makes the append atomic.
#include "base/check.h"
#include "port/stored_row.h"
#include "store/sqlite/schema/layout.h"
#include "store/sqlite/schema/short_form.h"
#include "store/sqlite/writer/writer.h"

#include <algorithm>

namespace dormouse::store::sqlite {

using port::Append;
using port::bytes_of;
using port::PendingRow;
using port::PendingStatus;

Result<void> Writer::write(Append const& append, Known known, port::Stamp stamp) {
    if (known.was_deleted)
        if (auto done = forget_deleted(append.session); !done) return done;
    if (append.row)
        if (auto done = write_session(append, known); !done) return done;
    if (append.create_key) {
        auto const key = bytes_of(*append.create_key);
        auto done = query(Write::add_created).bind_bytes(key).bind(known.number).run();
        if (!done) return done;
    }
    if (auto done = write_delivered(append); !done) return done;
    if (auto done = write_feed(append, known); !done) return done;
    if (auto done = write_messages(append); !done) return done;
    for (auto const& line : append.audit)
        if (auto done = write_audit(line); !done) return done;
    if (auto done = write_rules(append); !done) return done;
    if (auto done = write_day_sums(append); !done) return done;
    if (append.erase) return erase(known.number);
    if (append.rewrite)
        if (auto done = write_rewrite(append); !done) return done;
    if (auto done = write_frame(append, stamp); !done) return done;
    if (auto done = write_artifacts(append); !done) return done;
    if (append.wake_changed) {
        auto done =
            append.wake_at
                ? query(Write::put_wake).bind(known.number).bind(to_ms(*append.wake_at)).run()
                : query(Write::clear_wake).bind(known.number).run();
        if (!done) return done;
    }
    if (append.base)
        if (auto done = write_base(append, known.number); !done) return done;
    if (append.rows_rebuilt) {
        for (auto const name : {Write::erase_pending_after, Write::erase_keys_after}) {
            auto const after = static_cast<std::int64_t>(append.rebuilt_after);
            if (auto done = query(name).bind(known.number).bind(after).run(); !done) return done;
        }
    }
    for (auto const& row : append.pending)
        if (auto done = write_pending(row, known); !done) return done;
    if (auto done = write_keys(append); !done) return done;
    if (auto done = write_secrets(append, known); !done) return done;
    return append.snapshot ? write_snapshot(append) : Result<void>{};
}

Result<void> Writer::write_session(Append const& append, Known& known) {
    auto const& row = *append.row;
    auto const turn = static_cast<std::int64_t>(row.turn);
    auto const agent = intern(row.agent);
    if (!agent) return std::unexpected(agent.error());
    if (append.after > 0) {
        auto change = query(Write::put_session);
        change.bind(known.number).bind(*agent).bind(row.alias).bind(row.title).bind(row.status);
        return change.bind(to_ms(row.updated)).bind(turn).run();
    }
    auto const project = intern(row.project);
    if (!project) return std::unexpected(project.error());
    known.project = *project;
    auto const id = row.id.bare();
    auto add = query(Write::add_session);
    add.bind(known.number)
        .bind(id)
        .bind(*project)
        .bind(*agent)
        .bind(row.alias)
        .bind(row.title)
        .bind(row.status);
    return add.bind(to_ms(row.created)).bind(to_ms(row.updated)).bind(turn).run();
}

Result<void> Writer::write_frame(Append const& append, port::Stamp stamp) {
    auto const& frame = append.frame;
    auto const key = key_of(append.session.number(), frame.first);
    auto const sum = frame_sum(stamp);
    auto const data = short_form(append.session, frame.bytes);
    auto add = query(Write::add_frame);
    return add.bind(key).bind(std::int64_t{frame.count}).bind(sum).bind(data).run();
}

Result<void> Writer::write_base(Append const& append, std::int64_t number) {
    port::BaseRow const& base = *append.base;
    CHECK(base.frame.first + base.frame.count <= append.frame.first);
    auto const through = static_cast<std::int64_t>(base.through);
    auto const start = key_of(append.session.number(), 0);
    auto const key = key_of(append.session.number(), base.frame.first);
    auto done = query(Write::erase_frames_to).bind(start).bind(key).run();
    if (!done) return done;
    auto const count = -std::int64_t{base.frame.count};  // negative: the first frame of the journal
    auto const sum = checksum(key, count, base.frame.bytes);
    auto const data = short_form(append.session, base.frame.bytes);
    auto add = query(Write::add_frame);
    done = add.bind(key).bind(count).bind(sum).bind(data).run();
    if (done) done = query(Write::erase_pending_to).bind(number).bind(through).run();
    if (done) done = query(Write::erase_keys_to).bind(number).bind(through).bind(base.keys).run();
    if (done)
        done = query(Write::erase_secrets_to).bind(number).bind(std::int64_t{base.call}).run();
    if (done) done = query(Write::erase_sent_to).bind(number).bind(std::int64_t{base.call}).run();
    if (!done) return done;
    // Erases the artifacts between those that stay.
    std::vector<Seq> kept = base.artifacts;
    kept.push_back(base.through + 1);
    std::ranges::sort(kept);
    Seq before = 0;
    for (Seq const seq : kept) {
        auto gap = query(Write::erase_artifacts);
        gap.bind(key_of(append.session.number(), before));
        done = gap.bind(key_of(append.session.number(), seq)).run();
        if (!done) return done;
        before = seq;
    }
    return note_removal();
}

Result<void> Writer::write_artifacts(Append const& append) {
    for (auto const& row : append.artifacts) {
        auto const key = key_of(append.session.number(), row.seq);
        auto const sum = checksum(key, static_cast<std::int64_t>(row.bytes->size()), *row.bytes);
        auto done = query(Write::add_artifact).bind(key).bind(sum).bind_bytes(*row.bytes).run();
        if (!done) return done;
    }
    return {};
}

Result<void> Writer::write_messages(Append const& append) {
    for (auto const& row : append.outbox) {
        CHECK(row.key.from == append.session);
        auto const key = key_of(row.key.from.number(), row.key.seq);
        std::optional<std::int64_t> makes;
        if (row.makes) makes = static_cast<std::int64_t>(row.makes->number());
        std::optional<std::int64_t> delivered;
        if (row.delivered) delivered = to_ms(*row.delivered);
        auto add = query(Write::add_outbox_message);
        add.bind(key).bind(std::int64_t{row.key.n}).bind(static_cast<std::int64_t>(row.state));
        add.bind(to_ms(row.next_at)).bind(row.kind).bind(row.target).bind(makes);
        add.bind(to_ms(row.created)).bind(std::int64_t{row.attempts});
        add.bind(std::int64_t{row.last_status}).bind(row.last_error).bind(delivered);
        add.bind(checksum(key, row.key.n, row.body)).bind_bytes(row.body);
        if (auto done = add.run(); !done) return done;
    }
    for (auto const& key : append.taken) {
        auto take = query(Write::take_outbox_message);
        auto done = take.bind(key_of(key.from.number(), key.seq)).bind(std::int64_t{key.n}).run();
        if (!done) return done;
    }
    return {};
}

Result<void> Writer::write_update(port::OutboxUpdate const& update) {
    auto const key = key_of(update.key.from.number(), update.key.seq);
    std::optional<std::int64_t> attempts;
    std::optional<std::int64_t> next_at;
    if (update.attempt) attempts = update.attempt->attempts;
    if (update.attempt) next_at = to_ms(update.attempt->next_at);
    if (update.gone) {
        auto drop = query(update.attempt ? Write::drop_message : Write::take_outbox_message);
        drop.bind(key).bind(std::int64_t{update.key.n});
        if (update.attempt) drop.bind(attempts).bind(next_at);
        auto const done = drop.run();
        return done ? note_removal_of_deleted(update.key.from) : done;
    }
    std::optional<std::int64_t> delivered;
    if (update.delivered) delivered = to_ms(*update.delivered);
    auto put = query(Write::put_message);
    put.bind(key).bind(std::int64_t{update.key.n}).bind(static_cast<std::int64_t>(update.state));
    put.bind(to_ms(update.next_at)).bind(std::int64_t{update.attempts});
    put.bind(std::int64_t{update.last_status}).bind(update.last_error).bind(delivered);
    put.bind(attempts).bind(next_at);
    if (auto done = put.run(); !done) return done;
    if (update.sent)
        if (auto done = write_sent(Write::put_sent, update.key, *update.sent); !done) return done;
    return update.closed ? write_sent(Write::drop_sent, update.key, *update.closed)
                         : Result<void>();
}

// A session that was deleted meanwhile keeps no messages.
Result<void> Writer::write_sent(Write what, port::OutboxKey const& key, port::SentRow const& row) {
    auto change = query(what);
    change.bind(static_cast<std::int64_t>(key.from.number())).bind(std::int64_t{row.call});
    change.bind(std::int64_t{row.generation}).bind(row.target).bind(row.reference);
    if (what == Write::put_sent) change.bind(row.body);
    return change.run();
}

// If an append was undone (its savepoint was rolled back), its number stays unused.
Result<void> Writer::write_feed(Append const& append, Known known) {
    auto const key = key_of(append.session.number(), append.frame.first);
    auto add = query(Write::add_feed);
    add.bind(static_cast<std::int64_t>(++feeding_)).bind(append.erase ? -key : key);
    return add.bind(known.project).run();
}

// Trims in steps, not in every append: a small excess over the limit is harmless.
Result<void> Writer::trim_feed() {
    auto const step = std::max<std::uint64_t>(1, feed_.kept / 100);
    if (feeding_ <= feed_.kept || feeding_ / step == feed_.head / step) return {};
    return query(Write::trim_feed).bind(static_cast<std::int64_t>(feeding_ - feed_.kept)).run();
}

Result<void> Writer::write_pending(PendingRow const& row, Known known) {
    auto const tool = intern(row.tool);
    if (!tool) return std::unexpected(tool.error());
    std::optional<std::int64_t> timeout;
    if (row.timeout) timeout = to_ms(*row.timeout);
    auto put = query(Write::put_pending);
    put.bind(known.number).bind(std::int64_t{row.call}).bind(std::int64_t{row.generation});
    put.bind(static_cast<std::int64_t>(row.status))
        .bind(known.project)
        .bind(*tool)
        .bind(to_ms(row.created));
    put.bind(timeout)
        .bind(static_cast<std::int64_t>(row.paused))
        .bind(static_cast<std::int64_t>(row.settled))
        .bind(row.external_ref);
    return put.run();
}

Result<void> Writer::write_keys(Append const& append) {
    auto const number = static_cast<std::int64_t>(append.session.number());
    for (auto const& row : append.keys) {
        CHECK(row.key.size() <= key_size_max);
        auto add = query(Write::add_key);
        auto done =
            add.bind(number).bind_bytes(row.key).bind(static_cast<std::int64_t>(row.seq)).run();
        if (!done) return done;
    }
    return {};
}

Result<void> Writer::write_secrets(Append const& append, Known known) {
    for (auto const& row : append.secrets) {
        auto put = query(Write::put_secret);
        put.bind(known.number).bind(std::int64_t{row.call}).bind(std::int64_t{row.generation});
        if (auto done = put.bind(row.secret).run(); !done) return done;
    }
    return {};
}

Result<bool> Writer::knows_delivery(Bits128 const& key) {
    auto known = query(Write::find_delivered);
    known.bind_bytes(bytes_of(key));
    return known.next();
}

Result<bool> Writer::knows_delivery(Append const& append) {
    for (auto const& row : append.delivered) {
        auto known = knows_delivery(row.key);
        if (!known || *known) return known;
    }
    return false;
}

Result<void> Writer::write_delivered(Append const& append) {
    for (auto const& row : append.delivered) {
        auto const key = bytes_of(row.key);
        auto done =
            query(Write::add_delivered).bind_bytes(key).bind_bytes(bytes_of(row.digest)).run();
        if (done) done = query(Write::forget_kept).bind_bytes(key).run();
        if (!done) return done;
    }
    return {};
}

Result<void> Writer::write_kept(port::KeptRow const& row) {
    auto const key = bytes_of(row.delivery.key);
    auto const known = knows_delivery(row.delivery.key);
    if (!known) return std::unexpected(known.error());
    if (*known) return fail(Code::conflict, "this delivery is known");
    auto add = query(Write::add_kept);
    add.bind_bytes(key).bind_bytes(bytes_of(row.delivery.digest)).bind(row.delivery_id);
    add.bind(to_ms(row.at)).bind(row.source);
    return add.bind(row.project).bind(row.reference).bind(row.body).run();
}

Result<void> Writer::drop_kept(std::span<Bits128 const> keys) {
    return transact([&]() -> Result<void> {
        for (Bits128 const& key : keys) {
            auto done = query(Write::forget_kept).bind_bytes(bytes_of(key)).run();
            if (!done) return done;
        }
        return note_removal();
    });
}

Result<void> Writer::drop_old_kept(Time until) {
    return transact([&] { return query(Write::drop_old_kept).bind(to_ms(until)).run(); });
}

Result<void> Writer::write_snapshot(Append const& append) {
    auto const& snapshot = *append.snapshot;
    auto const number = append.session.number();
    auto const sum = checksum(key_of(number, snapshot.seq), snapshot.format, snapshot.state);
    auto put = query(Write::put_snapshot);
    put.bind(static_cast<std::int64_t>(number)).bind(static_cast<std::int64_t>(snapshot.seq));
    return put.bind(std::int64_t{snapshot.format}).bind(sum).bind_bytes(snapshot.state).run();
}

// The row in `sessions` and the create key stay: the number is never used again, and a repeated
// create finds the key.
Result<void> Writer::erase(std::int64_t number) {
    auto const first = key_of(static_cast<std::uint64_t>(number), 0);
    auto const last = key_of(static_cast<std::uint64_t>(number), seq_end - 1);
    for (auto const name : {Write::erase_frames, Write::erase_artifacts})
        if (auto done = query(name).bind(first).bind(last + 1).run(); !done) return done;
    for (auto const name :
         {Write::erase_pending, Write::erase_keys, Write::erase_snapshot, Write::erase_secrets,
          Write::erase_sent, Write::erase_rules, Write::clear_wake, Write::mark_deleted})
        if (auto done = query(name).bind(number).run(); !done) return done;
    return note_removal();
}

Result<std::int64_t> Writer::intern(std::string_view name) {
    {
        auto known = query(Write::find_name);
        known.bind(name);
        auto const row = known.next();
        if (!row) return std::unexpected(row.error());
        if (*row) return known.integer(0);
    }
    auto add = query(Write::add_name);
    add.bind(name);
    auto const row = add.next();
    if (!row) return std::unexpected(row.error());
    auto const id = add.integer(0);
    auto const done = add.run();  // INSERT ... RETURNING takes effect completely only at its end
    if (!done) return std::unexpected(done.error());
    return id;
}

}  // namespace dormouse::store::sqlite
