#include "agent/tool.h"

#include "base/check.h"
#include "base/text/text.h"
#include "json/stored.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

namespace dormouse::agent {

namespace {

constexpr std::size_t answer_schema_bytes_max = std::size_t{32} << 10;

template <class T, class Key>
T const* find(std::vector<T> const& all, std::string_view name, Key key) {
    auto const found = std::ranges::find(all, name, key);
    return found == all.end() ? nullptr : &*found;
}

std::string unknown_tool(Agent const& agent, std::string const& name) {
    std::vector<std::string_view> known(agent.tools.begin(), agent.tools.end());
    std::string text = "unknown tool '" + name + "'";
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

// Why a schema that a model gave for the answer cannot be used; nullopt: it can.
std::optional<std::string> unusable_schema(Json const& schema) {
    if (schema.is_null()) return std::nullopt;
    if (schema.size() > answer_schema_bytes_max)
        return "the schema of the answer must be at most 32 KiB";
    for (json::Violation const& violation : json::violations(schema, Json::trusted("{}"))) {
        if (violation.pointer == "#") return "the schema of the answer: " + violation.message;
    }
    return std::nullopt;
}

}  // namespace

void Registry::exchange(Registry next) {
    former_.push_back(std::exchange(now_, std::move(next.now_)));
}

// Nothing else makes pins of an exchanged catalogue, so one that is not pinned stays so.
bool Registry::collect() {
    auto const unused = [](auto const& one) { return one.use_count() == 1; };
    auto const first = std::stable_partition(former_.begin(), former_.end(),
                                             [&](auto const& one) { return !unused(one); });
    std::atomic_thread_fence(std::memory_order_acquire);  // after the last use, of any thread
    // Not while the list changes: what ends with it may look something up.
    std::vector<std::shared_ptr<Catalogue>> const ending(std::make_move_iterator(first),
                                                         std::make_move_iterator(former_.end()));
    former_.erase(first, former_.end());
    return !former_.empty();
}

void Registry::add(Tool tool) {
    CHECK(!this->tool(tool.name));
    CHECK(tool.registers || tool.run || tool.start);
    now_->schemas.emplace(tool.name, json::Schema(tool.schema));
    now_->tools.push_back(std::move(tool));
    now_->declarations.clear();
}

void Registry::add(Gate gate) {
    CHECK(!this->gate(gate.name));
    now_->gates.push_back(std::move(gate));
}

void Registry::add(Agent agent) {
    CHECK(!this->agent(agent.id));
    resolve_foreign(agent);
    now_->agents.push_back(std::move(agent));
    now_->declarations.clear();
}

void Registry::add_foreign(std::string prefix, Tool any) {
    CHECK(any.start);
    CHECK(now_->foreign.emplace(std::move(prefix), Foreign{std::move(any)}).second);
}

void Registry::set_foreign(std::string_view prefix, std::vector<Tool> tools) {
    auto const server = now_->foreign.find(prefix);
    CHECK(server != now_->foreign.end());
    for (auto const& [name, tool] : server->second.tools) now_->schemas.erase(name);
    server->second.tools.clear();
    for (Tool& tool : tools) {
        CHECK(tool.start && tool.name.starts_with(prefix));
        now_->schemas.emplace(tool.name, json::Schema(tool.schema));
        server->second.tools.emplace(tool.name, std::move(tool));
    }
    for (Agent& agent : now_->agents) resolve_foreign(agent);
    now_->declarations.clear();
}

void Registry::set_budgets(std::string_view agent, session::Budgets budgets) {
    auto const found = std::ranges::find(now_->agents, agent, &Agent::id);
    CHECK(found != now_->agents.end() && budgets);
    found->terms.timed = std::ranges::any_of(*budgets, [](session::Budget const& budget) {
        return budget.name.kind == session::BudgetKind::wall_time;
    });
    found->budgets = std::move(budgets);
}

void Registry::resolve_foreign(Agent& agent) const {
    std::erase_if(agent.tools, [&](std::string const& name) {
        return std::ranges::any_of(
            now_->foreign, [&](auto const& server) { return name.starts_with(server.first); });
    });
    for (auto const& [prefix, server] : now_->foreign) {
        for (auto const& [name, tool] : server.tools) {
            auto const fits = [&](std::string const& pattern) {
                return fits_pattern(pattern, name);
            };
            if (std::ranges::any_of(agent.foreign, fits)) agent.tools.push_back(name);
        }
    }
}

Tool const* Registry::tool(std::string_view name) const {
    if (Tool const* const own = find(now_->tools, name, &Tool::name)) return own;
    for (auto const& [prefix, server] : now_->foreign) {
        if (!name.starts_with(prefix)) continue;
        auto const found = server.tools.find(name);
        return found == server.tools.end() ? &server.any : &found->second;
    }
    return nullptr;
}
Gate const* Registry::gate(std::string_view name) const {
    return find(now_->gates, name, &Gate::name);
}
Agent const* Registry::agent(std::string_view id) const {
    return find(now_->agents, id, &Agent::id);
}

ToolDeclarations Registry::declared(Agent const& agent) const {
    ToolDeclarations out;
    for (std::string const& name : agent.tools) {
        if (Tool const* const tool = this->tool(name))
            out.push_back({tool->name, tool->description, tool->schema});
    }
    return out;
}

std::shared_ptr<ToolDeclarations const> Registry::declarations(Agent const& agent) const {
    bool const is_current = this->agent(agent.id) == &agent;  // and not of an exchanged catalogue
    if (!is_current) return std::make_shared<ToolDeclarations const>(declared(agent));
    auto& known = now_->declarations[&agent];
    if (!known) known = std::make_shared<ToolDeclarations const>(declared(agent));
    return known;
}

bool fits_pattern(std::string_view pattern, std::string_view name) {
    std::size_t at = 0, in = 0;
    std::size_t star = std::string_view::npos,
                from = 0;  // the last star, and where its match began
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

// Gates come in the order of adding: the first is the outermost.
std::vector<std::string> Registry::gates_of(Tool const& tool) const {
    std::vector<std::string> names;
    for (Gate const& gate : now_->gates) {
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
    for (Gate const& gate : now_->gates) {
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
        spec.refused = "the arguments cannot be read: " + *unreadable;
        return spec;
    }
    if (auto const violations = now_->schemas.at(tool->name).violations(spec.input);
        !violations.empty()) {
        spec.refused = bad_arguments(violations);
        return spec;
    }
    if (!tool->registers) return spec;
    session::PauseTerms pause = tool->registers(spec.input);
    spec.refused = unusable_schema(pause.schema);
    if (!spec.refused) spec.at_once = std::move(pause);
    return spec;
}

}  // namespace dormouse::agent
