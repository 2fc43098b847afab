#include "store/postgres/schema/upgrade.h"

#include "store/postgres/heartbeat.h"
#include "store/postgres/schema/migrations.h"
#include "store/postgres/session.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dormouse::store::postgres {
namespace {

// A session with an open connection to a schema that this release reads.
Result<Session> open(std::string const& url) {
    auto const address = parse_address(url);
    if (!address) return std::unexpected(address.error());
    Session out(*address, "dormouse/upgrade", Role::writer);
    auto const made = out.connection(look_wait);
    if (!made) return std::unexpected(explain_connect(made.error().error));
    if (auto same = check_format(**made, address->schema); !same)
        return std::unexpected(std::move(same.error()));
    return out;
}

Result<Upgrade> read(Connection& connection) {
    Upgrade out{.known = static_cast<std::int64_t>(migrations().size())};
    auto const stored = stored_format(connection);
    if (!stored) return std::unexpected(stored.error());
    out.stored = *stored;
    auto nodes = nodes_of(connection);
    if (!nodes) return std::unexpected(std::move(nodes.error()));
    out.nodes = *std::move(nodes);
    return out;
}

std::unexpected<Error> refused(Upgrade const& state) {
    std::string names;
    for (port::NodeRow const& node : state.older())
        names += (names.empty() ? "" : ", ") + node.name + " (release " + node.release +
                 ", format " + std::to_string(node.format) + ")";
    return fail(Code::wrong_state,
                "The upgrade cannot be finished, because servers do not know format " +
                    std::to_string(state.known) + ": " + names +
                    ". Start a newer release in place of each. One that was killed leaves the list "
                    "within 10 s while another server runs");
}

}  // namespace

std::vector<port::NodeRow> Upgrade::older() const {
    std::vector<port::NodeRow> out;
    std::ranges::copy_if(nodes, std::back_inserter(out),
                         [this](port::NodeRow const& node) { return node.format < known; });
    return out;
}

Result<Upgrade> read_upgrade(std::string const& url) {
    auto opened = open(url);
    if (!opened) return std::unexpected(std::move(opened.error()));
    return read(*opened->open());
}

Result<Upgrade> finish_upgrade(std::string const& url) {
    auto opened = open(url);
    if (!opened) return std::unexpected(std::move(opened.error()));
    auto& connection = *opened->open();
    auto const catalogue = read_catalogue(connection);
    if (!catalogue) return std::unexpected(catalogue.error());
    Call finish{"SELECT finish_upgrade_6($1, $2)"};
    finish.parameters.integer(catalogue->lock);
    finish.parameters.integer(static_cast<std::int64_t>(migrations().size()));
    if (auto const done = connection.run(finish, look_wait); !done)
        return std::unexpected(done.error().error);
    auto state = read(connection);
    if (state && state->stored.written < state->known) return refused(*state);
    return state;
}

}  // namespace dormouse::store::postgres
