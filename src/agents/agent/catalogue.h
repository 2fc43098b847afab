#pragma once
// The view of a registry for code that lists agents and checks results, and runs nothing.

#include "agent/tool.h"
#include "port/catalogue.h"

namespace dormouse::agent {

class RegistryCatalogue final : public port::Catalogue {
public:
    // Both outlive this. Without workers, validators that may block are not used.
    explicit RegistryCatalogue(Registry const& registry, port::Workers* workers = nullptr)
        : registry_(registry), workers_(workers) {}
    [[nodiscard]] std::vector<port::AgentEntry> agents() const override;
    [[nodiscard]] bool has_agent(std::string const& id) const override {
        Agent const* const found = registry_.agent(id);
        return found && !found->hidden;
    }
    [[nodiscard]] std::optional<port::CallsEntry> calls(std::string const& agent) const override;
    [[nodiscard]] Result<std::string> folder(std::string const& agent,
                                             std::string const& cwd) const override;
    void open_terminal(port::TerminalRequest ask,
                       port::Fn<void(Result<port::AttachInfo>)> then) override;
    [[nodiscard]] std::vector<port::NotAskingEntry> not_asking() const override;
    [[nodiscard]] std::string tool_description(std::string const& tool) const override;
    [[nodiscard]] std::optional<Json> tool_schema(std::string const& tool) const override;
    [[nodiscard]] std::optional<Json> result_schema(std::string const& tool) const override;
    [[nodiscard]] bool has_validator(std::string const& tool) const override;
    void validate(port::OfferedResult what, port::Fn<void(port::ValidationResult)> then) override;
    [[nodiscard]] bool has_gate(std::string const& gate) const override {
        return registry_.gate(gate) != nullptr;
    }

private:
    Registry const& registry_;
    port::Workers* workers_;
};

}  // namespace dormouse::agent
