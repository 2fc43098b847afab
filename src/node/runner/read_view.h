#pragma once
// What the model is shown of a session, read from its journal. Reads; blocks.

#include "port/store.h"
#include "wire/view_window.h"

namespace dormouse::runner {

// By a request with `view_seq`. Of a long journal no more is read than that needs
// (wire/view_window.h), however long the session has lived.
[[nodiscard]] Result<session::ModelView> read_view(port::JournalStore& store,
                                                   wire::JournalEnd const& end, Seq view_seq);

}  // namespace dormouse::runner
