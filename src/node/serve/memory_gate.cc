#include "serve/memory_gate.h"

namespace dormouse::serve {

namespace {

constexpr Duration check_interval{250};

// Health checks are always answered.
bool is_probe(std::string const& path) { return path == "/healthz" || path == "/readyz"; }

}  // namespace

void MemoryGate::start() {
    if (!reserve_) return;
    loop_.after(check_interval, scope_.guard([this] {
        (void)relieve();
        start();
    }));
}

std::optional<http::HttpReply> MemoryGate::refuse(http::HttpRequest const& head) {
    if (is_probe(head.path) || relieve()) return inner_.refuse(head);
    Error const error{Code::overloaded, "There is not enough memory for this now.", {}, 1'000};
    return inner_.problem(error, head);
}

bool MemoryGate::relieve() {
    if (!reserve_ || !reserve_->used()) return true;
    runner_.release_idle();
    return reserve_->refill();
}

}  // namespace dormouse::serve
