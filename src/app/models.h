#pragma once
// [[model]] of the configuration → a model that can be asked.

#include "agent/model.h"
#include "app/means.h"
#include "config/config.h"

#include <memory>

namespace dormouse::app {

// What `means` refers to outlives the model. Errors: bad_value, what is wrong with its settings and
// what to do; the id of the model is not part of it.
[[nodiscard]] Result<std::shared_ptr<agent::Model>> make_model(config::Model const& settings,
                                                               Means const& means);

}  // namespace dormouse::app
