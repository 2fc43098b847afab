#include "cli/commands/hook/settings_text.h"

#include "json/json.h"

#include <optional>
#include <vector>

namespace dormouse::cli {
namespace {

constexpr std::string_view space = " \t\r\n";

// A member or an element of a container, as a range of the text: a member begins with its name.
struct Item {
    std::size_t begin = 0, end = 0;
    json::View value = {};
};

struct Container {
    std::size_t begin = 0, end = 0;  // of its brackets
    std::vector<Item> items = {};
};

// The slices of a view show where it is in its text.
std::size_t begin_of(std::string_view text, json::View view) {
    return static_cast<std::size_t>(view.raw().data() - text.data());
}

Container container_of(std::string_view text, json::View view) {
    Container out{begin_of(text, view), begin_of(text, view) + view.raw().size(), {}};
    std::size_t next = out.begin + 1;  // after a bracket or a comma
    auto const add = [&](json::View value) {
        Item const item{text.find_first_not_of(space, next),
                        begin_of(text, value) + value.raw().size(), value};
        out.items.push_back(item);
        next = text.find_first_not_of(space, item.end) + 1;
    };
    if (view.kind() == json::Kind::array) view.elements(add);
    view.members([&](std::string_view, json::View value) { add(value); });
    return out;
}

std::string without_range(std::string_view text, std::size_t begin, std::size_t end) {
    return std::string(text.substr(0, begin)) + std::string(text.substr(end));
}

std::string without_item(std::string_view text, Container const& from, std::size_t index) {
    auto const& items = from.items;
    if (items.size() == 1) return without_range(text, from.begin + 1, from.end - 1);
    if (index == 0) return without_range(text, items[0].begin, items[1].begin);
    return without_range(text, items[index - 1].end, items[index].end);
}

struct Layout {
    std::string indent;  // of the line
    std::string unit;    // of one level more
};

std::string pretty(json::View value, Layout const& layout);

std::string pretty_items(std::vector<std::string> const& items, std::string_view brackets,
                         Layout const& layout) {
    std::string out(1, brackets[0]);
    for (std::size_t i = 0; i < items.size(); ++i)
        out += (i == 0 ? "\n" : ",\n") + layout.indent + layout.unit + items[i];
    return out + "\n" + layout.indent + brackets[1];
}

std::string pretty(json::View value, Layout const& layout) {
    Layout const inner{layout.indent + layout.unit, layout.unit};
    std::vector<std::string> items;
    value.elements([&](json::View element) { items.push_back(pretty(element, inner)); });
    value.members([&](std::string_view key, json::View member) {
        items.push_back(json::quote(key) + ": " + pretty(member, inner));
    });
    if (items.empty()) return std::string(value.raw());
    return pretty_items(items, value.kind() == json::Kind::array ? "[]" : "{}", layout);
}

// The white space before the first item of a container that has one.
std::string gap_of(std::string_view text, Container const& container) {
    return std::string(
        text.substr(container.begin + 1, container.items[0].begin - container.begin - 1));
}

std::string after_last_line_break(std::string const& gap) {
    return gap.substr(gap.rfind('\n') + 1);
}

std::string indent_of_line(std::string_view text, std::size_t place) {
    auto const line_break = text.rfind('\n', place);
    std::size_t const begin = line_break == std::string_view::npos ? 0 : line_break + 1;
    auto const end = std::min(text.find_first_not_of(" \t", begin), place);
    return std::string(text.substr(begin, end - begin));
}

// Returns the indentation of one level in the file.
std::string unit_of(std::string_view text) {
    Container const root = container_of(text, json::View(text));
    std::string const gap = root.items.empty() ? "" : gap_of(text, root);
    std::string const unit = gap.contains('\n') ? after_last_line_break(gap) : "";
    return unit.empty() ? "  " : unit;
}

// Adds `value` at the end of a container; `name` is its name in an object.
std::string with_item(std::string_view text, json::View into, std::string_view name,
                      Json const& value) {
    Container const container = container_of(text, into);
    std::string const key = name.empty() ? "" : json::quote(name) + ": ";
    Layout layout{indent_of_line(text, container.begin), unit_of(text)};
    if (container.items.empty()) {
        Layout const inner{layout.indent + layout.unit, layout.unit};
        return std::string(text.substr(0, container.begin + 1)) + "\n" + inner.indent + key +
               pretty(json::View(value), inner) + "\n" + layout.indent +
               std::string(text.substr(container.end - 1));
    }
    std::string const gap = gap_of(text, container);
    layout.indent = after_last_line_break(gap);
    std::string const item =
        gap.contains('\n') ? pretty(json::View(value), layout) : std::string(value.text());
    std::size_t const end = container.items.back().end;
    return std::string(text.substr(0, end)) + "," + gap + key + item +
           std::string(text.substr(end));
}

// Returns true if the program "dormouse" of any folder is run as this hook.
bool is_ours(std::string_view command, HookProgram const& program) {
    std::string const words = " hook " + std::string(program.word);
    auto const place = command.find(words);
    if (place == std::string_view::npos) return false;
    auto const rest = command.substr(place + words.size());
    if (!rest.empty() && rest.front() != ' ') return false;
    auto executable = command.substr(0, place);
    if (executable.ends_with('\'')) executable.remove_suffix(1);
    return executable.substr(executable.rfind('/') + 1) == "dormouse" || executable == "'dormouse";
}

struct FoundValue {
    std::size_t group = 0;    // of the event
    std::size_t handler = 0;  // of the group
    json::View value = {};
};

// The first of our hooks among the groups of the event.
std::optional<FoundValue> find_ours(json::View groups, HookProgram const& program) {
    std::optional<FoundValue> out;
    std::size_t group = 0;
    groups.elements([&](json::View one) {
        std::size_t handler = 0;
        one["hooks"].elements([&](json::View hook) {
            if (!out && is_ours(hook["command"].string_or(""), program))
                out = FoundValue{group, handler, hook};
            ++handler;
        });
        ++group;
    });
    return out;
}

std::size_t index_of(json::View object, std::string_view name) {
    std::size_t index = 0, found = 0;
    object.members([&](std::string_view key, json::View) {
        if (key == name) found = index;
        ++index;
    });
    return found;
}

// Removes the hook, and what is empty without it.
std::string without(std::string_view text, HookProgram const& program, FoundValue const& found) {
    json::View const root(text);
    json::View const hooks = root["hooks"], groups = hooks[program.event];
    Container const events = container_of(text, hooks), list = container_of(text, groups);
    Container const handlers = container_of(text, list.items[found.group].value["hooks"]);
    if (handlers.items.size() > 1) return without_item(text, handlers, found.handler);
    if (list.items.size() > 1) return without_item(text, list, found.group);
    if (events.items.size() > 1) return without_item(text, events, index_of(hooks, program.event));
    return without_item(text, container_of(text, root), index_of(root, "hooks"));
}

Json handler_of(HookProgram const& program, HookEntry const& entry) {
    json::Writer out;
    out.begin_object().member("type", "command").member("command", entry.command);
    if (&program == &gemini_hook) out.member("name", "dormouse");
    out.member("timeout", program.counts_ms ? entry.limit_ms : entry.limit_ms / 1'000);
    return out.end_object().json();
}

Json group_of(HookProgram const& program, Json const& handler) {
    json::Writer out;
    out.begin_object();
    if (!program.matcher.empty()) out.member("matcher", program.matcher);
    out.key("hooks").begin_array().value(handler).end_array();
    return out.end_object().json();
}

Json list_of(Json const& item) {
    return json::Writer().begin_array().value(item).end_array().json();
}

// The settings without the white space around them, or what is wrong with them.
std::expected<Json, std::string> checked(HookProgram const& program, std::string_view text) {
    auto const json = json::check(text);
    if (!json) return std::unexpected("it is not valid JSON: " + json.error().detail);
    json::View const root(*json), hooks = root["hooks"];
    if (root.kind() != json::Kind::object) return std::unexpected("it must hold a JSON object");
    if (!hooks.exists()) return *json;
    if (hooks.kind() != json::Kind::object) return std::unexpected("hooks must be an object");
    json::View const groups = hooks[program.event];
    if (groups.exists() && groups.kind() != json::Kind::array)
        return std::unexpected("hooks." + std::string(program.event) + " must be an array");
    return *json;
}

std::string added(HookProgram const& program, std::string_view text, HookEntry const& entry) {
    json::View const root(text), hooks = root["hooks"];
    Json const group = group_of(program, handler_of(program, entry));
    if (!hooks.exists()) {
        json::Writer out;
        out.begin_object().member(program.event, list_of(group)).end_object();
        return with_item(text, root, "hooks", out.json());
    }
    json::View const groups = hooks[program.event];
    return groups.exists() ? with_item(text, groups, "", group)
                           : with_item(text, hooks, program.event, list_of(group));
}

std::string removed(HookProgram const& program, std::string text) {
    while (auto const found = find_ours(json::View(text)["hooks"][program.event], program))
        text = without(text, program, *found);
    return text;
}

// The white space around the settings stays.
std::string placed(std::string_view around, std::string const& text) {
    auto const begin = around.find_first_not_of(space);
    auto const end = around.find_last_not_of(space) + 1;
    return std::string(around.substr(0, begin)) + text + std::string(around.substr(end));
}

}  // namespace

std::expected<std::string, std::string> with_hook(HookProgram const& program, std::string_view text,
                                                  HookEntry const& entry) {
    auto const settings = checked(program, text);
    if (!settings) return std::unexpected(settings.error());
    auto const found = find_ours(json::View(*settings)["hooks"][program.event], program);
    bool const same = found && json::canonical(found->value.copy()) ==
                                   json::canonical(handler_of(program, entry));
    if (same) return std::string(text);
    std::string const clean = removed(program, std::string(settings->text()));
    return placed(text, added(program, clean, entry));
}

std::expected<std::string, std::string> without_hook(HookProgram const& program,
                                                     std::string_view text) {
    auto const settings = checked(program, text);
    if (!settings) return std::unexpected(settings.error());
    return placed(text, removed(program, std::string(settings->text())));
}

}  // namespace dormouse::cli
