#include "json/changes.h"

namespace dormouse::json {

namespace {

bool equal(View a, View b) { return canonical(a.copy()) == canonical(b.copy()); }

void add_changes(std::vector<Change>& to, std::string const& name, View before, View after) {
    bool const objects = before.kind() == Kind::object && after.kind() == Kind::object;
    if (!objects) {
        if (!equal(before, after))
            to.push_back({name, std::string(before.raw()), std::string(after.raw())});
        return;
    }
    std::string const prefix = name.empty() ? "" : name + ".";
    before.members([&](std::string_view key, View value) {
        View const now = after[key];
        if (now.exists())
            add_changes(to, prefix + std::string(key), value, now);
        else
            to.push_back({prefix + std::string(key), std::string(value.raw()), std::nullopt});
    });
    after.members([&](std::string_view key, View value) {
        if (!before[key].exists())
            to.push_back({prefix + std::string(key), std::nullopt, std::string(value.raw())});
    });
}

}  // namespace

std::vector<Change> changes(View before, View after) {
    std::vector<Change> out;
    add_changes(out, "", before, after);
    return out;
}

}  // namespace dormouse::json
