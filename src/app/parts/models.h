#pragma once
// Makes a model from a [[model]] of the configuration.

#include "agent/model.h"
#include "app/parts/means.h"
#include "config/config.h"

#include <memory>

namespace dormouse::app {

// Errors: bad_value, what is wrong with its settings and what to do, without its id.
[[nodiscard]] Result<void> check_model(config::Model const& settings);
// Everything in `services` outlives the model. REQUIRES: check_model(settings).
[[nodiscard]] std::shared_ptr<agent::Model> make_model(config::Model const& settings,
                                                       ToolServices const& services);

}  // namespace dormouse::app
