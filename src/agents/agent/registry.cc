#include "agent/tool.h"

#include "base/check.h"
#include "base/text.h"
#include "json/stored.h"

#include <algorithm>

namespace dormouse::agent {

namespace {

template <class T, class Key>
T const* find(std::vector<T> const& all, std::string_view name, Key key) {
    auto const found = std::ranges::find(all, name, key);
    return found == all.end() ? nullptr : &*found;
}

std::string unknown_tool(Agent const& agent, std::string const& name) {
    std::vector<std::string_view> known(agent.tools.begin(), agent.tools.end());
    std::string text = "there is no tool '" + name + "'";
    if (auto const near = nearest(name, known); !near.empty())
        text += "; did you mean '" + std::string(near) + "'?";
    return text;
}

std::string bad_arguments(std::vector<json::Violation> const& violations) {
    std::string text = "the arguments do not fit:";
    for (json::Violation const& violation : violations)
        text += " " + violation.pointer + " " + violation.message + ";";
    text.pop_back();
    return text;
}

}  // namespace

void Registry::add(Tool tool) {
    CHECK(!this->tool(tool.name));
    CHECK(tool.registers || tool.run || tool.start);
    schemas_.emplace(tool.name, json::Schema(tool.schema));
    tools_.push_back(std::move(tool));
}

void Registry::add(Gate gate) {
    CHECK(!this->gate(gate.name));
    gates_.push_back(std::move(gate));
}

void Registry::add(Agent agent) {
    CHECK(!this->agent(agent.id));
    agents_.push_back(std::move(agent));
}

Tool const* Registry::tool(std::string_view name) const { return find(tools_, name, &Tool::name); }
Gate const* Registry::gate(std::string_view name) const { return find(gates_, name, &Gate::name); }
Agent const* Registry::agent(std::string_view id) const { return find(agents_, id, &Agent::id); }

bool fits_pattern(std::string_view pattern, std::string_view name) {
    std::size_t at = 0, in = 0;
    std::size_t star = std::string_view::npos, from = 0;  // the newest star, and what it began at
    while (in < name.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            from = in;
        } else if (at < pattern.size() && pattern[at] == name[in]) {
            ++at;
            ++in;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            in = ++from;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

// First added is outermost.
std::vector<std::string> Registry::gates_of(Tool const& tool) const {
    std::vector<std::string> names;
    for (Gate const& gate : gates_) {
        bool const fits = std::ranges::any_of(gate.tools, [&](std::string const& pattern) {
            return fits_pattern(pattern, tool.name);
        });
        if (fits) names.push_back(gate.name);
    }
    for (std::string const& own : tool.terms.gates) {
        if (std::ranges::find(names, own) == names.end()) names.push_back(own);
    }
    return names;
}

std::vector<Gate const*> Registry::gates_of_permission(
    std::vector<std::string> const& names) const {
    auto const fits = [&](std::string const& pattern) {
        return pattern.starts_with("acp:") &&
               std::ranges::any_of(
                   names, [&](std::string const& name) { return fits_pattern(pattern, name); });
    };
    std::vector<Gate const*> out;
    for (Gate const& gate : gates_) {
        if (std::ranges::any_of(gate.tools, fits)) out.push_back(&gate);
    }
    return out;
}

session::CallSpec Registry::prepare(Agent const& agent, ModelCall const& call) const {
    session::CallSpec spec;
    spec.model_id = call.id;
    spec.tool = call.tool;
    auto const input = json::repaired(call.input);
    std::optional<std::string> unreadable = call.unreadable;
    if (!input && !unreadable) unreadable = input.error().detail;
    spec.input = input ? json::compact(*input) : Json::trusted(json::quote(call.input.text()));
    spec.input_digest = sha256(json::canonical(spec.input));
    bool const has = std::ranges::find(agent.tools, call.tool) != agent.tools.end();
    Tool const* const tool = has ? this->tool(call.tool) : nullptr;
    if (!tool) {
        spec.refused = unknown_tool(agent, call.tool);
        return spec;
    }
    spec.terms = tool->terms;
    spec.terms.gates = gates_of(*tool);
    if (unreadable) {
        spec.refused = "the arguments can not be read: " + *unreadable;
        return spec;
    }
    if (auto const violations = schemas_.at(tool->name).violations(spec.input);
        !violations.empty()) {
        spec.refused = bad_arguments(violations);
        return spec;
    }
    if (tool->registers) spec.at_once = tool->registers(spec.input);
    return spec;
}

}  // namespace dormouse::agent
