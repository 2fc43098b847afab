#pragma once
// The trace context in a request to an agent. Pure.

#include "json/json.h"
#include "session/vocabulary.h"

namespace dormouse::acp {

// The root of `_meta` has the names of W3C Trace Context for it. Without a context: nothing.
inline void write_trace(json::Writer& out, session::TraceHeaders const& trace) {
    if (trace.parent.empty()) return;
    out.key("_meta").begin_object().member("traceparent", trace.parent);
    if (!trace.state.empty()) out.member("tracestate", trace.state);
    out.end_object();
}

}  // namespace dormouse::acp
