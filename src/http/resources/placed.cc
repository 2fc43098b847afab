#include "http/resources/placed.h"

#include "http/objects/body.h"
#include "json/json.h"

#include <algorithm>

namespace dormouse::http {

namespace {

port::NodeRow const* other(Api const& api, std::string const& node) {
    auto const& all = api.others();
    auto const found = std::ranges::find(all, node, &port::NodeRow::name);
    return found == all.end() ? nullptr : &*found;
}

bool is_elsewhere(Api const& api, std::string const& node) {
    std::string const& own = api.services().runner.node_name();
    return !own.empty() && !node.empty() && node != own;
}

}  // namespace

bool waits_for_node(Api const& api, std::string const& node) {
    return is_elsewhere(api, node) && other(api, node) == nullptr;
}

std::optional<Error> refuse_elsewhere(Api const& api, std::string const& node) {
    if (!is_elsewhere(api, node)) return std::nullopt;
    auto const* const row = other(api, node);
    std::string const url = row ? row->url : "";
    std::string const where = row ? " at " + url + ": ask that one"
                                  : ", which does not run: start it, or move the session";
    return Error{
        Code::wrong_state,
        "The program of this session runs on the server \"" + node + "\"" + where + ".",
        json::Writer().begin_object().member("node", node).member("url", url).end_object().json()};
}

std::optional<Error> refuse_target(Api const& api, std::string const& node) {
    std::string const& own = api.services().runner.node_name();
    if (own.empty())
        return bad_value("/node", "this server uses its store alone: no session can move");
    if (node == own || other(api, node)) return std::nullopt;
    std::string all = own;
    for (port::NodeRow const& row : api.others()) all += ", " + row.name;
    return bad_value("/node", "names no server that runs on this store: " + all);
}

}  // namespace dormouse::http
