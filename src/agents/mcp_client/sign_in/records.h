#pragma once
// The stored records of sign-ins to MCP servers, by name. Other processes may use and change the
// same ones. On the loop.

#include "port/world.h"

#include <dormouse/json.h>

#include <functional>
#include <optional>
#include <string>

namespace dormouse::mcp_client {

class Records {
public:
    virtual ~Records() = default;
    // Returns the record as it was last read; nullopt: there is none, or it is damaged.
    [[nodiscard]] virtual std::optional<Json> load(std::string const& name) const = 0;
    // Replaces what load() returns at the time of the call. Calls `done` once, perhaps before it
    // returns: with true when it is durable, or with false if it is not stored, or another process
    // has changed the record before, which load() then returns.
    virtual void store(std::string const& name, Json const& record, port::Fn<void(bool)> done) = 0;
    // Reads what other processes have changed; then calls `done` once, perhaps before it returns.
    virtual void refresh(port::Fn<void()> done) = 0;
    // From now on calls `changed` after other processes have changed a record; once.
    virtual void follow(std::function<void()> changed) = 0;
    // Returns true if other processes use the records.
    [[nodiscard]] virtual bool shared() const = 0;
};

}  // namespace dormouse::mcp_client
