#include "runtime/stores.h"

#include "io/clock.h"
#include "runner/store_clock.h"
#include "store/memory/memory_store.h"
#include "store/postgres/address.h"
#include "store/postgres/postgres_store.h"
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
// process that was killed leaves its row, whose counter stands still.
Result<void> refuse_different(port::SharedStore& store, port::SharedStore::Self const& self,
                              std::optional<Time>& at_boot) {
    auto const first = different(store, self, at_boot);
    if (!first) return std::unexpected(first.error());
    for (int second = 0; !first->empty() && second < watch_s; ++second) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        auto const now = different(store, self, at_boot);
        if (!now) return std::unexpected(now.error());
        for (auto const& [epoch, row] : *now) {
            auto const before = first->find(epoch);
            if (before != first->end() && before->second.counter == row.counter) continue;
            return fail(Code::wrong_state,
                        "The process " + row.name +
                            " works on this database with other agents, tools or gates: all "
                            "processes that share one must have the same, or use ?schema=NAME");
        }
    }
    return {};
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
                    .warnings = std::move(warnings)};
    if (*held) out.release = [store] { return store->end_hold(); };
    return out;
}

}  // namespace

Result<OpenedStore> open_store(StoreChoice const& choice) {
    if (is_database(choice.place)) return open_database(choice);
    if (choice.place.contains("://"))
        return fail(Code::bad_value,
                    "There is no such store: name a directory, :memory: or "
                    "postgres://USER@HOST:PORT/DATABASE?schema=NAME.");
    if (choice.place == ":memory:") return OpenedStore{std::make_unique<store::MemoryStore>()};
    auto opened = store::SqliteStore::open(choice.place, {.changes = choice.changes});
    if (!opened) return std::unexpected(std::move(opened.error()));
    OpenedStore out{*std::move(opened)};
    if (store::sqlite::is_held(choice.place))
        out.release = [place = choice.place] { return store::sqlite::remove_hold(place); };
    return out;
}

bool is_database(std::string_view place) {
    return place.starts_with("postgres://") || place.starts_with("postgresql://");
}

Result<void> check_database(std::string const& url) {
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
