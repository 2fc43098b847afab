#pragma once
// Checks the observations of clients of each pending call as a write-once register. A history is
// valid if there is a winner W and an instant p within W's operation such that every operation that
// saw an outcome saw W's and returned at or after p, every operation that saw the call waiting
// started at or before p, and at most one operation reports that it won. O(n).

#include "session/vocabulary.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace dormouse::sim {

// An outcome as observed. Only the first two statuses have digests of their own.
struct Seen {
    session::CallStatus status = session::CallStatus::completed;
    Sha256 digest = {};
    friend bool operator==(Seen const&, Seen const&) = default;
};

struct Operation {
    enum class Kind : std::uint8_t { submit, cancel, read, runtime };
    // unknown: no answer, or one that does not tell. open: the call was still waiting.
    enum class Observed : std::uint8_t { unknown, open, won, settled };

    static constexpr std::uint64_t never = ~std::uint64_t{0};

    Kind kind = Kind::read;
    Sha256 digest = {};      // submit: of the payload
    std::uint64_t call = 0;  // instants (World::instant)
    std::uint64_t ret = never;
    Observed observed = Observed::unknown;
    Seen seen = {};       // set with won and settled
    std::string by = {};  // unique name of the caller
};

// Empty: the history is valid; else the contradiction.
[[nodiscard]] std::string check_register(std::span<Operation const> operations);

class History {
public:
    // Returns the index by which end() completes the operation.
    [[nodiscard]] std::size_t begin(PendingId const& pending, Operation const& operation);
    void end(PendingId const& pending, std::size_t place, std::uint64_t at,
             Operation::Observed observed, Seen seen = {});
    // The session lost events at `at`: what operations that began before have seen counts no more.
    void forget(SessionId session, std::uint64_t at);

    [[nodiscard]] std::map<PendingId, std::vector<Operation>> const& all() const { return all_; }

private:
    std::map<SessionId, std::uint64_t> forgotten_;
    std::map<PendingId, std::vector<Operation>> all_;
};

}  // namespace dormouse::sim
