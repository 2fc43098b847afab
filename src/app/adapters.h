#pragma once
// Small bridges between layers that may not know each other.

#include "agent/tool.h"
#include "io/tool_threads.h"
#include "port/catalogue.h"
#include "port/effects.h"

namespace dormouse::app {

// What the server may know of the registry.
class RegistryCatalogue final : public port::Catalogue {
public:
    explicit RegistryCatalogue(agent::Registry const& registry) : registry_(registry) {}
    [[nodiscard]] std::vector<port::AgentEntry> agents() const override;
    [[nodiscard]] bool has_agent(std::string const& id) const override {
        return registry_.agent(id) != nullptr;
    }
    [[nodiscard]] std::optional<Json> tool_schema(std::string const& tool) const override;
    [[nodiscard]] std::optional<Json> result_schema(std::string const& tool) const override;
    [[nodiscard]] bool has_gate(std::string const& gate) const override {
        return registry_.gate(gate) != nullptr;
    }

private:
    agent::Registry const& registry_;
};

// Jobs on tool threads, their ends on the loop.
class ThreadWorkers final : public port::Workers {
public:
    ThreadWorkers(io::ToolThreads& threads, port::Loop& loop) : threads_(threads), loop_(loop) {}
    std::stop_source run(port::Fn<void(std::stop_token)> job,
                         port::Fn<void(bool ran)> done) override;

private:
    io::ToolThreads& threads_;
    port::Loop& loop_;
};

}  // namespace dormouse::app
