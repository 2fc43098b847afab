#include "http/resources/operations/doctor/facts_fields.h"
#include "http/resources/operations/handlers.h"

#include <algorithm>
#include <filesystem>

// The server's processes: what this one uses, when it started, its effective configuration.
namespace dormouse::http {

namespace {

struct Disk {
    std::optional<std::uint64_t> used = {};
    std::optional<std::uint64_t> free = {};
};

// Files that end meanwhile are not counted.
Disk disk_of(std::string const& directory) {
    std::error_code error;
    std::uint64_t used = 0;
    for (std::filesystem::recursive_directory_iterator at(directory, error), end;
         !error && at != end; at.increment(error)) {
        std::error_code gone;
        auto const size = at->is_regular_file(gone) ? at->file_size(gone) : 0;
        if (!gone) used += size;
    }
    Disk out;
    if (!error) out.used = used;
    auto const space = std::filesystem::space(directory, error);
    if (!error) out.free = space.available;
    return out;
}

NodeEntry own_node(Api& api, Disk const& disk) {
    runner::Runner const& runner = api.services().runner;
    auto const& facts = api.services().facts;
    NodeEntry out{.release = facts.release,
                  .epoch = runner.epoch(),
                  .started = facts.starts.back().started,
                  .now = runner.now(),
                  .name = runner.node_name(),
                  .url = api.services().gate.base_url(),
                  .resident = runner.resident(),
                  .resident_bytes = runner.resident_bytes(),
                  .clock_guarded = runner.clock().holding(),
                  .data_bytes = disk.used,
                  .free_bytes = disk.free};
    if (!facts.data.empty()) out.directory = facts.data;
    if (api.known_format() > 0) out.format = api.known_format();
    return out;
}

NodeEntry entry_of(port::NodeRow const& other, Time now) {
    return {.release = other.release,
            .epoch = other.epoch,
            .started = other.started,
            .now = now,
            .self = false,
            .name = other.name,
            .url = other.url,
            .draining = other.draining,
            .format = other.format};
}

}  // namespace

void get_nodes(Api& api, ExchangePtr const& x) {
    auto const& facts = api.services().facts;
    auto const disk = std::make_shared<Disk>();
    api.run_on_body_thread(
        x,
        [disk, directory = facts.data] {
            if (!directory.empty()) *disk = disk_of(directory);
        },
        [&api, x, disk] {
            std::vector<NodeEntry> nodes{own_node(api, *disk)};
            for (port::NodeRow const& other : api.others())
                nodes.push_back(entry_of(other, nodes.front().now));
            std::ranges::sort(nodes, {}, &NodeEntry::epoch);
            x->json(200, list_text(nodes, {}));
        });
}

// Newest first.
void get_starts(Api& api, ExchangePtr const& x) {
    auto const& starts = api.services().facts.starts;
    x->json(200, list_text(std::vector<Start>(starts.rbegin(), starts.rend()), {}));
}

void get_config(Api& api, ExchangePtr const& x) {
    auto const& config = api.services().facts.config;
    if (config.is_null())
        return x->fail({Code::not_found, "This server has no configuration: a program embeds it."});
    x->json(200, std::string(config.text()));
}

}  // namespace dormouse::http
