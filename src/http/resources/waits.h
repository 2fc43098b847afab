#pragma once
// Requests that wait for a session to come to something (`?wait=`). On the loop.

#include "http/resources/api.h"

#include <memory>
#include <vector>

namespace dormouse::server {

class Waits {
public:
    struct Wait;
    // How late a wait may end when its time is up or its client has gone.
    static constexpr Duration sweep_every{250};

    explicit Waits(Services& services) : services_(services) {}
    void add(std::shared_ptr<Wait> wait);

private:
    void arm();
    void sweep();

    Services& services_;
    std::vector<std::shared_ptr<Wait>> waits_;
    bool armed_ = false;
};

}  // namespace dormouse::server
