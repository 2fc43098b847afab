#include "agent/catalogue.h"

#include "agent/calls.h"

#include <exception>
#include <memory>

namespace dormouse::agent {

std::vector<port::AgentEntry> RegistryCatalogue::agents() const {
    std::vector<port::AgentEntry> out;
    for (Agent const& agent : registry_.agents()) {
        if (agent.hidden) continue;
        port::AgentEntry entry{agent.id, "model", agent.description, agent.model_id, agent.tools};
        if (agent.external) {
            entry.kind = "acp";
            entry.model.clear();
            entry.unavailable = agent.external->unavailable();
            entry.path = agent.external->path();
            auto about = agent.external->about();
            entry.version = std::move(about.version);
            entry.can_load = about.can_load;
            entry.can_resume = about.can_resume;
        }
        out.push_back(std::move(entry));
    }
    return out;
}

std::vector<port::NotAskingEntry> RegistryCatalogue::not_asking() const {
    std::vector<port::NotAskingEntry> out;
    for (Agent const& agent : registry_.agents()) {
        if (!agent.external) continue;
        for (port::NotAskingEntry& one : agent.external->not_asking())
            out.push_back(std::move(one));
    }
    return out;
}

std::optional<port::CallsEntry> RegistryCatalogue::calls(std::string const& agent) const {
    Agent const* const found = registry_.agent(calls_of(agent));
    if (!found) return std::nullopt;
    return port::CallsEntry{found->id, found->tools};
}

Result<std::string> RegistryCatalogue::folder(std::string const& agent,
                                              std::string const& cwd) const {
    Agent const* const found = registry_.agent(agent);
    if (!found || !found->external) return std::string();
    return found->external->folder(cwd);
}

void RegistryCatalogue::open_terminal(port::TerminalRequest ask,
                                      port::Fn<void(Result<port::AttachInfo>)> then) {
    Agent const* const found = registry_.agent(ask.agent);
    if (!found || !found->external)
        return then(fail(Code::wrong_kind, "The session's agent has no screen of its own."));
    found->external->open_terminal(std::move(ask), std::move(then));
}

std::string RegistryCatalogue::tool_description(std::string const& tool) const {
    Tool const* const found = registry_.tool(tool);
    return found ? found->description : "";
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

bool RegistryCatalogue::has_validator(std::string const& tool) const {
    Tool const* const found = registry_.tool(tool);
    return found && (found->check || (workers_ && found->validate));
}

void RegistryCatalogue::validate(port::OfferedResult what,
                                 port::Fn<void(port::ValidationResult)> then) {
    Tool const* const found = registry_.tool(what.tool);
    if (found->check) {
        // Not stopped: a client cannot withdraw a result that it submitted.
        static_cast<void>(found->check(std::move(what), std::move(then)));
        return;
    }
    auto const why = std::make_shared<std::optional<std::string>>();
    auto job = [found, pin = registry_.pin(), why,
                result = std::move(what.output)](std::stop_token const&) {
        try {
            *why = found->validate(result);
        } catch (std::exception const& error) {
            *why = std::string("its validator threw: ") + error.what();
        } catch (...) {
            *why = "its validator threw a value that is not an exception";
        }
    };
    auto done = [why, then = std::move(then)](bool ran) mutable {
        if (ran) return then(std::move(*why));
        then(std::unexpected(
            Error{Code::overloaded, "Too much work is queued; the call still waits.", {}, 1'000}));
    };
    static_cast<void>(workers_->run(std::move(job), std::move(done)));
}

}  // namespace dormouse::agent
