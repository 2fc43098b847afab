#pragma once
// A blocking Store behind two threads: one for commit(), one for everything else (the two classes
// of calls that port::Store allows at the same time). Completions are posted to the loop, for each
// class in the order of the calls.

#include "io/threads/worker.h"
#include "port/world.h"

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
    void read(port::Fn<void(port::Store&)> work, port::Fn<void()> done) override;

    // Finishes queued work and joins both threads. Its completions have been posted by then; they
    // run if the loop does. May be called twice.
    void stop();

private:
    port::Store& store_;
    port::Loop& loop_;
    Worker writer_;
    Worker reader_;
};

}  // namespace dormouse::io
