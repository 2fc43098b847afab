#include "store/sqlite/rewrite.h"

#include "base/text/text.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/schema/layout.h"
#include "store/sqlite/schema/short_form.h"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::store::sqlite {

namespace {

using port::Rewriter;

constexpr std::size_t batch_bytes = std::size_t{4} << 20;
constexpr std::int64_t batch_rows = 200;
constexpr int rewrite_wait_ms = 10'000;

// Binds the parameters of an update. It owns what it binds.
using Bind = std::function<void(Query&)>;
// The new content of a row; nullopt: it stays.
using Change = Result<std::optional<Bind>>;
using Handler = Change (*)(Query const& row, Rewriter& rewriter);

// `select`: rows whose cursor is beyond ?1, in its order, at most ?2. Column 0 is the cursor, and
// column 1 the id of the session, if there is one.
struct ContentTable {
    char const* select;
    char const* update;
    Handler handle;
    bool by_text = false;  // the cursor
};

SessionId session_in(Query const& row) {
    return SessionId{parse_base64url_128(row.text(1)).value_or(Bits128{})};
}

std::unexpected<Error> is_damaged(std::string const& what) {
    return fail(Code::internal,
                "dormouse.db is damaged: " + what + "; dormouse verify lists all that is");
}

Change handle_frame(Query const& row, Rewriter& rewriter) {
    auto const key = row.integer(0);
    auto const n = row.integer(2);
    auto const session = session_in(row);
    port::Frame frame{seq_of(key), static_cast<std::uint32_t>(std::abs(n)),
                      long_form(session, row.text(4))};
    bool const sound = n < 0 ? checksum(key, n, frame.bytes) == row.integer(3)
                             : is_frame_sum(row.integer(3), port::stamp_of(session, frame));
    if (!sound) return is_damaged(session.text() + ", event " + std::to_string(frame.first));
    auto changed = rewriter.frame(session, frame);
    if (!changed) return std::nullopt;
    frame.bytes = *std::move(changed);
    auto const sum =
        n < 0 ? checksum(key, n, frame.bytes) : frame_sum(port::stamp_of(session, frame));
    return Bind([key, sum, bytes = short_form(session, frame.bytes)](Query& update) {
        update.bind(key).bind(sum).bind(std::string_view(bytes));
    });
}

Change handle_snapshot(Query const& row, Rewriter& rewriter) {
    auto const session = session_in(row);
    port::SnapshotRow const snapshot{static_cast<Seq>(row.integer(2)),
                                     static_cast<std::uint32_t>(row.integer(3)),
                                     std::string(row.text(5))};
    auto const place = key_of(session.number(), snapshot.seq);
    if (checksum(place, snapshot.format, snapshot.state) != row.integer(4))
        return is_damaged("the snapshot of " + session.text());
    auto changed = rewriter.snapshot(session, snapshot);
    if (!changed) return std::nullopt;
    auto const sum = checksum(place, snapshot.format, *changed);
    return Bind([no = row.integer(0), sum, bytes = *std::move(changed)](Query& update) {
        update.bind(no).bind(sum).bind_bytes(bytes);
    });
}

Change handle_artifact(Query const& row, Rewriter& rewriter) {
    auto const key = row.integer(0);
    std::string const bytes(row.text(3));
    auto const sum_of = [key](std::string const& of) {
        return checksum(key, static_cast<std::int64_t>(of.size()), of);
    };
    if (sum_of(bytes) != row.integer(2))
        return is_damaged("the artifact of " + session_in(row).text() + ", event " +
                          std::to_string(seq_of(key)));
    auto changed = rewriter.artifact(session_in(row), seq_of(key), bytes);
    if (!changed) return std::nullopt;
    auto const sum = sum_of(*changed);
    return Bind([key, sum, bytes = *std::move(changed)](Query& update) {
        update.bind(key).bind(sum).bind_bytes(bytes);
    });
}

// Title: no checksum.
Change handle_title(Query const& row, Rewriter& rewriter) {
    auto changed = rewriter.title(session_in(row), std::string(row.text(2)));
    if (!changed) return std::nullopt;
    return Bind([no = row.integer(0), title = *std::move(changed)](Query& update) {
        update.bind(no).bind(std::string_view(title));
    });
}

Change handle_message(Query const& row, Rewriter& rewriter) {
    port::OutboxKey const key{session_in(row), seq_of(row.integer(2)),
                              static_cast<std::uint32_t>(row.integer(3))};
    std::string const body(row.text(5)), error(row.text(6));
    if (checksum(row.integer(2), row.integer(3), body) != row.integer(4))
        return is_damaged("a message of " + key.from.text() + ", event " + std::to_string(key.seq));
    auto const new_body = rewriter.message(key, body);
    auto const new_error = error.empty() ? Rewriter::Changed() : rewriter.message_error(key, error);
    if (!new_body && !new_error) return std::nullopt;
    auto const kept = new_body.value_or(body);
    return Bind([id = row.integer(0), sum = checksum(row.integer(2), row.integer(3), kept), kept,
                 text = new_error.value_or(error)](Query& update) {
        update.bind(id).bind(sum).bind_bytes(kept).bind(std::string_view(text));
    });
}

Change handle_secret(Query const& row, Rewriter& rewriter) {
    port::SecretRow const secret{static_cast<CallNo>(row.integer(2)),
                                 static_cast<Generation>(row.integer(3)), std::string(row.text(4))};
    auto changed = rewriter.secret(session_in(row), secret);
    if (!changed) return std::nullopt;
    return Bind([no = row.integer(0), call = row.integer(2), gen = row.integer(3),
                 text = *std::move(changed)](Query& update) {
        update.bind(no).bind(call).bind(gen).bind(std::string_view(text));
    });
}

Change handle_sent(Query const& row, Rewriter& rewriter) {
    port::SentRow const sent{static_cast<CallNo>(row.integer(2)),
                             static_cast<Generation>(row.integer(3)), std::string(row.text(4)),
                             std::string(row.text(5)), std::string(row.text(6))};
    auto changed = rewriter.sent(session_in(row), sent);
    if (!changed) return std::nullopt;
    return Bind([no = row.integer(0), sent, text = *std::move(changed)](Query& update) {
        update.bind(no).bind(std::int64_t{sent.call}).bind(std::int64_t{sent.generation});
        update.bind(std::string_view(sent.target)).bind(std::string_view(sent.reference));
        update.bind(std::string_view(text));
    });
}

Change handle_kept(Query const& row, Rewriter& rewriter) {
    auto changed = rewriter.kept(port::bits_of(row.text(1)), std::string(row.text(2)));
    if (!changed) return std::nullopt;
    return Bind([id = row.integer(0), text = *std::move(changed)](Query& update) {
        update.bind(id).bind(std::string_view(text));
    });
}

Change handle_rule(Query const& row, Rewriter& rewriter) {
    std::string const id(row.text(0)), body(row.text(3));
    if (checksum(row.integer(1), 0, id + body) != row.integer(2))
        return is_damaged("the rule " + id);
    auto changed = rewriter.rule(id, body);
    if (!changed) return std::nullopt;
    auto const sum = checksum(row.integer(1), 0, id + *changed);
    return Bind([id, sum, text = *std::move(changed)](Query& update) {
        update.bind(std::string_view(id)).bind(sum).bind(std::string_view(text));
    });
}

Change handle_device(Query const& row, Rewriter& rewriter) {
    port::DeviceRow device;
    device.id = row.text(0);
    device.p256dh = row.text(1);
    device.auth = row.text(2);
    auto changed = rewriter.device(device);
    if (!changed) return std::nullopt;
    return Bind([device = *std::move(changed)](Query& update) {
        update.bind(std::string_view(device.id)).bind(std::string_view(device.p256dh));
        update.bind(std::string_view(device.auth));
    });
}

#define OF_SESSION " JOIN sessions s ON s.no = "
constexpr std::array content_tables{
    ContentTable{"SELECT j.k, s.id, j.n, j.sum, j.data FROM journal j" OF_SESSION
                 "j.k >> 24 WHERE j.k > ?1 ORDER BY j.k LIMIT ?2",
                 "UPDATE journal SET sum = ?2, data = ?3 WHERE k = ?1", handle_frame},
    ContentTable{"SELECT t.no, s.id, t.seq, t.format, t.sum, t.state FROM snapshots t" OF_SESSION
                 "t.no WHERE t.no > ?1 ORDER BY t.no LIMIT ?2",
                 "UPDATE snapshots SET sum = ?2, state = ?3 WHERE no = ?1", handle_snapshot},
    ContentTable{"SELECT t.k, s.id, t.sum, t.data FROM artifacts t" OF_SESSION
                 "t.k >> 24 WHERE t.k > ?1 ORDER BY t.k LIMIT ?2",
                 "UPDATE artifacts SET sum = ?2, data = ?3 WHERE k = ?1", handle_artifact},
    ContentTable{
        "SELECT no, id, title FROM sessions WHERE no > ?1 AND title <> '' ORDER BY no LIMIT ?2",
        "UPDATE sessions SET title = ?2 WHERE no = ?1", handle_title},
    ContentTable{"SELECT t.id, s.id, t.k, t.n, t.sum, t.data, t.last_error FROM posts t" OF_SESSION
                 "t.k >> 24 WHERE t.id > ?1 ORDER BY t.id LIMIT ?2",
                 "UPDATE posts SET sum = ?2, data = ?3, last_error = ?4 WHERE id = ?1",
                 handle_message},
    // All rows of the next session.
    ContentTable{"SELECT t.no, s.id, t.call, t.gen, t.secret FROM secrets t" OF_SESSION
                 "t.no WHERE t.no = (SELECT min(no) FROM secrets WHERE no > ?1) AND ?2 > 0",
                 "UPDATE secrets SET secret = ?4 WHERE no = ?1 AND call = ?2 AND gen = ?3",
                 handle_secret},
    ContentTable{
        "SELECT t.no, s.id, t.call, t.gen, t.target, t.ref, t.body FROM sent t" OF_SESSION
        "t.no WHERE t.no = (SELECT min(no) FROM sent WHERE no > ?1) AND ?2 > 0",
        "UPDATE sent SET body = ?6 WHERE no = ?1 AND call = ?2 AND gen = ?3 AND target = ?4"
        " AND ref = ?5",
        handle_sent},
    ContentTable{"SELECT rowid, key, body FROM kept WHERE rowid > ?1 ORDER BY rowid LIMIT ?2",
                 "UPDATE kept SET body = ?2 WHERE rowid = ?1", handle_kept},
    ContentTable{
        "SELECT id, coalesce(no, 0), sum, data FROM rules WHERE id > ?1 ORDER BY id LIMIT ?2",
        "UPDATE rules SET sum = ?2, data = ?3 WHERE id = ?1", handle_rule, true},
    ContentTable{"SELECT id, p256dh, auth FROM devices WHERE id > ?1 ORDER BY id LIMIT ?2",
                 "UPDATE devices SET p256dh = ?2, auth = ?3 WHERE id = ?1", handle_device, true},
};
#undef OF_SESSION

class Rewriting {
public:
    Rewriting(Connection& connection, Rewriter& rewriter, std::size_t table)
        : connection_(connection), rewriter_(rewriter), table_(table) {}

