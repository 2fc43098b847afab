#pragma once
// The services for models and tools of the configuration, besides those of the node.

#include "app/parts/settings.h"
#include "app/start/confine.h"
#include "config/config.h"
#include "external/validator.h"
#include "io/clock_control.h"
#include "io/folder.h"
#include "io/process/process.h"
#include "runtime/node.h"

#include <map>
#include <memory>
#include <string>

namespace dormouse::app {

struct ServerServices : runtime::NodeServices {
    explicit ServerServices(config::Limits const& limits)
        : validators(processes, clock, validator_limits(limits)) {}
    std::unique_ptr<io::ClockControl> clock_control = {};  // null: the clock is not moved
    io::ProcessHost processes{loop};
    external::Validators validators;
    // by user; empty: the server's
    std::map<std::string, std::unique_ptr<io::FolderHost>> folders = {};

    port::Folders* folders_of(std::string const& user) {
        auto const found = folders.find(user);
        if (found != folders.end()) return found->second.get();
        auto rights = user.empty() ? std::nullopt : rights_of(user);
        if (!user.empty() && !rights) return nullptr;
        return (folders[user] = std::make_unique<io::FolderHost>(loop, std::move(rights))).get();
    }
};

}  // namespace dormouse::app
