#include "config/changes.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <typeinfo>
#include <utility>

namespace dormouse::config {

namespace {

template <class T> T without_line(T value) {
    if constexpr (requires { value.line; }) value.line = 0;
    return value;
}

// What identifies an element.
std::string name_of(Tool const& one) { return one.name; }
std::string name_of(Mcp const& one) { return one.name; }
std::string name_of(User const& one) { return one.name; }
std::string name_of(Webhook const& one) { return one.url; }
std::string name_of(Notify const& one) {
    Key const* const kind = find_key("notify", "kind");
    auto const words = split_words(kind->words);
    return words.at(static_cast<std::size_t>(one.kind));
}
template <class T> std::string name_of(T const& one) { return one.id; }

// When elements of a list are added and removed; restart if all of its keys are.
Applies applies_of(std::string_view section) {
    bool const later = std::ranges::all_of(
        keys_of(section), [](Key const* key) { return key->applies == Applies::restart; });
    return later ? Applies::restart : Applies::reload;
}

class Comparison {
public:
    template <class T>
    void section(std::string_view name, T const& was, T const& is,
                 std::string const& element = {}) {
        std::string_view last;
        for (Key const* const key : keys_of(name)) {
            bool const held = key->same && *key->owner == typeid(T);
            if (!held || key->same(&was, &is) || key->name == last) continue;
            last = key->name;
            out_.push_back(
                {heading(name), element, std::string(last), Change::How::changed, key->applies});
        }
        if (last.empty() && without_line(was) != without_line(is))
            out_.push_back({heading(name), element, {}, Change::How::changed, applies_of(name)});
    }

    // Elements with the same name are compared in their order.
    template <class T>
    void list(std::string_view name, std::vector<T> const& was, std::vector<T> const& is) {
        std::multimap<std::string, T const*> old;
        for (T const& one : was) old.emplace(name_of(one), &one);
        for (T const& one : is) {
            auto const found = old.find(name_of(one));
            if (found == old.end()) {
                add(name, name_of(one), Change::How::added);
            } else {
                section(name, *found->second, one, name_of(one));
                old.erase(found);
            }
        }
        for (auto const& [element, one] : old) add(name, element, Change::How::removed);
    }

    [[nodiscard]] std::vector<Change> take() { return std::move(out_); }

private:
    void add(std::string_view section, std::string element, Change::How how) {
        out_.push_back({heading(section), std::move(element), {}, how, applies_of(section)});
    }

    std::vector<Change> out_;
};

// A section of which all keys need a restart is kept as a whole.
template <class T> void keep(std::string_view section, T& next, T const& in_force) {
    if (applies_of(section) == Applies::restart) {
        next = in_force;
        return;
    }
    for (Key const* const key : keys_of(section))
        if (key->applies == Applies::restart) key->copy(&next, &in_force);
}
template <class T>
void keep_list(std::string_view section, std::vector<T>& next, std::vector<T> const& in_force) {
    if (applies_of(section) == Applies::restart) next = in_force;
}

}  // namespace

std::string text(Change const& change) {
    std::string out = change.heading + (change.name.empty() ? "" : " " + change.name);
    if (!change.key.empty()) out += (change.name.empty() ? " " : ": ") + change.key;
    if (change.how == Change::How::added) out += " (added)";
    if (change.how == Change::How::removed) out += " (removed)";
    return out;
}

std::vector<Change> changes(Config const& in_force, Config const& next) {
    Comparison out;
    out.section("server", in_force.server, next.server);
    out.section("store", in_force.store, next.store);
    out.section("limits", in_force.limits, next.limits);
    out.section("retention", in_force.retention, next.retention);
    out.section("email", in_force.email, next.email);
    out.section("oidc", in_force.oidc, next.oidc);
    out.list("project", in_force.projects, next.projects);
    out.list("model", in_force.models, next.models);
    out.list("agent", in_force.agents, next.agents);
    out.list("tool", in_force.tools, next.tools);
    out.list("mcp", in_force.mcps, next.mcps);
    out.list("gate", in_force.gates, next.gates);
    out.list("source", in_force.sources, next.sources);
    out.list("webhook", in_force.webhooks, next.webhooks);
    out.list("user", in_force.users, next.users);
    out.list("notify", in_force.notifies, next.notifies);
    return out.take();
}

Config applicable(Config const& in_force, Config next) {
    keep("server", next.server, in_force.server);
    keep("store", next.store, in_force.store);
    keep("limits", next.limits, in_force.limits);
    keep("retention", next.retention, in_force.retention);
    keep("email", next.email, in_force.email);
    keep("oidc", next.oidc, in_force.oidc);
    keep_list("project", next.projects, in_force.projects);
    keep_list("webhook", next.webhooks, in_force.webhooks);
    keep_list("notify", next.notifies, in_force.notifies);
    return next;
}

}  // namespace dormouse::config
