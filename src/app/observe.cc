#include "app/observe.h"

#include <algorithm>
#include <set>

namespace dormouse::app {

io::LogOptions log_options(cli::ServeOptions const& options) {
    using Form = io::LogOptions::Form;
    io::LogOptions out;
    if (options.log_level == "debug") out.level = io::LogLevel::debug;
    if (options.log_level == "warn") out.level = io::LogLevel::warn;
    if (options.log_level == "error") out.level = io::LogLevel::error;
    if (options.log_level == "off") out.level = io::LogLevel::off;
    if (options.log_format == "text") out.form = Form::text;
    if (options.log_format == "json") out.form = Form::json;
    return out;
}

std::vector<server::Metrics::ModelLoad> model_loads(agent::Registry const& registry,
                                                    agent::ModelRequests const& requests) {
    using Load = server::Metrics::ModelLoad;
    std::vector<Load> out;
    std::set<agent::Model const*> seen;
    for (agent::Agent const& agent : registry.agents()) {
        if (!agent.model || !seen.insert(agent.model.get()).second) continue;
        auto const same = std::ranges::find(out, agent.model_id, &Load::model);
        Load& load = same != out.end() ? *same : out.emplace_back(Load{agent.model_id});
        load.running += requests.running(*agent.model);
        load.waiting += requests.waiting(*agent.model);
    }
    return out;
}

}  // namespace dormouse::app
