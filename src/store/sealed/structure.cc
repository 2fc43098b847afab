#include "store/sealed/structure.h"

#include <cstddef>
#include <string>

namespace dormouse::store {

Result<std::uint64_t> count_events(port::JournalStore& store, SessionId session) {
    constexpr std::size_t page_bytes = std::size_t{1} << 20;
    auto const loaded = store.load(session);
    if (!loaded) return std::unexpected(loaded.error());
    std::uint64_t count = 0;
    for (Seq from = 1;;) {
        auto const frames = store.page(session, from, page_bytes);
        if (!frames) return std::unexpected(frames.error());
        if (frames->empty()) return count;
        for (port::Frame const& frame : *frames) {
            // An array of JSON, encrypted or not.
            if (!frame.bytes.starts_with("[[") || !frame.bytes.ends_with("]]"))
                return fail(Code::internal,
                            "event " + std::to_string(frame.first) + " has no known form");
            count += frame.count;
            from = frame.first + frame.count;
        }
    }
}

}  // namespace dormouse::store
