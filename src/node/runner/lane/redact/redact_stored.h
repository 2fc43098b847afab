#pragma once
// Redaction in a store that no runner uses.

#include "port/store.h"
#include "runner/lane/redact/redact.h"

namespace dormouse::runner {

// Removes it in this one session, in one append. `copies` of the report are other sessions that
// hold it; nothing of them is changed. Blocks. Errors: those of plan_redaction() and of the store.
[[nodiscard]] Result<RedactionReport> redact_stored(port::Store& store, SessionId session,
                                                    RedactionAsk const& ask,
                                                    session::Actor const& by, Time now);

}  // namespace dormouse::runner
