#include "runtime/stores.h"

#include "base/check.h"
#include "base/url.h"
#include "io/clock.h"
#include "runner/store_clock.h"
#include "runtime/known_keys.h"
#include "store/memory/memory_store.h"
#include "store/postgres/address.h"
#include "store/postgres/postgres_store.h"
#include "store/sealed/sealed_store.h"
#include "store/sealed/sealer.h"
#include "store/sqlite/hold.h"
#include "store/sqlite/sqlite_store.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

namespace dormouse::runtime {

namespace {

constexpr int watch_s = 6;  // longer than two heartbeats of a slow process

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

// The processes with another configuration, by epoch. `at_boot`: see OpenedStore.
Result<std::map<Epoch, port::NodeRow>> different(port::SharedStore& store,
                                                 port::SharedStore::Self const& self,
                                                 std::optional<Time>& at_boot) {
    auto const sent = io::boot_time();
    auto const beat = store.beat(self);
    if (!beat) return std::unexpected(beat.error());
    at_boot = runner::StoreClock().measured(sent, io::boot_time(), beat->clock);
    std::map<Epoch, port::NodeRow> out;
    for (port::NodeRow const& row : beat->nodes)
        if (row.epoch != self.epoch && row.config != self.config) out.emplace(row.epoch, row);
    return out;
}

// A session may continue in any process that shares its store, so all must have its agent. A
// process that was killed leaves its row, whose counter no longer changes.
Result<void> refuse_different(port::SharedStore& store, port::SharedStore::Self const& self,
                              std::optional<Time>& at_boot) {
    auto const first = different(store, self, at_boot);
    if (!first) return std::unexpected(first.error());
    auto now = first;
    for (int second = 0; !now->empty() && second < watch_s; ++second) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        now = different(store, self, at_boot);
        if (!now) return std::unexpected(now.error());
        for (auto const& [epoch, row] : *now) {
            auto const before = first->find(epoch);
            if (before != first->end() && before->second.counter == row.counter) continue;
            return fail(
                Code::wrong_state,
                "The process " + row.name +
                    " works on this database with other agents, tools or gates, or only one "
                    "of both encrypts: all processes that share one must have the same, or "
                    "use ?schema=NAME");
        }
    }
    return {};
}

Result<bool> is_empty(port::Store& store) {
    if (store.next_session_number() > 1) return false;
    auto const kept = store.kept({}, 1, 1);
    if (!kept) return std::unexpected(kept.error());
    auto const devices = store.devices();
    if (!devices) return std::unexpected(devices.error());
    return kept->empty() && devices->empty();
}

// A store that holds encrypted contents, and no key.
Result<void> refuse_encrypted(port::DataKeyStore& keys) {
    auto const rows = keys.data_keys();
    if (!rows) return std::unexpected(rows.error());
    if (rows->empty()) return {};
    return fail(Code::wrong_state,
                "The contents of the store are encrypted with the master key " +
                    rows->back().master +
                    ": name the variable that holds it, by encryption_key_env in [store], or of "
                    "a command by --key-env");
}

// Returns null if nothing is encrypted.
Result<std::unique_ptr<store::Sealer>> sealer_of(port::Store& store, port::DataKeyStore& keys,
                                                 std::optional<store::MasterKeys> const& masters) {
    if (!masters) {
        if (auto plain = refuse_encrypted(keys); !plain)
            return std::unexpected(std::move(plain.error()));
        return nullptr;
    }
    auto const empty = is_empty(store);
    if (!empty) return std::unexpected(empty.error());
    return store::Sealer::make(*masters, keys, std::make_unique<io::SystemEntropy>(), *empty);
}

// Encrypts with the first master key the data keys that the other master keys had encrypted.
// REQUIRES: no other process uses the store.
Result<void> use_first_key(OpenedStore& opened, store::Sealer& sealer,
                           store::MasterKeys const& masters) {
    auto const done = sealer.rewrap(false);
    if (!done) return std::unexpected(done.error());
    if (masters.all().size() > 1)
        opened.warnings.emplace_back(
            "encryption: only the first master key is needed now: remove the others from the "
            "variable, and keep them for backups from before");
    return {};
}

// Creates the first data key before another process checks whether the store is encrypted.
Result<void> protect(OpenedStore& opened, std::unique_ptr<store::Sealer> sealer,
                     StoreChoice const& choice) {
    if (!sealer) return {};
    if (auto ready = sealer->prepare(); !ready) return ready;
    if (!opened.shared)
        if (auto done = use_first_key(opened, *sealer, *choice.keys); !done) return done;
    auto sealed = std::make_unique<store::SealedStore>(std::move(opened.store), opened.shared,
                                                       std::move(sealer));
    opened.shared = sealed->shared_store();
    opened.store = std::move(sealed);
    return {};
}

// Checks the keys before the store is opened, because opening it increments the epoch. A store that
// cannot be read yet is checked when it is open.
Result<void> check_keys(StoreChoice const& choice) {
    auto const view = store::SqliteStore::open_view(choice.place);
    if (!view) return {};
    auto const sealer = sealer_of(**view, **view, choice.keys);
    if (!sealer) return std::unexpected(sealer.error());
    return {};
}

// Announces the keys before the data keys are read, so that no process encrypts with a key that
// this one lacks.
Result<void> agree_on_keys(store::PostgresStore& store,
                           std::optional<store::MasterKeys> const& masters) {
    if (!masters) return {};
    if (auto done = store.announce_keys(announced(*masters)); !done) return done;
    return refuse_unknown(store, *masters);
}

Result<OpenedStore> open_database(StoreChoice const& choice) {
    store::PostgresOptions options;
    options.sole = !choice.shared;
    options.signal = choice.signal;
    options.relaxed = choice.relaxed;
    options.node = choice.node.empty() ? host_name() : choice.node;
    options.sole_name = choice.shared && !choice.node.empty();
    options.version = choice.release;
    options.now = choice.now;
    auto opened = store::PostgresStore::open(choice.place, options);
    if (!opened) return std::unexpected(std::move(opened.error()));
    auto warnings = (*opened)->warnings();
    port::SharedStore* const shared = choice.shared ? opened->get() : nullptr;
    if (auto known = shared ? agree_on_keys(**opened, choice.keys) : Result<void>(); !known)
        return std::unexpected(std::move(known.error()));
    auto sealer = sealer_of(**opened, **opened, choice.keys);
    if (!sealer) return std::unexpected(std::move(sealer.error()));
    std::optional<Time> at_boot;
    if (shared) {
        auto const same =
            refuse_different(*shared, {(*opened)->epoch(), {}, choice.config}, at_boot);
        if (!same) return std::unexpected(same.error());
    }
    auto* const store = opened->get();
    auto const held = store->held();
    if (!held) return std::unexpected(held.error());
    OpenedStore out{.store = *std::move(opened),
                    .shared = shared,
                    .config = choice.config,
                    .node = options.node,
                    .clock_at_boot = at_boot,
                    .warnings = std::move(warnings),
                    .database = store,
                    .audit_ends = store};
    if (shared) out.find_token = [store](Sha256 const& digest) { return store->token_of(digest); };
    if (*held) out.release = [store] { return store->end_hold(); };
    if (auto done = protect(out, *std::move(sealer), choice); !done)
        return std::unexpected(std::move(done.error()));
    return out;
}

}  // namespace

