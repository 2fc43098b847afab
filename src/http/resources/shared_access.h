#pragma once
// Tokens, devices and standing rules that another process on the same store has changed. Each
// process keeps them in memory; the store counts their changes. On the loop.

#include "base/scope.h"
#include "port/store_rows.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace dormouse::http {

struct Services;

class SharedAccess {
public:
    // `services` outlives this. `changed` is called after something was read again.
    SharedAccess(Services& services, std::function<void()> changed)
        : services_(services), changed_(std::move(changed)) {}

    // The store has counted this many changes. Reads again if some of them are new.
    void heard(std::uint64_t changes);
    // This process changes something, until the handle is gone: what was read meanwhile does not
    // count.
    [[nodiscard]] std::shared_ptr<void> changing();

private:
    struct Access {
        std::vector<port::TokenRow> tokens;
        std::vector<port::DeviceRow> devices;
        std::vector<port::RuleRow> rules;
    };
    void read();
    void take(std::uint64_t begun, Result<Access> const& access);

    Services& services_;
    std::function<void()> const changed_;
    std::optional<std::uint64_t> heard_ = {};
    bool reading_ = false;
    std::uint64_t begun_ = 0;  // changes by this process
    std::shared_ptr<int> const running_ = std::make_shared<int>(0);
    Scope scope_;
};

}  // namespace dormouse::http
