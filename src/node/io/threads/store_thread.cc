#include "io/threads/store_thread.h"

#include "base/check.h"

#include <memory>
#include <new>
#include <thread>
#include <utility>

namespace dormouse::io {

namespace {

constexpr Duration wait_for_memory{50};

using Results = std::vector<port::AppendResult>;
using Committed = port::Fn<void(Results)>;

void post_results(port::Loop& loop, Results results, Committed done) {
    loop.post([results = std::move(results), done = std::move(done)]() mutable {
        done(std::move(results));
    });
}

Results all_stopped(std::size_t count) {
    return Results(count, fail(Code::store_unavailable, "the store has been closed"));
}

Error exhausted() { return {Code::overloaded, "There is not enough memory now.", {}, 1'000}; }

Results committed(port::Store& store, std::vector<port::Append> const& appends) {
    try {
        return store.commit(appends);
    } catch (std::bad_alloc const&) {
        return Results(appends.size(), std::unexpected(exhausted()));
    }
}

Result<void> done_by(port::Fn<Result<void>(port::Store&)>& work, port::Store& store) {
    try {
        return work(store);
    } catch (std::bad_alloc const&) {
        return std::unexpected(exhausted());
    }
}

// If the store runs out of memory, `work` gets an error. If memory runs out outside the store, this
// waits for memory, because otherwise no answer could be given.
void read_from(port::Store& store, port::Fn<void(port::Store&)>& work) {
    for (;;) {
        try {
            return work(store);
        } catch (std::bad_alloc const&) {
            std::this_thread::sleep_for(wait_for_memory);
        }
    }
}

// Held by pointer, because a job that Worker refused must give `appends` and `done` back.
struct Commit {
    std::vector<port::Append> appends;
    Committed done;
};

}  // namespace

StoreThread::StoreThread(port::Store& store, port::Loop& loop)
    : store_(store), loop_(loop), writer_("store writer") {
    for (std::size_t i = 0; i < store.readers(); ++i)
        readers_.push_back(std::make_unique<Worker>("store reader"));
    CHECK(!readers_.empty());
}

void StoreThread::commit(std::vector<port::Append> appends, Committed done) {
    auto const commit = std::make_shared<Commit>(Commit{std::move(appends), std::move(done)});
    port::Fn<void()> job = [this, commit] {
        post_results(loop_, committed(store_, commit->appends), std::move(commit->done));
    };
    if (!writer_.run(job))
        post_results(loop_, all_stopped(commit->appends.size()), std::move(commit->done));
}

void StoreThread::write(port::Fn<Result<void>(port::Store&)> work,
                        port::Fn<void(Result<void>)> done) {
    struct Write {
        port::Fn<Result<void>(port::Store&)> work;
        port::Fn<void(Result<void>)> done;
    };
    auto const write = std::make_shared<Write>(Write{std::move(work), std::move(done)});
    auto const answer = [this, write](Result<void> result) {
        loop_.post(
            [write, result = std::move(result)]() mutable { write->done(std::move(result)); });
    };
    port::Fn<void()> job = [this, write, answer] { answer(done_by(write->work, store_)); };
    if (!writer_.run(job)) answer(fail(Code::store_unavailable, "the store has been closed"));
}

void StoreThread::read(port::ReadKey key, port::Fn<void(port::Store&)> work,
                       port::Fn<void()> done) {
    port::Fn<void()> job = [this, work = std::move(work), done = std::move(done)]() mutable {
        read_from(store_, work);
        // Destroyed before `done` runs, so that the loop releases shared objects last.
        work = nullptr;
        loop_.post(std::move(done));
    };
    Worker& reader = *readers_[std::to_underlying(key) % readers_.size()];
    static_cast<void>(reader.run(job));
}

void StoreThread::when_read(port::Fn<void()> done) {
    auto const left = std::make_shared<std::size_t>(readers_.size());
    auto const last = std::make_shared<port::Fn<void()>>(std::move(done));
    for (std::size_t i = 0; i < readers_.size(); ++i) {
        read(
            port::ReadKey{i}, [](port::Store&) {},
            [left, last] {
                if (--*left == 0) (*last)();
            });
    }
}

void StoreThread::stop() {
    writer_.stop();
    for (auto const& reader : readers_) reader->stop();
}

}  // namespace dormouse::io
