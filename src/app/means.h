#pragma once
// What models and tools reach the world with.

#include "agent/builtin.h"
#include "port/http.h"
#include "port/process.h"
#include "port/world.h"

namespace dormouse::app {

// All outlive the registry.
struct Means {
    port::HttpClient& http;
    port::Processes& processes;
    port::Clock const& clock;
    std::shared_ptr<agent::MailSlot> mail = {};
};

}  // namespace dormouse::app
