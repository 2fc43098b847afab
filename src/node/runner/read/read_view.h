#pragma once
// Builds the model's view of a session from its journal. Reads the store; blocks.

#include "port/store.h"
#include "wire/view/view_window.h"

namespace dormouse::runner {

// The view of the request with `view_seq`. Reads only the part of the journal that it needs
// (wire/view/view_window.h), however long the session has lived.
[[nodiscard]] Result<session::ModelView> read_view(port::JournalStore& store,
                                                   wire::JournalEnd const& end, Seq view_seq);

}  // namespace dormouse::runner
