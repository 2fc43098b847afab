#include "http/resources/operations/facts_fields.h"
#include "http/resources/operations/handlers.h"

#include <filesystem>

// The server's process: what it uses, when it started, its effective configuration.
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
            runner::Runner const& runner = api.services().runner;
            NodeEntry const node{.facts = api.services().facts,
                                 .now = runner.now(),
                                 .resident = runner.resident(),
                                 .resident_bytes = runner.resident_bytes(),
                                 .clock_guarded = runner.clock().holding(),
                                 .data_bytes = disk->used,
                                 .free_bytes = disk->free};
            x->json(200, list_text(std::vector{node}, {}));
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
