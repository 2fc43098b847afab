#pragma once
// Puts one whole session into a store.

#include "runner/transfer/import.h"
#include "runner/transfer/portable.h"

namespace dormouse::runner {

struct Placed {
    bool before = false;  // the same session was there already
    bool holds = false;   // it has outstanding work
};

// Folds the session's events, compares its rows with them, looks for what is taken in the store,
// and writes it. `was`: its id in the export. Errors: bad_value, newer_format, conflict and
// alias_taken concern the session; others the store.
[[nodiscard]] Result<Placed> place(port::Store& store, Portable session, SessionId was,
                                   ImportOptions const& options, ImportGuard const& guard);

// The key under which the store remembers that the session of this id was imported with a new one.
[[nodiscard]] Bits128 import_key(SessionId was);

}  // namespace dormouse::runner
