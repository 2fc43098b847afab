#pragma once
// A catalogue of one agent; a test sets the declarations of its tools and answers for validators.

#include "port/catalogue.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::runner::testing {

class TestCatalogue final : public port::Catalogue {
public:
    struct Request {
        port::OfferedResult what;
        port::Fn<void(port::ValidationResult)> then;
    };

    [[nodiscard]] std::vector<port::AgentEntry> agents() const override {
        return {{"demo", "model", "To play with.", "scripted", {"deploy"}}};
    }
    [[nodiscard]] bool has_agent(std::string const& id) const override { return id == "demo"; }
    [[nodiscard]] std::optional<port::CallsEntry> calls(std::string const&) const override {
        return std::nullopt;
    }
    [[nodiscard]] Result<std::string> folder(std::string const&,
                                             std::string const&) const override {
        return std::string();
    }
    void open_terminal(port::TerminalRequest,
                       port::Fn<void(Result<port::AttachInfo>)> then) override {
        then(fail(Code::wrong_kind, "The session's agent has no screen of its own."));
    }
    [[nodiscard]] std::vector<port::NotAskingEntry> not_asking() const override { return {}; }
    [[nodiscard]] std::string tool_description(std::string const&) const override { return {}; }
    [[nodiscard]] std::optional<Json> tool_schema(std::string const&) const override {
        return input;
    }
    [[nodiscard]] std::optional<Json> result_schema(std::string const&) const override {
        return declared;
    }
    [[nodiscard]] bool has_validator(std::string const& tool) const override {
        return validators.contains(tool);
    }
    void validate(port::OfferedResult what, port::Fn<void(port::ValidationResult)> then) override {
        requests.push_back({std::move(what), std::move(then)});
    }
    [[nodiscard]] bool has_gate(std::string const&) const override { return true; }

    // Answers the oldest question to a validator.
    void answer(port::ValidationResult result) {
        Request one = std::move(requests.front());
        requests.erase(requests.begin());
        one.then(std::move(result));
    }

    std::optional<Json> input;     // schema of every tool's input; nullopt: the tool does not exist
    std::optional<Json> declared;  // schema of every tool's results
    std::set<std::string> validators;
    std::vector<Request> requests;
};

}  // namespace dormouse::runner::testing
