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

// The name that identifies an element.
std::string name_of(Tool const& one) { return one.name; }
std::string name_of(Mcp const& one) { return one.name; }
std::string name_of(User const& one) { return one.name; }
std::string name_of(Webhook const& one) { return one.url; }
template <class E> std::string word_of(std::string_view section, std::string_view key, E value) {
    return split_words(find_key(section, key)->words).at(static_cast<std::size_t>(value));
}
std::string name_of(Notify const& one) { return word_of("notify", "kind", one.kind); }
std::string name_of(Budget const& one) { return word_of("budget", "per", one.per); }
template <class T> std::string name_of(T const& one) { return one.id; }

// Returns when added and removed elements of a list take effect: after a restart if all of its keys
// do.
Applies applies_of(std::string_view section) {
    bool const later = std::ranges::all_of(
        keys_of(section), [](Key const* key) { return key->applies == Applies::restart; });
    return later ? Applies::restart : Applies::reload;
}

template <class T> constexpr bool are_elements = false;
template <class T> constexpr bool are_elements<std::vector<T>> = true;

class Comparison {
public:
    template <class T> void part(std::string_view name, T const& was, T const& is) {
        if constexpr (are_elements<T>) {
            list(name, was, is);
        } else {
            section(name, was, is);
        }
    }

    [[nodiscard]] std::vector<Change> take() { return std::move(out_); }

private:
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

    void add(std::string_view section, std::string element, Change::How how) {
        out_.push_back({heading(section), std::move(element), {}, how, applies_of(section)});
    }

    std::vector<Change> out_;
};

// A section of which all keys need a restart is kept as a whole. The elements of a list are not
// mixed: their keys apply alike.
template <class T> void keep(std::string_view section, T& next, T const& in_force) {
    if (applies_of(section) == Applies::restart) {
        next = in_force;
        return;
    }
    if constexpr (!are_elements<T>)
        for (Key const* const key : keys_of(section))
            if (key->applies == Applies::restart) key->copy(&next, &in_force);
}

// A start connects to the mail server and makes the key of web push; without them nothing is sent.
bool can_begin(Config const& in_force, NotifyKind kind) {
    if (kind == NotifyKind::email) return !in_force.email.server.empty();
    return kind != NotifyKind::web_push ||
           std::ranges::find(in_force.notifies, kind, &Notify::kind) != in_force.notifies.end();
}

void mark_later_notifies(std::vector<Change>& changes, Config const& in_force) {
    for (NotifyKind const kind : {NotifyKind::email, NotifyKind::web_push}) {
        if (can_begin(in_force, kind)) continue;
        for (Change& one : changes)
            if (one.heading == heading("notify") && one.name == word_of("notify", "kind", kind))
                one.applies = Applies::restart;
    }
}

// Calls visit(name, member) for each section.
template <class Visit> void each_part(Visit visit) {
    visit("server", &Config::server);
    visit("store", &Config::store);
    visit("limits", &Config::limits);
    visit("retention", &Config::retention);
    visit("email", &Config::email);
    visit("oidc", &Config::oidc);
    visit("telemetry", &Config::telemetry);
    visit("backup", &Config::backup);
    visit("archive", &Config::archive);
    visit("project", &Config::projects);
    visit("model", &Config::models);
    visit("agent", &Config::agents);
    visit("tool", &Config::tools);
    visit("mcp", &Config::mcps);
    visit("gate", &Config::gates);
    visit("budget", &Config::budgets);
    visit("source", &Config::sources);
    visit("webhook", &Config::webhooks);
    visit("user", &Config::users);
    visit("notify", &Config::notifies);
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
    each_part(
        [&](std::string_view name, auto part) { out.part(name, in_force.*part, next.*part); });
    auto found = out.take();
    mark_later_notifies(found, in_force);
    return found;
}

Config applicable(Config const& in_force, Config next) {
    each_part([&](std::string_view name, auto part) { keep(name, next.*part, in_force.*part); });
    std::erase_if(next.notifies, [&](Notify const& one) { return !can_begin(in_force, one.kind); });
    return next;
}

}  // namespace dormouse::config
