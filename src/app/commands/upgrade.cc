// dormouse upgrade.
#include "app/commands/programs.h"

#include "app/parts/stores.h"
#include "app/start/complain.h"
#include "json/json.h"
#include "runtime/stores.h"
#include "store/postgres/schema/upgrade.h"

#include <cstdio>
#include <string>

namespace dormouse::app {

namespace {

using store::postgres::Upgrade;

Result<Upgrade> upgrade_of(cli::UpgradeOptions const& options) {
    if (auto right = check_store_flag({.url = options.store}); !right)
        return std::unexpected(std::move(right.error()));
    if (!runtime::is_database(options.store))
        return fail(Code::bad_value,
                    "--store: name a postgres:// URL; a data directory is upgraded at the start of "
                    "its server");
    return options.finish ? store::postgres::finish_upgrade(options.store)
                          : store::postgres::read_upgrade(options.store);
}

void print_json(Upgrade const& upgrade) {
    json::Writer out;
    out.begin_object().member("written", upgrade.stored.written);
    out.member("newest", upgrade.stored.newest).member("known", upgrade.known);
    out.member("waits", upgrade.waits()).key("servers").begin_array();
    for (port::NodeRow const& node : upgrade.nodes) {
        out.begin_object().member("name", node.name).member("url", node.url);
        out.member("release", node.release).member("format", node.format).end_object();
    }
    std::puts(out.end_array().end_object().take().c_str());
}

std::string next_text(Upgrade const& upgrade) {
    if (!upgrade.waits()) return "finished: nothing waits\n";
    if (upgrade.known < upgrade.stored.newest)
        return "waits to be finished, by a newer release than this one\n";
    return upgrade.older().empty()
               ? "waits to be finished: dormouse upgrade --finish\n"
               : "waits: replace the servers that do not know format " +
                     std::to_string(upgrade.known) + ", then dormouse upgrade --finish\n";
}

void print_text(Upgrade const& upgrade) {
    std::string out = "format " + std::to_string(upgrade.stored.written) +
                      " is written, the newest is " + std::to_string(upgrade.stored.newest) + "\n";
    for (port::NodeRow const& node : upgrade.nodes)
        out += "server " + node.name + ", release " + node.release + ": knows up to format " +
               std::to_string(node.format) + "\n";
    std::fputs((out + next_text(upgrade)).c_str(), stdout);
}

}  // namespace

int upgrade(cli::UpgradeOptions const& options) {
    auto const state = upgrade_of(options);
    if (!state) return complain({"upgrade", options.json}, state.error());
    options.json ? print_json(*state) : print_text(*state);
    return 0;
}

}  // namespace dormouse::app
