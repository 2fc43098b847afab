#include "config/parts.h"
#include "config/values.h"

#include "base/text/text.h"
#include "session/vocabulary.h"

#include <algorithm>
#include <map>

namespace dormouse::config {

namespace {

using Names = std::vector<std::string>;

bool has(Names const& names, std::string const& name) {
    return std::ranges::find(names, name) != names.end();
}

std::string joined(Names const& names) {
    std::string out;
    for (std::string const& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
}

std::string suggestion(std::string const& name, Names const& names, std::string const& of) {
    std::vector<std::string_view> const views(names.begin(), names.end());
    auto const near = nearest(name, views);
    if (!near.empty()) return "did you mean \"" + std::string(near) + "\"?";
    return names.empty() ? "add a " + of : "there are " + joined(names) + "; or add a " + of;
}

// Checks that each name occurs once, and none is in `taken`.
template <class T>
Names unique(std::vector<Placed<T>> const& list, std::string T::* name, std::string_view key,
             Names const& taken) {
    Names out;
    std::map<std::string, std::uint32_t> seen;
    for (auto const& [value, section] : list) {
        std::string const& own = value.*name;
        if (own.empty()) continue;  // missing, and reported
        auto const [at, fresh] = seen.emplace(own, section.line(key));
        if (!fresh) {
            section.report(key,
                           "is " + shown(own) + " again, as in line " + std::to_string(at->second),
                           "choose another one");
        } else if (has(taken, own)) {
            section.report(key, "is " + shown(own) + ", which is there already (built in)",
                           "choose another one");
        }
        out.push_back(own);
    }
    return out;
}

// The tools of an MCP server are not known here, but the server is.
void check_mcp(Section const& section, std::string const& pattern, Names const& servers) {
    constexpr std::size_t start = 4;  // "mcp:"
    auto const end = pattern.find(':', start);
    if (end == std::string::npos) {
        section.report("tools", "names " + shown(pattern) + ", which is not mcp:NAME:TOOL",
                       "write for example mcp:files:* for all tools of [[mcp]] files");
        return;
    }
    auto const name = pattern.substr(start, end - start);
    bool const known = std::ranges::any_of(
        servers, [&](std::string const& server) { return matches(name, server); });
    if (!known)
        section.report("tools", "names " + shown(pattern) + ": MCP server not found",
                       suggestion(name, servers, "[[mcp]] of that name"));
}

// Returns the tools that match the patterns of `section`, each once. Patterns of tools of MCP
// servers stay.
Names resolve(Section const& section, Names const& patterns, Names const& tools,
              Names const& servers) {
    Names out;
    for (std::string const& pattern : patterns) {
        if (pattern.starts_with("mcp:")) {
            check_mcp(section, pattern, servers);
            if (!has(out, pattern)) out.push_back(pattern);
            continue;
        }
        if (pattern.starts_with("acp:")) {
            section.report("tools",
                           "names " + shown(pattern) + ": an external agent has only its own tools",
                           "name it in a [[gate]], which holds for their permissions");
            continue;
        }
        bool found = false;
        for (std::string const& tool : tools) {
            // `*` does not match agents: they must be named as such.
            if (tool.starts_with("agent:") && !pattern.starts_with("agent:")) continue;
            if (!matches(pattern, tool)) continue;
            found = true;
            if (!has(out, tool)) out.push_back(tool);
        }
        if (!found) {
            section.report("tools", "names " + shown(pattern) + ": tool not found",
                           suggestion(pattern, tools, "[[tool]] of that name"));
        }
    }
    return out;
}

void check_voters(Placed<Gate> const& gate, Names const& answerers, std::string const& when) {
    bool const named = std::ranges::none_of(
        answerers, [](std::string const& who) { return who.starts_with("role:"); });
    if (answerers.empty() || !named || gate.value.need <= answerers.size()) return;
    gate.section.report("need",
                        "is " + std::to_string(gate.value.need) + ", and " +
                            std::to_string(answerers.size()) + " may answer" + when,
                        "name more answerers, or need fewer");
}

// A name conflict with a tool of the demo needs its own message, because the file does not mention
// the demo.
void check_demo_names(std::vector<Placed<Tool>> const& parts, Environment const& environment) {
    for (auto const& [tool, section] : parts) {
        if (!has(environment.demo_tools, tool.name)) continue;
        section.report("name", "is " + shown(tool.name) + ", which is a tool of the demo",
                       "choose another one, or write demo = false in [server]");
    }
}

}  // namespace

void relate(Server const& server, Parts& parts, Environment const& environment) {
    bool const demo = server.demo.value_or(parts.agents.empty());
    Names tools = environment.builtin_tools;
    if (demo)
        tools.insert(tools.end(), environment.demo_tools.begin(), environment.demo_tools.end());
    Names const models = unique(parts.models, &Model::id, "id", {});
    Names const own_tools = unique(parts.tools, &Tool::name, "name", environment.builtin_tools);
    if (demo) check_demo_names(parts.tools, environment);
    Names taken = demo ? environment.demo_agents : Names{};
    taken.emplace_back(session::no_agent);
    if (!parts.mcps.empty()) taken.emplace_back("mcp");
    Names agents = unique(parts.agents, &Agent::id, "id", taken);
    if (demo)
        agents.insert(agents.end(), environment.demo_agents.begin(), environment.demo_agents.end());
    unique(parts.projects, &Project::id, "id", {});
    Names const servers = unique(parts.mcps, &Mcp::name, "name", {});
    // The gate of MCP servers' own.
    unique(parts.gates, &Gate::id, "id", servers.empty() ? Names{} : Names{"mcp"});
    unique(parts.sources, &Source::id, "id", {});
    unique(parts.users, &User::name, "name", {});
    unique(parts.users, &User::email, "email", {});
    unique(parts.users, &User::slack, "slack", {});
    unique(parts.users, &User::oidc_subject, "oidc_subject", {});
    tools.insert(tools.begin(), own_tools.begin(), own_tools.end());
    for (std::string const& agent : agents) tools.push_back("agent:" + agent);
    for (auto& [agent, section] : parts.agents) {
        if (!agent.model.empty() && !has(models, agent.model)) {
            section.report("model", "is " + shown(agent.model) + ": model not found",
                           suggestion(agent.model, models, "[[model]] with that id"));
        }
        agent.tools = resolve(section, agent.tools, tools, servers);
        if (agent.external.shares_a_user() && parts.projects.size() > 1) {
            section.report("acp",
                           "has no sandbox and can read every project's sessions, and there are " +
                               std::to_string(parts.projects.size()) + " projects",
                           "set sandbox = \"bwrap\", or leave one [[project]]");
        }
    }
    for (auto& [source, section] : parts.sources)
        source.tools = resolve(section, source.tools, tools, servers);
    for (auto const& gate : parts.gates) {
        Names named = gate.value.tools;  // only an external agent knows the names of its tools
        std::erase_if(named, [](std::string const& tool) { return tool.starts_with("acp:"); });
        (void)resolve(gate.section, named, tools, servers);
        check_voters(gate, gate.value.answerers, "");
        check_voters(gate, gate.value.escalate_to, " at the deadline");
    }
    for (auto const& [budget, section] : parts.budgets) {
        for (std::string const& agent : budget.agents) {
            if (!has(agents, agent))
                section.report("agents", "names " + shown(agent) + ": agent not found",
                               suggestion(agent, agents, "[[agent]] with that id"));
        }
    }
}

namespace {

void check_contact(Section const& section, Server const& server) {
    if (!server.push_contact.empty() || server.public_url.starts_with("https://")) return;
    section.report("kind", "is \"web-push\", and push services have nobody to ask",
                   "set push_contact in [server], for example \"mailto:ops@example.org\", or a "
                   "public_url with https");
}

}  // namespace

void relate(std::vector<Placed<Notify>> const& notifies, Server const& server, Email const& email,
            std::vector<User> const& users) {
    for (auto const& [notify, section] : notifies) {
        if (notify.kind == NotifyKind::web_push) check_contact(section, server);
        if (notify.kind != NotifyKind::email || section.kind().empty()) continue;
        if (email.server.empty())
            section.report("kind", "is \"email\", and no mail server is set",
                           "add server and from to [email]");
        for (std::string const& name : notify.to) {
            auto const user = std::ranges::find(users, name, &User::name);
            if (user == users.end()) {
                section.report("to", "names " + shown(name) + ": [[user]] not found",
                               "add a [[user]] of that name");
            } else if (user->email.empty()) {
                section.report("to", "names " + shown(name) + ", who has no address",
                               "add email to that [[user]]");
            }
        }
    }
}

}  // namespace dormouse::config
