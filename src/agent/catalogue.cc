#include "agent/catalogue.h"

namespace dormouse::agent {

std::vector<port::AgentEntry> RegistryCatalogue::agents() const {
    std::vector<port::AgentEntry> out;
    for (Agent const& agent : registry_.agents()) {
        out.push_back({agent.id, "model", agent.description, agent.model_id, agent.tools});
    }
    return out;
}

std::optional<Json> RegistryCatalogue::tool_schema(std::string const& tool) const {
    Tool const* const found = registry_.tool(tool);
    return found ? std::optional(found->schema) : std::nullopt;
}

std::optional<Json> RegistryCatalogue::result_schema(std::string const& tool) const {
    Tool const* const found = registry_.tool(tool);
    bool const declared = found && !found->result_schema.is_null();
    return declared ? std::optional(found->result_schema) : std::nullopt;
}

}  // namespace dormouse::agent