    Result<std::uint64_t> all() {
        std::uint64_t changed = 0;
        while (true) {
            auto const read = read_batch();
            if (!read) return std::unexpected(read.error());
            if (*read == 0) return changed;
            if (auto done = write_batch(); !done) return std::unexpected(std::move(done.error()));
            changed += batch_.size();
        }
    }

private:
    // Returns how many rows it has read.
    Result<std::size_t> read_batch() {
        batch_.clear();
        auto rows = connection_.query(2 * table_);
        std::string const after = text_;
        bool const by_text = content_tables.at(table_).by_text;
        by_text ? rows.bind(std::string_view(after)) : rows.bind(number_);
        rows.bind(batch_rows);
        std::size_t bytes = 0, count = 0;
        // Rows with one cursor are read together.
        for (bool more = true; more; ++count) {
            auto const there = rows.next();
            if (!there) return std::unexpected(there.error());
            if (!*there) return count;
            auto change = content_tables.at(table_).handle(rows, rewriter_);
            if (!change) return std::unexpected(std::move(change.error()));
            if (*change) batch_.push_back(**std::move(change));
            bytes += rows.text(size_column()).size();
            auto const before = number_;
            by_text ? text_ = rows.text(0) : std::string();
            number_ = by_text ? number_ : rows.integer(0);
            more = bytes < batch_bytes || number_ == before;
        }
        return count;
    }

