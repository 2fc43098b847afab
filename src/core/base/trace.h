#pragma once
// trace() reports, in builds with assertions, that a command passed the calling function. A test
// follows one late result with it and compares the trace with ARCHITECTURE.md. Does nothing in a
// release build.

#include <source_location>

namespace dormouse {

#ifdef NDEBUG
inline void trace() {}
#else
// Receives the calls, from any thread. Set on one thread before tracing begins; null: tracing is
// off.
using TraceSink = void (*)(char const* file, char const* function);
inline constinit TraceSink trace_sink = nullptr;

inline void trace(std::source_location at = std::source_location::current()) {
    if (trace_sink != nullptr) trace_sink(at.file_name(), at.function_name());
}
#endif

}  // namespace dormouse
