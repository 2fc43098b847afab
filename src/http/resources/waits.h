#pragma once
// Requests that wait for a change of a session (`?wait=`). On the loop.

#include "base/scope.h"
#include "http/resources/api.h"

#include <memory>
#include <vector>

namespace dormouse::http {

class Waits {
public:
    struct Wait;
    // A wait ends at most this much after its time is over or its client has disconnected.
    static constexpr Duration sweep_every{250};

    explicit Waits(Services& services) : services_(services) {}
    void add(std::shared_ptr<Wait> wait);
    [[nodiscard]] bool some() const { return !waits_.empty(); }

private:
    void arm();
    void sweep();

    Services& services_;
    std::vector<std::shared_ptr<Wait>> waits_;
    bool armed_ = false;
    Scope scope_;
};

}  // namespace dormouse::http
