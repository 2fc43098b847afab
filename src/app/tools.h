#pragma once
// [[tool]] and [[gate]] of the configuration → what the registry holds.

#include "agent/tool.h"
#include "config/config.h"
#include "port/http.h"
#include "port/process.h"

namespace dormouse::app {

// What tools work with; outlives the registry.
struct Outside {
    port::Processes& processes;
    port::HttpClient& http;
    port::Clock const& clock;
};

// Errors: bad_value, with the key and what is wrong with it.
[[nodiscard]] Result<agent::Tool> make_tool(config::Tool const& tool, Outside const& outside);
[[nodiscard]] agent::Gate make_gate(config::Gate const& gate);

// For a configuration that is only checked: nothing can be started.
class Nowhere final : public port::Processes, public port::HttpClient, public port::Clock {
public:
    Number start(port::ProcessSpec, port::Fn<void(port::ProcessEnd)>) override { return 0; }
    void stop(Number) override {}
    port::HttpId start(port::HttpRequest, port::HttpCallbacks) override { return 0; }
    void cancel(port::HttpId) override {}
    [[nodiscard]] Time now() const override { return {}; }
    [[nodiscard]] Duration monotonic() const override { return {}; }

    [[nodiscard]] Outside outside() { return {*this, *this, *this}; }
};

}  // namespace dormouse::app
