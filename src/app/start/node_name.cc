#include "app/start/node_name.h"

#include "app/parts/stores.h"
#include "backup/files.h"
#include "base/text/chars.h"
#include "base/text/names.h"
#include "base/text/text.h"
#include "io/clock.h"
#include "runtime/stores.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>

namespace dormouse::app {

namespace {

constexpr std::size_t name_max = 64;  // as is_short_name() and [store] node allow
constexpr std::size_t random_digits = 4;

std::string path_in(std::string const& data) { return data + "/node"; }

// Two servers on one machine have different ones.
std::string new_name() {
    std::array<char, name_max> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host = {};
    std::string out(host.data());
    if (!is_short_name(out)) out = "server";
    out.resize(std::min(out.size(), name_max - random_digits - 1));
    io::SystemEntropy entropy;
    Random const random = entropy.random();
    return out + "-" + hex(std::span(random).first(random_digits / 2));
}

}  // namespace

Result<NodeName> node_name(config::Store const& store, std::string const& data) {
    if (!store.node.empty()) return NodeName{store.node};
    std::ifstream file(path_in(data));
    if (!file) return NodeName{new_name(), false};
    std::string text;
    std::getline(file, text);
    if (is_short_name(text)) return NodeName{text};
    return fail(Code::wrong_state, path_in(data) +
                                       " does not hold the name of a server: letters, digits, _ "
                                       "- and ., at most 64; write it there, or set [store] node");
}

Result<void> keep_node_name(NodeName const& name, std::string const& data) {
    if (name.stored) return {};
    return backup::replace_file(path_in(data), name.text + "\n");
}

}  // namespace dormouse::app
