#pragma once
// Counts what sessions do and what is done for them, as it happens. Called on the loop.

#include "port/store_rows.h"
#include "session/command.h"
#include "session/decide.h"

#include <span>
#include <string>
#include <string_view>

namespace dormouse::port {

class Meter {
public:
    virtual ~Meter() = default;
    // Work for a session has begun: "model", "tool", "gate", "poll".
    virtual void started(std::string_view kind) = 0;
    virtual void tool_ended(std::string const& tool, session::ToolOutcome const& outcome) = 0;
    // One commit, with one result for each append.
    virtual void committed(std::span<AppendResult const> results, Duration time) = 0;
    // An outcome was submitted for a call.
    virtual void submitted(Result<session::Answer> const& answer) = 0;
};

// The requests to one model.
struct ModelLoad {
    std::string model;
    std::size_t running = 0;
    std::size_t waiting = 0;
};

}  // namespace dormouse::port