    // The column with the largest values of most content_tables.
    [[nodiscard]] int size_column() const { return table_ == 2 ? 3 : table_ == 0 ? 4 : 2; }

    Result<void> write_batch() {
        if (batch_.empty()) return {};
        auto done = connection_.run("BEGIN IMMEDIATE");
        for (std::size_t i = 0; done && i < batch_.size(); ++i) {
            auto update = connection_.query(2 * table_ + 1);
            batch_[i](update);
            done = update.run();
        }
        if (done) done = connection_.run("COMMIT");
        if (!done && connection_.in_transaction()) std::ignore = connection_.run("ROLLBACK");
        return done;
    }

    Connection& connection_;
    Rewriter& rewriter_;
    std::size_t table_;
    std::int64_t number_ = -1;
    std::string text_;
    std::vector<Bind> batch_;
};

}  // namespace

Result<std::uint64_t> rewrite(std::filesystem::path const& directory, Rewriter& rewriter) {
    auto connection = Connection::open(directory / "dormouse.db",
                                       {.busy_timeout_ms = rewrite_wait_ms, .vfs = {}});
    if (!connection) return std::unexpected(std::move(connection.error()));
    auto set = connection->run("PRAGMA synchronous=FULL; PRAGMA secure_delete=ON");
    if (!set) return std::unexpected(std::move(set.error()));
    std::vector<char const*> statements;
    for (ContentTable const& table : content_tables) {
        statements.push_back(table.select);
        statements.push_back(table.update);
    }
    if (auto done = connection->prepare(statements); !done)
        return std::unexpected(std::move(done.error()));
    std::uint64_t changed = 0;
    for (std::size_t table = 0; table < content_tables.size(); ++table) {
        auto const some = Rewriting(*connection, rewriter, table).all();
        if (!some) return some;
        changed += *some;
    }
    return changed;
}

}  // namespace dormouse::store::sqlite
