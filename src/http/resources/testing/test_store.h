#pragma once
// For tests: the store in memory, which counts the bytes read from journals and can fail changes of
// tokens.

#include "store/memory/memory_store.h"

#include <memory>
#include <utility>

namespace dormouse::http {

struct TestDisk : store::MemoryDisk {
    bool takes_tokens = true;  // false: changes of tokens fail
};

class TestStore final : public store::MemoryStore {
public:
    explicit TestStore(std::shared_ptr<TestDisk> disk)
        : MemoryStore(disk), disk_(std::move(disk)) {}

    [[nodiscard]] Result<std::vector<port::Frame>> page(SessionId session, Seq from,
                                                        std::size_t max_bytes) override {
        auto frames = MemoryStore::page(session, from, max_bytes);
        if (!frames) return frames;
        for (port::Frame const& frame : *frames) bytes_read += frame.bytes.size();
        return frames;
    }
    [[nodiscard]] Result<void> change_tokens(port::TokenChange const& change) override {
        if (!disk_->takes_tokens) return fail(Code::store_full, "the disk is full");
        return MemoryStore::change_tokens(change);
    }

    std::size_t bytes_read = 0;  // by page()

private:
    std::shared_ptr<TestDisk> const disk_;
};

}  // namespace dormouse::http