Result<OpenedStore> open_store(StoreChoice const& choice) {
    if (is_database(choice.place)) return open_database(choice);
    if (split_url(choice.place))
        return fail(Code::bad_value,
                    "Unknown kind of store: name a directory, :memory: or "
                    "postgres://USER@HOST:PORT/DATABASE?schema=NAME.");
    if (choice.place == ":memory:" && choice.keys)
        return fail(Code::bad_value,
                    "A store in memory has nothing to encrypt: remove encryption_key_env");
    if (choice.place == ":memory:") return OpenedStore{std::make_unique<store::MemoryStore>()};
    if (auto right = check_keys(choice); !right) return std::unexpected(std::move(right.error()));
    auto opened = store::SqliteStore::open(choice.place, {.changes = choice.changes});
    if (!opened) return std::unexpected(std::move(opened.error()));
    auto sealer = sealer_of(**opened, **opened, choice.keys);
    if (!sealer) return std::unexpected(std::move(sealer.error()));
    store::SqliteStore* const files = opened->get();
    OpenedStore out{.store = *std::move(opened), .audit_ends = files, .removed = files};
    if (store::sqlite::is_held(choice.place))
        out.release = [place = choice.place] { return store::sqlite::remove_hold(place); };
    if (auto done = protect(out, *std::move(sealer), choice); !done)
        return std::unexpected(std::move(done.error()));
    return out;
}

Result<std::shared_ptr<port::Store>> readable(std::shared_ptr<port::Store> store,
                                              port::DataKeyStore& keys,
                                              std::optional<store::MasterKeys> const& masters) {
    auto sealer = sealer_of(*store, keys, masters);
    if (!sealer) return std::unexpected(std::move(sealer.error()));
    if (!*sealer) return store;
    return std::make_shared<store::SealedStore>(std::move(store), nullptr, *std::move(sealer));
}

bool is_database(std::string_view place) {
    return place.starts_with("postgres://") || place.starts_with("postgresql://");
}

Result<void> check_database(std::string const& url) {
    CHECK(is_database(url));
    auto const address = store::postgres::parse_address(url);
    if (!address) return std::unexpected(address.error());
    return {};
}

std::string shown_place(std::string const& place) {
    if (!is_database(place)) return place;
    auto const address = store::postgres::parse_address(place);
    return address ? store::postgres::shown(*address) : "postgres";
}

}  // namespace dormouse::runtime
