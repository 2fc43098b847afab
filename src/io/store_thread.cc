#include "io/store_thread.h"

#include <utility>

namespace dormouse::io {

namespace {

using Results = std::vector<Result<void>>;
using Committed = port::Fn<void(Results)>;

void post_results(port::Loop& loop, Results results, Committed done) {
    loop.post([results = std::move(results), done = std::move(done)]() mutable {
        done(std::move(results));
    });
}

Results all_stopped(std::size_t count) {
    return Results(count, fail(Code::store_unavailable, "the store has been closed"));
}

// Held by pointer, because a job that Worker refused must still give `appends` and `done` back.
struct Commit {
    std::vector<port::Append> appends;
    Committed done;
};

}  // namespace

StoreThread::StoreThread(port::Store& store, port::Loop& loop)
    : store_(store), loop_(loop), writer_("store writer"), reader_("store reader") {}

void StoreThread::commit(std::vector<port::Append> appends, Committed done) {
    auto const commit = std::make_shared<Commit>(Commit{std::move(appends), std::move(done)});
    port::Fn<void()> job = [this, commit] {
        post_results(loop_, store_.commit(commit->appends), std::move(commit->done));
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
    port::Fn<void()> job = [this, write, answer] { answer(write->work(store_)); };
    if (!writer_.run(job)) answer(fail(Code::store_unavailable, "the store has been closed"));
}

void StoreThread::read(port::Fn<void(port::Store&)> work, port::Fn<void()> done) {
    port::Fn<void()> job = [this, work = std::move(work), done = std::move(done)]() mutable {
        work(store_);
        loop_.post(std::move(done));
    };
    static_cast<void>(reader_.run(job));
}

void StoreThread::stop() {
    writer_.stop();
    reader_.stop();
}

}  // namespace dormouse::io
