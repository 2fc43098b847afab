#include "config/effective.h"

#include "config/keys.h"
#include "config/parts.h"

#include "json/json.h"

namespace dormouse::config {

namespace {

// The keys of `section` that `object` has. `kind`: those of other kinds are left out.
template <class T>
ShownSection shown_section(std::string_view section, std::string name, std::string_view kind,
                           T const& object) {
    ShownSection out{heading(section), std::move(name)};
    for (Key const* const key : keys_of(section)) {
        if (!key->current || *key->owner != typeid(T)) continue;
        if (!kind.empty() && !key->only.empty() && !has_word(key->only, kind)) continue;
        out.keys.push_back({std::string(key->name), key->current(*key, &object), default_of(*key)});
    }
    return out;
}

// The word of a section's key `kind`.
std::string kind_of(ShownSection const& section) {
    for (ShownKey const& key : section.keys) {
        if (key.name == "kind" && key.value.size() > 2)
            return key.value.substr(1, key.value.size() - 2);
    }
    return {};
}

template <class T>
void add(std::vector<ShownSection>& out, std::string_view section, T const& object,
         std::string const& name) {
    auto const kind = kind_of(shown_section(section, name, {}, object));
    out.push_back(shown_section(section, name, kind, object));
}

}  // namespace

std::vector<ShownSection> effective(Config const& config) {
    std::vector<ShownSection> out;
    add(out, "server", config.server, {});
    add(out, "store", config.store, {});
    add(out, "limits", config.limits, {});
    add(out, "retention", config.retention, {});
    add(out, "email", config.email, {});
    add(out, "oidc", config.oidc, {});
    add(out, "telemetry", config.telemetry, {});
    add(out, "backup", config.backup, {});
    add(out, "archive", config.archive, {});
    for (Project const& one : config.projects) add(out, "project", one, one.id);
    for (Model const& one : config.models) add(out, "model", one, one.id);
    for (Agent const& one : config.agents) add(out, "agent", one, one.id);
    for (Tool const& one : config.tools) add(out, "tool", one, one.name);
    for (Mcp const& one : config.mcps) add(out, "mcp", one, one.name);
    for (Gate const& one : config.gates) add(out, "gate", one, one.id);
    for (Budget const& one : config.budgets) add(out, "budget", one, {});
    for (Source const& one : config.sources) add(out, "source", one, one.id);
    for (Webhook const& one : config.webhooks) add(out, "webhook", one, {});
    for (User const& one : config.users) add(out, "user", one, one.name);
    for (Notify const& one : config.notifies) add(out, "notify", one, {});
    return out;
}

std::string effective_text(Config const& config) {
    std::string out;
    for (ShownSection const& section : effective(config)) {
        out += (out.empty() ? "" : "\n") + section.heading + "\n";
        for (ShownKey const& key : section.keys) {
            if (key.value.empty()) continue;
            out += (key.value == key.by_default ? "# " : "") + key.name + " = " + key.value + "\n";
        }
    }
    return out;
}

Json effective_json(Config const& config) {
    json::Writer out;
    out.begin_object().member("file", config.file).key("sections").begin_array();
    for (ShownSection const& section : effective(config)) {
        out.begin_object().member("heading", section.heading).member("name", section.name);
        out.key("keys").begin_array();
        for (ShownKey const& key : section.keys) {
            out.begin_object().member("name", key.name).member("value", key.value);
            out.member("default", key.by_default)
                .member("changed", key.value != key.by_default)
                .end_object();
        }
        out.end_array().end_object();
    }
    return out.end_array().end_object().json();
}

}  // namespace dormouse::config
