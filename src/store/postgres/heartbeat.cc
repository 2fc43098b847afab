#include "store/postgres/heartbeat.h"

#include "store/postgres/owner.h"

#include <sys/eventfd.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

namespace dormouse::store::postgres {
namespace {

constexpr char count_sql[] =
    "UPDATE nodes SET beat = $6, url = $2, draining = $3::bigint <> 0,"
    " config = decode($4, 'hex'), masters = CASE $5 WHEN '' THEN masters ELSE $5 END"
    " WHERE epoch = $1 RETURNING epoch";

constexpr char nodes_sql[] =
    "SELECT epoch, slot, beat, name, version, url, draining::int::bigint,"
    " (extract(epoch FROM started) * 1000)::bigint, encode(coalesce(config, ''), 'hex'), format"
    " FROM nodes ORDER BY epoch";

constexpr char news_sql[] =
    "SELECT (SELECT coalesce(max(n), 0) FROM feed),"
    " (SELECT value FROM meta WHERE name = 'access'),"
    " (extract(epoch FROM clock_timestamp()) * 1000)::bigint,"
    " (EXISTS (SELECT FROM settings WHERE name = 'held')"
    "   OR NOT EXISTS (SELECT FROM settings WHERE name = 'identity'"
    "     AND value = database_identity_4()))::int::bigint,"
    " (SELECT value FROM meta WHERE name = 'format'),"
    " (SELECT value FROM meta WHERE name = 'write_version')";

// A call of a writer holds the advisory lock of its slot until it has ended. The server shows the
// two keys of such a lock as numbers without a sign.
constexpr char end_calls_sql[] =
    "SELECT count(pg_terminate_backend(l.pid)) FROM pg_locks l"
    " JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()"
    " WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted"
    " AND l.classid = ($1::bigint & 4294967295)::oid AND l.objid = ($2::bigint)::oid"
    " AND EXISTS (SELECT FROM nodes WHERE epoch = $3 AND beat = $4)";

// Notifies the others if it was still there.
constexpr char remove_sql[] =
    "SELECT removed, (SELECT count(pg_notify(current_schema(), '')) WHERE removed = 1)"
    " FROM remove_node_2($1, $2) AS removed";

port::NodeRow node_row(Rows const& rows, int row) {
    return {.epoch = static_cast<Epoch>(rows.integer(row, 0)),
            .slot = static_cast<std::uint32_t>(rows.integer(row, 1)),
            .counter = static_cast<std::uint64_t>(rows.integer(row, 2)),
            .name = std::string(rows.text(row, 3)),
            .release = std::string(rows.text(row, 4)),
            .url = std::string(rows.text(row, 5)),
            .config = std::string(rows.text(row, 8)),
            .draining = rows.integer(row, 6) != 0,
            .started = from_ms(rows.integer(row, 7)),
            .format = rows.integer(row, 9)};
}

std::vector<port::NodeRow> node_rows(Rows const& rows) {
    std::vector<port::NodeRow> out;
    for (int row = 0; row < rows.size(); ++row) out.push_back(node_row(rows, row));
    return out;
}

}  // namespace

Result<std::vector<port::NodeRow>> nodes_of(Connection& connection) {
    auto const rows = connection.run(Call{nodes_sql}, look_wait);
    if (!rows) return std::unexpected(rows.error().error);
    return node_rows(*rows);
}

Heartbeat::Heartbeat(Address const& address, std::string name, port::Signal signal)
    : session_(address, std::move(name), Role::heartbeat),
      signal_(signal),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Heartbeat::~Heartbeat() { ::close(wake_); }

// The channel is named after the schema. Triggers on tables notify it (nodes.cc), and Speaker.
Result<void> Heartbeat::listen(Connection& connection) {
    if (signal_ == port::Signal::poll || listens_ == session_.made()) return {};
    auto const done = connection.script("LISTEN \"" + session_.address().schema + "\"", wait);
    if (!done) return std::unexpected(done.error().error);
    listens_ = session_.made();
    return {};
}

Result<std::vector<std::string>> Heartbeat::receive(Duration limit) {
    auto const connection = this->connection();
    if (!connection) return std::unexpected(connection.error());
    if (auto done = listen(**connection); !done) return std::unexpected(std::move(done.error()));
    auto messages = (*connection)->notified(limit, wake_);
    if (!messages) return std::unexpected(messages.error().error);
    return *std::move(messages);
}

void Heartbeat::end_wait() const {
    std::uint64_t const one = 1;
    std::ignore = ::write(wake_, &one, sizeof one);
}

// Tries a few times to get the lock alone: the database may be about to release the lock of a
// process that was killed a moment ago.
Result<bool> Heartbeat::take_share() {
    constexpr int tries = 3;
    auto const made = session_.connection(wait);
    if (!made) return std::unexpected(made.error().error);
    auto const& schema = session_.address().schema;
    for (int n = 0; n < tries && !alone_; ++n) {
        if (n > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        auto const alone = try_sole(**made, schema);
        if (!alone) return std::unexpected(alone.error().error);
        alone_ = *alone;
    }
    auto const taken = take_ownership(**made, schema, Use::shared);
    if (!taken) return std::unexpected(taken.error());
    owned_ = session_.made();
    return alone_;
}

Result<void> Heartbeat::take_name(std::string const& name) {
    auto const made = session_.connection(wait);
    if (!made) return std::unexpected(made.error().error);
    auto taken = postgres::take_name(**made, session_.address().schema, name);
    if (taken) node_ = name;
    return taken;
}

Result<void> Heartbeat::registered() {
    if (!std::exchange(alone_, false)) return {};
    auto const made = session_.connection(wait);
    if (!made) return std::unexpected(made.error().error);
    if (owned_ != session_.made()) return {};  // the server has released it
    auto const done = release_sole(**made, session_.address().schema);
    if (!done) return std::unexpected(done.error().error);
    return {};
}

// Takes the lock again after a lost connection. Fails if another process uses the schema alone.
Result<Connection*> Heartbeat::connection() {
    auto const made = session_.connection(wait);
    if (!made) return std::unexpected(made.error().error);
    if (owned_ == session_.made()) return *made;
    auto const taken = retake_ownership(**made, session_.address().schema, Use::shared);
    if (!taken) return std::unexpected(taken.error().error);
    if (!*taken)
        return fail(Code::wrong_state, "Another process uses the schema of the store alone.");
    if (!node_.empty()) std::ignore = retake_name(**made, session_.address().schema, node_);
    owned_ = session_.made();
    return *made;
}

Result<port::HeartbeatReply> Heartbeat::beat(Self const& self) {
    auto const connection = this->connection();
    if (!connection) return std::unexpected(connection.error());
    std::array calls{Call{count_sql}, Call{nodes_sql}, Call{news_sql}};
    calls[0].parameters.integer(static_cast<std::int64_t>(self.epoch)).text(self.url);
    calls[0].parameters.integer(self.draining ? 1 : 0).text(self.config).text(masters_);
    calls[0].parameters.integer(++beats_);
    auto const answers = (*connection)->run(calls, wait);
    if (!answers) return std::unexpected(answers.error().error);
    port::HeartbeatReply out{.taken = (*answers)[0].size() == 1, .nodes = node_rows((*answers)[1])};
    Rows const& news = (*answers)[2];
    out.feed = static_cast<std::uint64_t>(news.integer(0, 0));
    out.access = static_cast<std::uint64_t>(news.integer(0, 1));
    out.clock = from_ms(news.integer(0, 2));
    out.held = news.integer(0, 3) != 0;
    out.format = {.newest = news.integer(0, 4), .written = news.integer(0, 5)};
    return out;
}

Result<bool> Heartbeat::remove(port::NodeRow const& seen) {
    auto const connection = this->connection();
    if (!connection) return std::unexpected(connection.error());
    auto const epoch = static_cast<std::int64_t>(seen.epoch);
    auto const counter = static_cast<std::int64_t>(seen.counter);
    Call end{end_calls_sql};
    end.parameters.integer(lock_).integer(seen.slot).integer(epoch).integer(counter);
    if (auto const ended = (*connection)->run(end, wait); !ended)
        return std::unexpected(ended.error().error);
    Call take{remove_sql};
    take.parameters.integer(epoch).integer(counter);
    auto const rows = (*connection)->run(take, wait + wait);  // longer than lock_timeout
    if (!rows) return std::unexpected(rows.error().error);
    return rows->integer(0, 0) != 0;
}

}  // namespace dormouse::store::postgres
