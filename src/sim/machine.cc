#include "sim/machine.h"

#include <utility>

namespace dormouse::sim {

void Machine::run(port::Fn<void()> work) {
    if (!frozen_) return work();
    late_.push_back(std::move(work));
}

void Machine::thaw() {
    frozen_ = false;
    for (auto& work : std::exchange(late_, {})) post(std::move(work));
}

void Machine::kill() {
    frozen_ = false;
    auto const dropped = std::exchange(late_, {});
    world_.drop(*this);
    world_.trace("kill");
}

}  // namespace dormouse::sim
