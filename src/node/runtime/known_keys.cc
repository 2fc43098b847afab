#include "runtime/known_keys.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <ranges>
#include <thread>
#include <utility>

namespace dormouse::runtime {

namespace {

using Nodes = std::vector<store::postgres::NodeKeys>;

constexpr int watched_s = 6;  // longer than two heartbeats of a slow process

bool has(store::postgres::NodeKeys const& node, std::string const& id) {
    return std::ranges::any_of(node.masters | std::views::split(' '), [&](auto const& part) {
        return std::string_view(part.begin(), part.end()) == id;
    });
}

Result<bool> is_used(store::PostgresStore& store, std::string const& id) {
    auto const rows = store.data_keys();
    if (!rows) return std::unexpected(rows.error());
    return std::ranges::find(*rows, id, &port::DataKeyRow::master) != rows->end();
}

// `used`: data keys are encrypted with it already, so processes of earlier releases have it.
Result<Nodes> without(store::PostgresStore& store, std::string const& id, bool used) {
    auto nodes = store.node_keys();
    if (!nodes) return nodes;
    std::erase_if(*nodes, [&](store::postgres::NodeKeys const& node) {
        return node.epoch == store.epoch() || has(node, id) || (node.masters.empty() && used);
    });
    return nodes;
}

std::unexpected<Error> lacks(store::postgres::NodeKeys const& node, std::string const& id) {
    return fail(Code::wrong_state,
                "The process " + node.name + " works on this database without the master key " +
                    id +
                    ", which comes first here: give it to all servers as the last key first, "
                    "and restart them; then put it first");
}

}  // namespace

std::string announced(store::MasterKeys const& masters) {
    std::string out;
    for (auto const& key : masters.all()) out += (out.empty() ? "" : " ") + key.id;
    return out;
}

Result<void> refuse_unknown(store::PostgresStore& store, store::MasterKeys const& masters) {
    auto const& id = masters.first().id;
    auto const used = is_used(store, id);
    if (!used) return std::unexpected(used.error());
    auto const first = without(store, id, *used);
    if (!first) return std::unexpected(first.error());
    std::map<Epoch, std::uint64_t> before;
    for (auto const& node : *first) before.emplace(node.epoch, node.counter);
    auto now = first;
    for (int second = 0; !now->empty() && second < watched_s; ++second) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        now = without(store, id, *used);
        if (!now) return std::unexpected(now.error());
        for (auto const& node : *now) {
            auto const known = before.find(node.epoch);
            if (known == before.end() || known->second != node.counter) return lacks(node, id);
        }
    }
    return {};
}

Result<std::vector<std::string>> with_another_first(store::PostgresStore& store,
                                                    store::MasterKeys const& masters) {
    auto const nodes = store.node_keys();
    if (!nodes) return std::unexpected(nodes.error());
    std::vector<std::string> out;
    for (auto const& node : *nodes) {
        bool const same = node.masters.empty() || node.masters.starts_with(masters.first().id);
        if (!same && node.epoch != store.epoch()) out.push_back(node.name);
    }
    return out;
}

}  // namespace dormouse::runtime
