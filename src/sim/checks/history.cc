#include "sim/checks/history.h"

#include <algorithm>
#include <optional>

namespace dormouse::sim {

using session::CallStatus;
using Observed = Operation::Observed;

namespace {

bool has_digest(CallStatus status) {
    return status == CallStatus::completed || status == CallStatus::failed;
}

bool same(Seen const& a, Seen const& b) {
    if (has_digest(a.status) != has_digest(b.status)) return false;
    return has_digest(a.status) ? a.digest == b.digest : a.status == b.status;
}

// Returns true if this operation, whose own result is unknown, can have caused what was seen.
bool may_have_won(Operation const& operation, Seen const& seen) {
    if (operation.observed != Observed::unknown) return false;
    switch (operation.kind) {
        case Operation::Kind::runtime: return true;
        case Operation::Kind::submit:
            return has_digest(seen.status) && operation.digest == seen.digest;
        case Operation::Kind::cancel: return seen.status == CallStatus::cancelled;
        case Operation::Kind::read: return false;
    }
    return false;
}

struct Bounds {
    std::uint64_t seen_open = 0;                    // the latest call that saw it wait
    std::uint64_t seen_settled = Operation::never;  // the earliest return that saw an outcome
};

Bounds bounds_of(std::span<Operation const> operations) {
    Bounds bounds;
    for (Operation const& operation : operations) {
        if (operation.observed == Observed::open) {
            bounds.seen_open = std::max(bounds.seen_open, operation.call);
        }
        if (operation.observed == Observed::settled || operation.observed == Observed::won) {
            bounds.seen_settled = std::min(bounds.seen_settled, operation.ret);
        }
    }
    return bounds;
}

}  // namespace

std::string check_register(std::span<Operation const> operations) {
    std::optional<Seen> outcome;
    Operation const* winner = nullptr;
    for (Operation const& operation : operations) {
        bool const terminal =
            operation.observed == Observed::won || operation.observed == Observed::settled;
        if (!terminal) continue;
        if (outcome && !same(*outcome, operation.seen)) return "two outcomes were seen";
        if (!outcome || operation.observed == Observed::won) outcome = operation.seen;
        if (operation.observed == Observed::won && winner) return "two operations won";
        if (operation.observed == Observed::won) winner = &operation;
    }
    if (!outcome) return "";
    Bounds const bounds = bounds_of(operations);
    // If several operations may have won, the earliest start allows the most.
    std::uint64_t earliest = winner ? winner->call : Operation::never;
    for (Operation const& operation : operations) {
        if (winner || !may_have_won(operation, *outcome)) continue;
        earliest = std::min(earliest, operation.call);
    }
    if (earliest == Operation::never) return "an outcome was seen that no operation offered";
    if (earliest > bounds.seen_settled) return "an outcome was seen before it was offered";
    if (bounds.seen_open > bounds.seen_settled) return "it waited again after it was settled";
    return "";
}

std::size_t History::begin(PendingId const& pending, Operation const& operation) {
    auto& operations = all_[pending];
    operations.push_back(operation);
    return operations.size() - 1;
}

void History::end(PendingId const& pending, std::size_t place, std::uint64_t at, Observed observed,
                  Seen seen) {
    Operation& operation = all_.at(pending)[place];
    auto const forgotten = forgotten_.find(pending.session);
    if (forgotten != forgotten_.end() && operation.call < forgotten->second) return;
    operation.observed = observed;
    operation.seen = seen;
    // The time of an operation with unknown result is unknown, too.
    if (observed != Observed::unknown) operation.ret = at;
}

void History::forget(SessionId session, std::uint64_t at) {
    forgotten_[session] = at;
    for (auto& [pending, operations] : all_) {
        if (pending.session != session) continue;
        for (Operation& operation : operations) {
            operation.observed = Observed::unknown;
            operation.ret = Operation::never;
        }
    }
}

}  // namespace dormouse::sim
