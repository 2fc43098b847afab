#include "index/follower.h"

#include "base/check.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace dormouse::index {

using port::IndexState;

Follower::Follower(Services services, port::Index& index, Options options)
    : services_(services), index_(index), options_(std::move(options)) {
    status_.name = index.name();
}

// Runs `work` on the thread of the index; continues only if it did not fail.
template <class T, class Work, class Then> void Follower::on_thread(Work work, Then then) {
    auto const result = std::make_shared<std::optional<Result<T>>>();
    auto job = [this, result, work = std::move(work)](std::stop_token const&) mutable {
        result->emplace(work(index_));
    };
    services_.thread.run(std::move(job),
                         scope_.guard([this, result, then = std::move(then)](bool ran) mutable {
                             if (!ran || !*result) return;  // the thread has ended
                             if (!**result) return fail((*result)->error());
                             if constexpr (std::is_void_v<T>)
                                 then();
                             else
                                 then(std::move(***result));
                         }));
}

template <class Question, class Then> void Follower::ask(Question question, Then then) {
    port::ask(services_.journal, std::move(question),
              scope_.guard([this, then = std::move(then)](auto answer) mutable {
                  if (!answer) return fail(answer.error());
                  then(std::move(*answer));
              }));
}

void Follower::start() {
    step();
    look_later();
}

void Follower::look_later() {
    services_.loop.after(look_every, scope_.guard([this] {
        step();
        look_later();
    }));
}

void Follower::appended() {
    if (!status_.behind_since) status_.behind_since = services_.clock.now();
    if (busy_) again_ = true;
    if (busy_ || std::exchange(waiting_, true)) return;
    services_.loop.after(gather, scope_.guard([this] {
        waiting_ = false;
        step();
    }));
}

void Follower::step() {
    if (busy_ || (retry_at_ && services_.clock.monotonic() < *retry_at_)) return;
    if (options_.writes && !options_.writes()) {
        position_.reset();
        status_.settled = true;
        status_.behind_since.reset();
        return set(IndexState::standby);
    }
    busy_ = true;
    again_ = false;
    retry_at_.reset();
    position_ ? follow() : open();
}

void Follower::open() {
    on_thread<std::string>([](port::Index& index) { return index.open(); },
                           [this](std::string const& stored) { opened(stored); });
}

void Follower::opened(std::string const& stored) {
    auto const position = Position::parse(stored);
    if (!position) return rebuild();
    ask([position](port::Store& store) { return has(store, *position); },
        [this, position](bool same) {
            if (!same) return rebuild();
            position_ = position;
            set(IndexState::catching_up);
            follow();
        });
}

void Follower::rebuild() {
    position_.reset();
    ++status_.rebuilds;
    set(IndexState::rebuilding);
    ask([](port::Store& store) { return end_of_feed(store); },
        [this](Position const& end) {
            on_thread<void>([](port::Index& index) { return index.begin_rebuild(); },
                            [this, end] { rebuild_from(end, 0); });
        });
}

// The feed is followed from the end that it had before the first session was read.
void Follower::rebuild_from(Position const& end, std::uint64_t session) {
    auto use = [this, end](Everything read) {
        if (read.more)
            return apply(std::move(read.batch),
                         [this, end, last = read.session] { rebuild_from(end, last); });
        read.batch.position = end.text();
        apply(std::move(read.batch), [this, end] {
            position_ = end;
            set(IndexState::catching_up);
            follow();
        });
    };
    ask([session](port::Store& store) { return read_everything(store, session); }, std::move(use));
}

void Follower::apply(port::IndexBatch batch, std::function<void()> then) {
    auto const count = batch.calls.size() + batch.sessions.size() + batch.deleted.size();
    auto work = [batch = std::move(batch)](port::Index& index) { return index.apply(batch); };
    on_thread<void>(std::move(work), [this, count, then = std::move(then)] {
        status_.documents += count;
        then();
    });
}

void Follower::follow() {
    ask([after = *position_](port::Store& store) { return read_changes(store, after); },
        [this](Changes changes) { take(std::move(changes)); });
}

void Follower::take(Changes changes) {
    if (changes.gone) return rebuild();
    if (changes.position == *position_) return caught_up();
    auto then = [this, at = changes.position, more = changes.more] {
        position_ = at;
        if (!more) return caught_up();
        flush_later();
        flush_ == Flush::due ? flush([this] { follow(); }) : follow();
    };
    apply(std::move(changes.batch), std::move(then));
}

void Follower::caught_up() {
    status_.settled = true;
    retry_ = retry_min;
    set(IndexState::current);
    flush_later();
    if (flush_ == Flush::due) return flush([this] { end_step(); });
    end_step();
}

void Follower::end_step() {
    busy_ = false;
    if (!std::exchange(again_, false)) return status_.behind_since.reset();
    appended();
}

// REQUIRES: nothing runs on the thread of the index.
void Follower::flush_later() {
    if (flush_ != Flush::none) return;
    auto const within = index_.flush_within();
    if (!within) return;
    flush_ = Flush::waits;
    services_.loop.after(std::max(*within, flush_pause_), scope_.guard([this] {
        flush_ = Flush::due;
        if (busy_ || !position_) return;  // done at the end of the step
        busy_ = true;
        flush([this] { end_step(); });
    }));
}

void Follower::flush(std::function<void()> then) {
    CHECK(flush_ == Flush::due);
    flush_ = Flush::none;
    auto const began = services_.clock.monotonic();
    on_thread<void>([](port::Index& index) { return index.flush(); },
                    [this, began, then = std::move(then)] {
                        auto const took = services_.clock.monotonic() - began;
                        flush_pause_ = took * flush_share;
                        then();
                    });
}

// Begins again from what is stored, later.
void Follower::fail(Error const& error) {
    busy_ = false;
    position_.reset();
    status_.settled = true;
    ++status_.failures;
    bool const is_news = status_.why != error.detail;
    status_.why = error.detail;
    status_.state = IndexState::failed;
    if (!status_.behind_since) status_.behind_since = services_.clock.now();
    retry_at_ = services_.clock.monotonic() + retry_;
    services_.loop.after(retry_, scope_.guard([this] { step(); }));
    retry_ = std::min(retry_ * 2, retry_max);
    if (is_news && options_.changed) options_.changed(status_);
}

void Follower::set(IndexState state) {
    bool const failed = !status_.why.empty();
    status_.state = state;
    if (state == IndexState::current || state == IndexState::standby) status_.why.clear();
    bool const is_news = failed ? status_.why.empty() : state == IndexState::rebuilding;
    if (is_news && options_.changed) options_.changed(status_);
}

}  // namespace dormouse::index
