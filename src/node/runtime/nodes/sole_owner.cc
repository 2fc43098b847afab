#include "runtime/nodes/sole_owner.h"

#include <utility>

namespace dormouse::runtime {

namespace {

constexpr Duration ask_every{1'000};
constexpr Duration trust{4'000};  // how long a good answer counts

}  // namespace

void SoleOwner::start(std::function<void()> lost) {
    lost_ = std::move(lost);
    if (!ask_) return;
    permission_.extend(clock_() + trust);  // opened just now
    ask();
}

void SoleOwner::ask() {
    ask_(scope_.guard(
        [this, sent = clock_()](Result<void> const& answer) { answered(sent, answer); }));
}

void SoleOwner::answered(Duration sent, Result<void> const& answer) {
    if (answer) permission_.extend(sent + trust);
    if (!answer && answer.error().code == Code::wrong_state) return report();
    loop_.after(ask_every, scope_.guard([this] { ask(); }));
}

void SoleOwner::rejoin(port::Fn<void()> /*done*/) { report(); }

void SoleOwner::report() {
    permission_.end();
    if (!std::exchange(reported_, true) && lost_) lost_();
}

}  // namespace dormouse::runtime
