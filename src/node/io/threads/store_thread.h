#pragma once
// A blocking Store behind threads: one that writes, and as many that read as the store allows.
// Reads with the same key go to the same thread. Completions are posted to the loop, for each
// thread in the order of the calls.

#include "io/threads/worker.h"
#include "port/world.h"

#include <memory>
#include <vector>

namespace dormouse::io {

class StoreThread final : public port::Journal {
public:
    // `store` and `loop` outlive this.
    StoreThread(port::Store& store, port::Loop& loop);

    // After stop() both answer store_unavailable.
    void commit(std::vector<port::Append> appends,
                port::Fn<void(std::vector<port::AppendResult>)> done) override;
    void write(port::Fn<Result<void>(port::Store&)> work,
               port::Fn<void(Result<void>)> done) override;
    // After stop() neither `work` nor `done` is called: there is no way to report an error.
    void read(port::ReadKey key, port::Fn<void(port::Store&)> work, port::Fn<void()> done) override;
    // Calls `done` when all reads have been done that were asked for before, whatever their keys.
    void when_read(port::Fn<void()> done);

    // Finishes queued work and joins all threads. Its completions have been posted by then; they
    // run if the loop does. May be called twice.
    void stop();

private:
    port::Store& store_;
    port::Loop& loop_;
    Worker writer_;
    std::vector<std::unique_ptr<Worker>> readers_;  // never empty
};

}  // namespace dormouse::io
