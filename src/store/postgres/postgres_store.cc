#include "store/postgres/postgres_store.h"

#include "port/divided_store_members.h"
#include "store/postgres/heartbeat.h"
#include "store/postgres/owner.h"
#include "store/postgres/pooler.h"
#include "store/postgres/reader/readers.h"
#include "store/postgres/schema/migrations.h"
#include "store/postgres/speaker.h"
#include "store/postgres/writer/writer.h"

#include <unistd.h>

namespace dormouse::store {

using postgres::Session;

struct PostgresStore::Parts {
    std::unique_ptr<postgres::Writer> writer = {};
    std::unique_ptr<postgres::Readers> readers = {};
    Epoch epoch = 0;
    std::uint64_t largest_number = 0;
    std::vector<std::string> warnings = {};
    std::unique_ptr<postgres::Heartbeat> heartbeat = {};
    std::unique_ptr<postgres::Speaker> speaker = {};
};

PostgresStore::PostgresStore(Parts parts, PostgresOptions options)
    : writer_(std::move(parts.writer)),
      readers_(std::move(parts.readers)),
      epoch_(parts.epoch),
      largest_number_(parts.largest_number),
      warnings_(std::move(parts.warnings)),
      heartbeat_(std::move(parts.heartbeat)),
      speaker_(std::move(parts.speaker)),
      options_(std::move(options)) {}

PostgresStore::~PostgresStore() = default;

namespace {

// Refuses a database that cannot be used, and returns what is worth a warning. Changes nothing.
Result<std::vector<std::string>> inspect(Session& writing, Session& reading,
                                         PostgresOptions const& options) {
    auto const connection = writing.connection(options.call_wait);
    if (!connection) return std::unexpected(postgres::explain_connect(connection.error().error));
    auto const facts = postgres::read_server(**connection);
    if (!facts) return std::unexpected(facts.error());
    if (auto usable = postgres::check_server(*facts, options.relaxed); !usable)
        return std::unexpected(std::move(usable.error()));
    auto const other = reading.connection(options.call_wait);
    if (!other) return std::unexpected(postgres::explain_connect(other.error().error));
    if (auto direct = postgres::refuse_pooler(**connection, **other); !direct)
        return std::unexpected(std::move(direct.error()));
    return postgres::warnings_of(*facts, options.now);
}

// Returns whether no other process uses the schema. `sole`: the connection that then holds the
// lock; null: other processes may use it at the same time.
Result<bool> use_schema(postgres::Connection* sole, postgres::Address const& address,
                        postgres::Heartbeat& heartbeat) {
    if (!sole) return heartbeat.take_share();
    auto const owned = postgres::take_ownership(*sole, address.schema, postgres::Use::sole);
    if (!owned) return std::unexpected(owned.error());
    return true;
}

constexpr char const* held_setting = "held";  // also in heartbeat.cc

Result<void> is_view() { return fail(Code::wrong_state, "The store was opened to read it only."); }

Result<void> is_alone() {
    return fail(Code::wrong_state, "This process does not share the store.");
}

}  // namespace

template <class Ask> auto PostgresStore::reading(Ask ask) {
    auto const reader = readers_->any();
    return ask(*reader);
}

template <class Work> Result<void> PostgresStore::writing(Work work) {
    return writer_ ? work(*writer_) : is_view();
}

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(std::string const& url,
                                                           PostgresOptions const& options) {
    auto const address = postgres::parse_address(url);
    if (!address) return std::unexpected(address.error());
    auto const name = "dormouse/" + options.node;
    Session writing(*address, name + "/writer", postgres::Role::writer);
    Session reading(*address, name + "/reader", postgres::Role::reader);
    auto warnings = inspect(writing, reading, options);
    if (!warnings) return std::unexpected(std::move(warnings.error()));
    auto& live = *writing.open();
    auto beating =
        std::make_unique<postgres::Heartbeat>(*address, name + "/heartbeat", options.signal);
    auto const alone = use_schema(options.sole ? reading.open() : nullptr, *address, *beating);
    if (!alone) return std::unexpected(alone.error());
    if (auto named = options.sole_name ? beating->take_name(options.node) : Result<void>(); !named)
        return std::unexpected(std::move(named.error()));
    if (auto done = postgres::migrate(live, address->schema, postgres::migrations()); !done)
        return std::unexpected(std::move(done.error()));
    auto catalogue = postgres::read_catalogue(live);
    if (!catalogue) return std::unexpected(std::move(catalogue.error()));
    auto me =
        postgres::register_node(live, *catalogue, {options.node, options.version, {}}, *alone);
    if (!me) return std::unexpected(std::move(me.error().error));
    if (auto done = beating->registered(); !done) return std::unexpected(std::move(done.error()));
    Parts parts{.epoch = me->epoch, .warnings = std::move(*warnings)};
    auto const lock = catalogue->lock;
    if (!options.sole) parts.heartbeat = std::move(beating);
    if (!options.sole && options.signal == port::Signal::notify)
        parts.speaker = std::make_unique<postgres::Speaker>(*address, name + "/signal");
    std::vector<Session> sessions;
    sessions.push_back(std::move(reading));
    while (!options.sole && sessions.size() < postgres::Readers::most)
        sessions.emplace_back(*address, name + "/reader", postgres::Role::reader);
    parts.readers = std::make_unique<postgres::Readers>(
        std::move(sessions), postgres::Readers::Options{lock, options.call_wait, options.sole});
    parts.writer = std::make_unique<postgres::Writer>(
        std::move(writing), std::move(*catalogue), std::move(*me),
        postgres::WriterOptions{options.feed_kept, options.call_wait, options.reconnect_wait,
                                options.sole});
    if (parts.heartbeat) parts.heartbeat->serve(lock);
    auto const largest = parts.readers->any()->largest_number();
    if (!largest) return std::unexpected(largest.error());
    parts.largest_number = *largest;
    return std::unique_ptr<PostgresStore>(new PostgresStore(std::move(parts), options));
}

Result<std::unique_ptr<PostgresStore>> PostgresStore::open_view(std::string const& url) {
    auto const address = postgres::parse_address(url);
    if (!address) return std::unexpected(address.error());
    PostgresOptions const options;
    Session reading(*address, "dormouse/verify", postgres::Role::reader);
    auto const connection = reading.connection(options.call_wait);
    if (!connection) return std::unexpected(postgres::explain_connect(connection.error().error));
    if (auto same = postgres::check_format(**connection, address->schema); !same)
        return std::unexpected(std::move(same.error()));
    auto const catalogue = postgres::read_catalogue(**connection);
    if (!catalogue) return std::unexpected(catalogue.error());
    Parts parts;
    std::vector<Session> sessions;
    sessions.push_back(std::move(reading));
    parts.readers = std::make_unique<postgres::Readers>(
        std::move(sessions), postgres::Readers::Options{catalogue->lock, options.call_wait});
    if (auto held = parts.readers->any()->hold_view(); !held)
        return std::unexpected(std::move(held.error()));
    return std::unique_ptr<PostgresStore>(new PostgresStore(std::move(parts), options));
}

Result<std::vector<std::string>> PostgresStore::feed_and_audit_findings() {
    return readers_->any()->feed_and_audit_findings();
}

Result<port::HeartbeatReply> PostgresStore::beat(Self const& self) {
    if (heartbeat_) return heartbeat_->beat(self);
    return std::unexpected(is_alone().error());
}

Result<bool> PostgresStore::remove(port::NodeRow const& seen) {
    if (heartbeat_) return heartbeat_->remove(seen);
    return std::unexpected(is_alone().error());
}

Result<std::vector<std::string>> PostgresStore::receive(Duration limit) {
    if (heartbeat_) return heartbeat_->receive(limit);
    return std::unexpected(is_alone().error());
}

Result<void> PostgresStore::publish(std::span<std::string const> texts) {
    if (!speaker_ || texts.empty()) return {};
    return speaker_->publish(texts);
}

void PostgresStore::end_wait() {
    if (heartbeat_) heartbeat_->end_wait();
}

Result<Epoch> PostgresStore::join() {
    if (!writer_) return std::unexpected(is_view().error());
    auto const epoch = writer_->join({options_.node, options_.version, masters_});
    if (epoch) epoch_ = *epoch;
    return epoch;
}

Result<void> PostgresStore::announce_keys(std::string const& masters) {
    if (!writer_) return is_view();
    masters_ = masters;
    if (heartbeat_) heartbeat_->announce_keys(masters);
    return writer_->announce_keys(epoch_, masters);
}

Result<std::vector<postgres::NodeKeys>> PostgresStore::node_keys() {
    return reading([](postgres::Reader& reader) { return reader.node_keys(); });
}

std::size_t PostgresStore::readers() const { return readers_->count(); }

Result<port::DatabaseStatus> PostgresStore::database_status() {
    return readers_->any()->database_status();
}

Result<std::vector<std::uint64_t>> PostgresStore::audit_ends() {
    return readers_->any()->audit_ends();
}

port::LostCommits PostgresStore::lost_commits() const {
    return writer_ ? writer_->lost_commits() : port::LostCommits();
}

bool PostgresStore::fenced() const { return writer_ && writer_->fenced(); }

// Without an answer the number is that of open(), since when no other process has made sessions.
std::uint64_t PostgresStore::next_session_number() {
    return readers_->any()->largest_number().value_or(largest_number_) + 1;
}

Result<port::NumberBlock> PostgresStore::take_numbers() {
    if (!writer_) return std::unexpected(is_view().error());
    auto const first = writer_->take_block();
    if (!first) return std::unexpected(first.error());
    return port::NumberBlock{.first = *first, .count = 256};
}

Result<std::string> PostgresStore::agree(std::string const& name, std::string const& proposed) {
    if (!writer_) return std::unexpected(is_view().error());
    return writer_->agree(name, proposed);
}

Result<std::vector<port::SharedValue>> PostgresStore::values(std::string const& prefix) {
    if (!writer_) return std::unexpected(is_view().error());
    return writer_->values(prefix);
}

Result<bool> PostgresStore::exchange(port::SharedValue const& next) {
    if (!writer_) return std::unexpected(is_view().error());
    return writer_->exchange(next);
}

Result<bool> PostgresStore::held() {
    if (!writer_) return std::unexpected(is_view().error());
    auto const set = writer_->is_set(held_setting);
    return set && !*set ? writer_->is_copy() : set;
}

Result<std::uint64_t> PostgresStore::rewrite(port::Rewriter& rewriter) {
    if (!writer_) return std::unexpected(is_view().error());
    return writer_->rewrite(rewriter);
}

Result<bool> PostgresStore::drop_old_versions() {
    if (!writer_) return std::unexpected(is_view().error());
    return writer_->drop_old_versions();
}

Result<void> PostgresStore::hold(std::string const& why) {
    auto const done = agree(held_setting, why);
    if (!done) return std::unexpected(done.error());
    return {};
}

Result<void> PostgresStore::end_hold() {
    if (!writer_) return is_view();
    auto const dropped = writer_->drop_setting(held_setting);
    return dropped ? writer_->settle() : dropped;
}

Result<std::vector<port::OutboxKey>> PostgresStore::claim(std::span<port::OutboxKey const> keys,
                                                          Time now, Time until) {
    if (!writer_) return std::unexpected(is_view().error());
    return writer_->claim(keys, now, until);
}

Result<std::vector<port::OutboxKey>> PostgresStore::renew(std::span<port::OutboxClaim const> claims,
                                                          Time until) {
    if (!writer_) return std::unexpected(is_view().error());
    return writer_->renew(claims, until);
}

Result<bool> PostgresStore::delivered_since(std::string const& target, Time since) {
    return readers_->any()->delivered_since(target, since);
}

std::vector<port::AppendResult> PostgresStore::commit(std::span<port::Append const> appends) {
    if (writer_) return writer_->commit(appends);
    return std::vector<port::AppendResult>(appends.size(), std::unexpected(is_view().error()));
}

std::vector<Result<port::Loaded>> PostgresStore::load_each(std::span<SessionId const> sessions) {
    return readers_->any()->load_each(sessions);
}

Result<std::optional<port::TokenRow>> PostgresStore::token_of(Sha256 const& digest) {
    return readers_->any()->token_of(digest);
}

Result<std::vector<port::DataKeyRow>> PostgresStore::data_keys() {
    return readers_->any()->data_keys();
}

Result<void> PostgresStore::put_data_keys(std::span<port::DataKeyRow const> rows) {
    return writing([&](postgres::Writer& writer) { return writer.put_data_keys(rows); });
}

Result<port::FeedPage> PostgresStore::others(std::uint64_t after, std::size_t max_bytes) {
    return readers_->any()->others(after, max_bytes, writer_ ? writer_->slot() : -1);
}

Result<void> PostgresStore::ping() { return readers_->any()->ping(epoch_); }

}  // namespace dormouse::store

template class dormouse::port::DividedStore<dormouse::store::PostgresStore>;
