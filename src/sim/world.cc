#include "sim/world.h"

#include "sim/machine.h"

#include <string>
#include <utility>

namespace dormouse::sim {

void World::add(Duration delay, Machine* owner, port::Fn<void()> work) {
    queue_.emplace(elapsed_ + std::max(delay, Duration(0)), Work{owner, std::move(work)});
}

Random World::random() {
    Random out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(rng_() >> 32);
    return out;
}

Duration World::between(Duration least, Duration most) {
    auto const span = static_cast<std::uint64_t>((most - least).count()) + 1;
    return least + Duration(static_cast<std::int64_t>(below(span)));
}

void World::drop(Machine const& owner) {
    std::multimap<Duration, Work> kept;
    for (auto& [at, work] : queue_) {
        if (work.owner != &owner) kept.emplace(at, std::move(work));
    }
    // Dropped work holds callbacks of clients; they stay unanswered and must touch nothing.
    std::swap(queue_, kept);
}

void World::run_for(Duration time) {
    Duration const until = elapsed_ + time;
    while (!queue_.empty() && queue_.begin()->first <= until) {
        auto next = queue_.extract(queue_.begin());
        at_this_time_ = next.key() > elapsed_ ? 0 : at_this_time_ + 1;
        elapsed_ = std::max(elapsed_, next.key());
        if (at_this_time_ > at_one_time_max) {
            spins_ = true;
            queue_.clear();
            break;
        }
        Work& work = next.mapped();
        work.owner != nullptr ? work.owner->run(std::move(work.run)) : work.run();
    }
    elapsed_ = std::max(elapsed_, until);
}

std::optional<Duration> World::next_outside() const {
    for (auto const& [at, work] : queue_) {
        if (work.owner == nullptr) return at - elapsed_;
    }
    return std::nullopt;
}

void World::trace(std::string_view what) {
    std::string const line = std::to_string(elapsed_.count()) + " " + std::string(what);
    for (char const c : line) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
}

}  // namespace dormouse::sim
