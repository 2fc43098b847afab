#pragma once
// A store that counts reads of journals.

#include "port/store.h"

#include <vector>

namespace dormouse::runner::testing {

template <class Inner> class CountingStore final : public Inner {
public:
    using Inner::Inner;

    std::size_t frames_read = 0;
    std::size_t bytes_read = 0;

    [[nodiscard]] Result<port::Loaded> load(SessionId session) override {
        auto loaded = Inner::load(session);
        if (loaded) count(loaded->tail);
        return loaded;
    }
    [[nodiscard]] Result<std::vector<port::Frame>> page(SessionId session, Seq from,
                                                        std::size_t max_bytes) override {
        auto frames = Inner::page(session, from, max_bytes);
        if (frames) count(*frames);
        return frames;
    }

private:
    void count(std::vector<port::Frame> const& frames) {
        frames_read += frames.size();
        for (port::Frame const& frame : frames) bytes_read += frame.bytes.size();
    }
};

}  // namespace dormouse::runner::testing
