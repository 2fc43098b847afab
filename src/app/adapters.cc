#include "app/adapters.h"

#include <memory>

namespace dormouse::app {

std::vector<port::AgentEntry> RegistryCatalogue::agents() const {
    std::vector<port::AgentEntry> out;
    for (agent::Agent const& agent : registry_.agents()) {
        out.push_back({agent.id, "model", agent.description, agent.model_id, agent.tools});
    }
    return out;
}

std::optional<Json> RegistryCatalogue::tool_schema(std::string const& tool) const {
    agent::Tool const* const found = registry_.tool(tool);
    return found ? std::optional(found->schema) : std::nullopt;
}

std::optional<Json> RegistryCatalogue::result_schema(std::string const& tool) const {
    agent::Tool const* const found = registry_.tool(tool);
    bool const declared = found && !found->result_schema.is_null();
    return declared ? std::optional(found->result_schema) : std::nullopt;
}

std::stop_source ThreadWorkers::run(port::Fn<void(std::stop_token)> job,
                                    port::Fn<void(bool)> done) {
    // The caller's source, and the pool's: either may ask the job to stop, and the pool's does when
    // the server ends.
    std::stop_source source;
    auto const shared_done = std::make_shared<port::Fn<void(bool)>>(std::move(done));
    auto task = [this, job = std::move(job), shared_done,
                 source](std::stop_token const& pool) mutable {
        std::stop_callback const forward(pool, [&source] { source.request_stop(); });
        job(source.get_token());
        loop_.post([shared_done] { (*shared_done)(true); });
    };
    if (auto queued = threads_.run(std::move(task)); !queued)
        loop_.post([shared_done] { (*shared_done)(false); });
    return source;
}

}  // namespace dormouse::app
