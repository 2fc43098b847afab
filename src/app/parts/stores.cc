#include "app/parts/stores.h"

#include "base/crypto/sha256.h"
#include "base/text/text.h"
#include "config/values.h"
#include "runtime/stores.h"

#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

namespace dormouse::app {

namespace {

std::string const& url_of(config::Store const& store) {
    return store.secret_url ? store.secret_url->value : store.url;
}

Result<std::optional<store::MasterKeys>> keys_in(std::string const& variable,
                                                 std::string_view value, char const* named_by) {
    auto keys = store::MasterKeys::parse(value);
    if (keys) return *std::move(keys);
    return fail(keys.error().code,
                "the variable " + variable + " of " + named_by + ": " + keys.error().detail);
}

}  // namespace

Result<void> check_store(config::Store const& store) {
    std::string const& url = url_of(store);
    if (runtime::is_database(url)) return runtime::check_database(url);
    if (!store.secret_url) return {};
    return fail(Code::bad_value, "the variable " + store.secret_url->env +
                                     " of url_env does not hold a postgres:// URL");
}

Result<void> check_store_flag(config::Store const& store) {
    if (auto const todo = config::misfit(config::Form::store, store.url))
        return fail(Code::bad_value, "--store: " + *todo);
    return check_store(store);
}

bool in_memory(config::Store const& store) { return !store.secret_url && store.url == "memory"; }

std::string store_place(config::Store const& store, std::string const& data) {
    if (in_memory(store)) return ":memory:";
    std::string const& url = url_of(store);
    return runtime::is_database(url) ? url : data;
}

bool shares_store(config::Config const& config) {
    return runtime::is_database(url_of(config.store));
}

port::Signal store_signal(config::Store const& store) {
    return store.signal == config::StoreSignal::notify ? port::Signal::notify : port::Signal::poll;
}

std::string names_digest(config::Config const& config) {
    std::set<std::string> names;
    for (config::Agent const& agent : config.agents) names.insert("agent " + agent.id);
    for (config::Tool const& tool : config.tools) names.insert("tool " + tool.name);
    for (config::Gate const& gate : config.gates) names.insert("gate " + gate.id);
    for (config::Mcp const& server : config.mcps) names.insert("mcp " + server.name);
    // One that encrypts and one that does not cannot work on the same sessions.
    if (config.store.encryption_key) names.insert("encryption");
    std::string all;
    for (std::string const& name : names) all += name + "\n";
    return hex(sha256(all));
}

Result<std::optional<store::MasterKeys>> master_keys(config::Store const& store) {
    if (!store.encryption_key) return std::nullopt;
    return keys_in(store.encryption_key->env, store.encryption_key->value, "encryption_key_env");
}

Result<std::optional<store::MasterKeys>> master_keys(std::string const& variable) {
    if (variable.empty()) return std::nullopt;
    char const* const value = std::getenv(variable.c_str());
    if (value) return keys_in(variable, value, "--key-env");
    return fail(Code::bad_value, "the variable " + variable + " of --key-env is not set");
}

std::string store_name(config::Store const& store) { return runtime::shown_place(url_of(store)); }

}  // namespace dormouse::app
