#include <dormouse/outcome.h>

namespace dormouse::inline v0 {

PauseReason reason(Await const& await) { return static_cast<PauseReason>(await.index()); }

bool reenters(Await const& await) {
    if (auto const* result = std::get_if<await::Result>(&await)) return result->reenter;
    return !std::holds_alternative<await::Input>(await);
}

std::string Call::call_id() const { return "call_" + std::to_string(facts_.pending.call); }

std::string Call::turn_id() const {
    return numbered_id("trn_", facts_.pending.session, facts_.turn);
}

}  // namespace dormouse::inline v0
