#pragma once
// What clients saw, and whether one register, written once, explains it: each pending call is one.
//
// A history is explained if there is a winner W and an instant p within W's operation such that
// whoever saw an outcome returned at or after p and saw W's, whoever saw it wait asked at or before
// p, and at most one operation says that it won. O(n).

#include "session/vocabulary.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace dormouse::sim {

// An outcome as somebody saw it. Only the first two statuses have digests of their own.
struct Seen {
    session::CallStatus status = session::CallStatus::completed;
    Sha256 digest = {};
    friend bool operator==(Seen const&, Seen const&) = default;
};

struct Operation {
    enum class Kind : std::uint8_t { submit, cancel, look, runtime };
    // unknown: no answer came, or one that does not say. open: it was still waiting.
    enum class Verdict : std::uint8_t { unknown, open, won, settled };

    static constexpr std::uint64_t never = ~std::uint64_t{0};

    Kind kind = Kind::look;
    Sha256 digest = {};      // submit: of what was offered
    std::uint64_t call = 0;  // instants (World::instant)
    std::uint64_t ret = never;
    Verdict verdict = Verdict::unknown;
    Seen seen = {};       // won, settled
    std::string by = {};  // who asked: a name of its own
};

// Empty: the history is explained; else what contradicts it.
[[nodiscard]] std::string check_register(std::span<Operation const> operations);

class History {
public:
    // The place of the operation, to complete it by.
    [[nodiscard]] std::size_t begin(PendingId const& pending, Operation const& operation);
    void end(PendingId const& pending, std::size_t place, std::uint64_t at,
             Operation::Verdict verdict, Seen seen = {});

    [[nodiscard]] std::map<PendingId, std::vector<Operation>> const& all() const { return all_; }

private:
    std::map<PendingId, std::vector<Operation>> all_;
};

}  // namespace dormouse::sim
