#pragma once
// An index: documents about sessions and pending calls beside a store, for other programs. Nothing
// in Dormouse reads them, and all of them can be made again from the store.

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/time.h>

#include "port/store_rows.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::port {

// One pause of one call. `text` is a JSON object.
struct CallDocument {
    PendingId id;
    PendingStatus status = PendingStatus::waiting;
    std::optional<Time> expires = {};  // the deadline of a call that waits
    std::string text;
};

// `text` is a JSON object.
struct SessionDocument {
    SessionId id;
    std::string project;
    std::string text;
};

// A session that was deleted: its document and those of its calls are removed.
struct DeletedSession {
    SessionId id;
    std::string project;
};

// Applied as a whole. A document replaces an older one with its id; each id comes once.
struct IndexBatch {
    std::vector<CallDocument> calls = {};
    std::vector<SessionDocument> sessions = {};
    std::vector<DeletedSession> deleted = {};
    // The place in the feed up to which the index is complete after this batch, opaque, at most 256
    // bytes of printable ASCII. Empty: it is being rebuilt, and not complete before a later batch.
    std::string position = {};
};

// A plain blocking class. One thread at a time. After an error the same batch is offered again, or
// the index is opened again; errors say what to do.
class Index {
public:
    virtual ~Index() = default;
    // For people, logs and metrics: "files", "redis".
    [[nodiscard]] virtual std::string_view name() const = 0;
    // The stored position. Empty: nothing usable is stored, the index must be rebuilt.
    [[nodiscard]] virtual Result<std::string> open() = 0;
    // The batches from now on, up to the first one with a position, hold all documents that there
    // are. Others are removed with that batch, or at once.
    [[nodiscard]] virtual Result<void> begin_rebuild() = 0;
    [[nodiscard]] virtual Result<void> apply(IndexBatch const& batch) = 0;
    // Writes what apply() has left for later. Called while nothing else is to do, and at the end.
    [[nodiscard]] virtual Result<void> flush() = 0;
    // Returns how long flush() may wait. Longer the more flush() writes, so that the cost of a
    // batch does not depend on the number of documents. nullopt: flush() has nothing to write.
    [[nodiscard]] virtual std::optional<Duration> flush_within() const = 0;
};

enum class IndexState : std::uint8_t {
    starting,
    rebuilding,   // all documents are being written
    catching_up,  // documents that changed while it was not followed are being written
    current,
    standby,  // another process writes it
    failed,   // it is tried again later
};

// For operators.
struct IndexStatus {
    std::string name;
    IndexState state = IndexState::starting;
    std::string why = {};         // of `failed`
    std::uint64_t documents = 0;  // written by this process
    std::uint64_t rebuilds = 0;
    std::uint64_t failures = 0;
    std::optional<Time> behind_since = {};  // nullopt: it has all appends
    // It was complete once, has failed, or is another process's: nobody waits for it any more.
    bool settled = false;
};

}  // namespace dormouse::port
