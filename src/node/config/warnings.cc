#include "config/read.h"
#include "config/values.h"

#include "base/url.h"

#include <algorithm>

namespace dormouse::config {

namespace {

// Returns true if the URL is on this machine: such a service can reach an address of this machine.
bool is_near(std::string_view text) {
    auto const url = parse_url(text);
    return url && url->is_loopback();
}

bool gets_callback_url(HttpTool const& tool) {
    return tool.body.is_null() || tool.body.text().contains("\"callbackURL\"");
}

bool calls_back_from_afar(Tool const& tool) {
    return tool.kind == ToolKind::http && tool.http.later != Later::never && !tool.http.poll &&
           gets_callback_url(tool.http) && !is_near(tool.http.url);
}

// Returns why what the agent spends does not count for the budget; empty: it counts.
std::string uncounted(Config const& config, Budget const& budget, Agent const& agent) {
    auto const model = std::ranges::find(config.models, agent.model, &Model::id);
    if (model == config.models.end() || !model->input_price)
        return " has no prices; set input_price and output_price";
    if (model->currency == budget.currency) return {};
    return " has prices in " + model->currency + " and the budget is in " + budget.currency +
           "; set one currency";
}

// Agents whose costs are unknown, so that the budget never holds them. An external agent may report
// what it spends.
void warn_of_unpriced(Config const& config, Budget const& budget, std::vector<Problem>& out) {
    // Their model has no entry, and so no prices.
    bool const limits_demo =
        budget.agents.empty() || std::ranges::any_of(budget.agents, [&](std::string const& id) {
            return std::ranges::find(config.agents, id, &Agent::id) == config.agents.end();
        });
    if (config.has_demo() && limits_demo)
        out.push_back({budget.line,
                       "[[budget]]: cost does not limit the demo agents: they cost nothing; limit "
                       "tokens or steps"});
    for (Agent const& agent : config.agents) {
        bool const concerns = budget.agents.empty() ||
                              std::ranges::find(budget.agents, agent.id) != budget.agents.end();
        if (!concerns || !agent.external.command.empty()) continue;
        std::string const why = uncounted(config, budget, agent);
        if (why.empty()) continue;
        out.push_back({budget.line, "[[budget]]: cost does not limit the agent " + agent.id +
                                        ": its model " + agent.model + why});
    }
}

}  // namespace

std::string only_project(Config const& config) {
    return config.projects.empty() ? "default" : config.projects.front().id;
}

std::string no_sandbox_text(Config const& config) {
    return "it runs as the server's user and can read all that the server keeps, so it serves the "
           "project \"" +
           only_project(config) + "\" only; set sandbox = \"bwrap\"";
}

std::vector<Problem> warnings(Config const& config) {
    std::vector<Problem> out;
    for (Source const& source : config.sources) {
        if (source.secrets.empty())
            out.push_back({source.line, "[[source]] " + source.id +
                                            ": none of its secrets_env is set, so it answers 404"});
    }
    for (Agent const& agent : config.agents) {
        if (agent.external.is_unconfined())
            out.push_back({agent.line, "[[agent]] " + agent.id + ": " + no_sandbox_text(config)});
    }
    for (Budget const& budget : config.budgets) {
        if (budget.cost) warn_of_unpriced(config, budget, out);
    }
    if (!config.server.public_url.empty()) return out;
    for (Tool const& tool : config.tools) {
        if (!calls_back_from_afar(tool)) continue;
        out.push_back(
            {tool.line, "[[tool]] " + tool.name +
                            ": its service gets a callback URL that only this machine reaches; "
                            "set public_url in [server], or poll, or later = \"never\""});
    }
    return out;
}

}  // namespace dormouse::config
