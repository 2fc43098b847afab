#pragma once
// trace() notes, in builds with assertions, that a command passed the calling function. A test
// follows one late result with it and compares what it saw with ARCHITECTURE.md. In a release build
// it does nothing.

#include <source_location>

namespace dormouse {

#ifdef NDEBUG
inline void trace() {}
#else
// Set while one thread runs, before what is traced begins; called from any thread. Null: nobody
// listens.
using TraceSink = void (*)(char const* file, char const* function);
inline constinit TraceSink trace_sink = nullptr;

inline void trace(std::source_location at = std::source_location::current()) {
    if (trace_sink != nullptr) trace_sink(at.file_name(), at.function_name());
}
#endif

}  // namespace dormouse
