#pragma once
// Interfaces of the runner to the outside world. Implemented by io/, and by sim/ on virtual time.

#include <dormouse/error.h>
#include <dormouse/time.h>

#include "base/crypto/sha256.h"
#include "port/store.h"

#include <functional>
#include <memory>
#include <vector>

namespace dormouse::port {

template <class Signature> using Fn = std::move_only_function<Signature>;

class Clock {
public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual Time now() const = 0;            // wall clock; may step
    [[nodiscard]] virtual Duration monotonic() const = 0;  // never goes back; arbitrary origin
};

class Entropy {
public:
    virtual ~Entropy() = default;
    [[nodiscard]] virtual Random random() = 0;
};

// One thread that runs posted work in order. Only post() may be called from other threads.
class Loop {
public:
    virtual ~Loop() = default;
    virtual void post(Fn<void()> work) = 0;
    // Runs `work` on the loop after `delay`. Cannot be cancelled: `work` must check whether it is
    // still needed.
    virtual void after(Duration delay, Fn<void()> work) = 0;
};

// The subject of a read. Reads with the same key run in the order of the calls; reads with
// different keys may run at the same time.
enum class ReadKey : std::uint64_t { common = 0 };
[[nodiscard]] inline ReadKey read_key(SessionId session) { return ReadKey{session.number()}; }

// A Store behind its threads. Completions come on the loop, never from inside the call that started
// the work, in the order of calls of the same kind; those of reads in the order of calls with the
// same key. Called only from the loop.
class Journal {
public:
    virtual ~Journal() = default;
    virtual void commit(std::vector<Append> appends, Fn<void(std::vector<AppendResult>)> done) = 0;
    // Runs `work`, which is not an append, on the writer's thread between two commits. Then calls
    // `done` with its result on the loop.
    virtual void write(Fn<Result<void>(Store&)> work, Fn<void(Result<void>)> done) = 0;
    // Runs `work` on a thread where it may block on the store's reading members; then `done` on the
    // loop.
    virtual void read(ReadKey key, Fn<void(Store&)> work, Fn<void()> done) = 0;
};

// read() with a result:
//   ask(journal, [id](Store& s) { return s.load(id); },
//       [](Result<Loaded> loaded) { … });
template <class Question, class Done>
void ask(Journal& journal, Question question, Done done, ReadKey key = ReadKey::common) {
    using Answer = std::invoke_result_t<Question&, Store&>;
    auto answer = std::make_shared<std::optional<Answer>>();
    journal.read(
        key,
        [answer, question = std::move(question)](Store& store) mutable {
            answer->emplace(question(store));
        },
        [answer, done = std::move(done)]() mutable { done(std::move(**answer)); });
}

// The view of a journal's store that its holder may use, such as StoreView<AuditStore>. A copy
// accesses the same store.
template <class Of> class StoreView {
public:
    StoreView(Journal& journal)
        : journal_(&journal) {}  // NOLINT(*-explicit-*): a store has each part
    void write(Fn<Result<void>(Of&)> work, Fn<void(Result<void>)> done) const {
        journal_->write([work = std::move(work)](Store& store) mutable { return work(store); },
                        std::move(done));
    }
    template <class Question, class Done>
    void ask(Question question, Done done, ReadKey key = ReadKey::common) const {
        port::ask(
            *journal_,
            [question = std::move(question)](Store& store) mutable {
                return question(static_cast<Of&>(store));
            },
            std::move(done), key);
    }

private:
    Journal* journal_;
};
template <class Of, class Question, class Done>
void ask(StoreView<Of> const& part, Question question, Done done, ReadKey key = ReadKey::common) {
    part.ask(std::move(question), std::move(done), key);
}

}  // namespace dormouse::port
