#include "serve/memory_gate.h"

namespace dormouse::serve {

namespace {

constexpr Duration look_every{250};

// Whoever asks only whether the server lives is told.
bool is_probe(std::string const& path) { return path == "/healthz" || path == "/readyz"; }

}  // namespace

void MemoryGate::start() {
    if (!reserve_) return;
    loop_.after(look_every, [this, alive = std::weak_ptr(alive_)] {
        if (alive.expired()) return;
        (void)relieve();
        start();
    });
}

std::optional<server::HttpReply> MemoryGate::refuse(server::HttpRequest const& head) {
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
