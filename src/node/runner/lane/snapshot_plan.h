#pragma once
// When a lane stores its state as a snapshot: by the bytes of the journal since the last one. So a
// load reads a bounded part of the journal, and snapshots stay a fraction of what is written, both
// for many small events and for few large ones.

#include <algorithm>
#include <cstddef>

namespace dormouse::runner {

class SnapshotPlan {
public:
    // Minimum size of the journal; a smaller one is folded quickly.
    static constexpr std::size_t journal_min = std::size_t{64} << 10;
    // Bytes of the journal between two snapshots, for each byte of a snapshot.
    static constexpr std::size_t journal_factor = 4;

    // The session was read: its last snapshot (0 bytes: none) and the journal after it.
    void loaded(std::size_t snapshot_bytes, std::size_t journal_bytes) {
        snapshot_ = snapshot_bytes;
        journal_ = journal_bytes;
    }
    void appended(std::size_t journal_bytes) { journal_ += journal_bytes; }
    [[nodiscard]] bool due() const {
        return journal_ > std::max(journal_min, journal_factor * snapshot_);
    }
    void taken(std::size_t snapshot_bytes) { loaded(snapshot_bytes, 0); }

private:
    std::size_t snapshot_ = 0;
    std::size_t journal_ = 0;
};

}  // namespace dormouse::runner
