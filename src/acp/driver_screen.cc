// The way of people to a driver's program: its own screen, what they type there, and how long it
// stays awake for them.
#include "acp/driver.h"
#include "acp/screen.h"

#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

void Driver::visit(Visit visit) {
    if (!last_) {  // it was never prompted here: what it does is told to the session all the same
        last_.emplace();
        last_->done = visit.ask.told;
    }
    visits_.push_back(std::move(visit));
    if (phase_ == Phase::none) return start();
    if (phase_ != Phase::ready) return;  // the way there goes on
    if (!acp_session_.empty()) return let_in();
    limit_start();
    attach();
}

void Driver::let_in() {
    if (visits_.empty()) return;
    hold_lease();
    read_screen();
    for (Visit& visit : std::exchange(visits_, {})) visit.then(door());
}

void Driver::turn_away(std::string const& why) {
    for (Visit& visit : std::exchange(visits_, {}))
        visit.then(dormouse::fail(Code::agent_unavailable, why));
}

// It would be told the past with a prompt; there is none.
void Driver::lose_visitors() {
    acp_session_.clear();
    phase_ = Phase::ready;
    for (Visit& visit : std::exchange(visits_, {}))
        visit.then(dormouse::fail(Code::not_ready,
                                  "The program has no session of its own for this one (any more). "
                                  "The next prompt begins one and tells it the past."));
    rest();
}

port::DoorEntry Driver::door() const {
    port::DoorEntry out{"http://127.0.0.1:" + std::to_string(port_),
                        acp_session_,
                        cwd_,
                        settings_.door,
                        settings_.password_variable,
                        password_,
                        settings_.screen_lease};
    out.command.insert(out.command.end(),
                       {out.url, "--session", acp_session_, "--dir", out.folder});
    return out;
}

void Driver::hold_lease() {
    leased_ = true;
    loop_.after(settings_.screen_lease, [weak = weak_from_this(), lease = ++lease_] {
        auto const self = weak.lock();
        if (self && self->lease_ == lease && self->phase_ != Phase::gone) self->end_lease();
    });
}

// Nobody looks any more: what was typed last is read, and it may be put away as after a prompt.
void Driver::end_lease() {
    leased_ = false;
    stirred_ = false;
    answer_screen_asks();
    read_screen();
    limit_idle();
}

// Somebody has answered at the screen, or nobody will. The program takes the next one only then.
void Driver::answer_screen_asks() {
    for (std::uint64_t const question : std::exchange(screen_asks_, {}))
        dialect_->answer(question, Decision::cancelled);
}

void Driver::read_screen() {
    if (!has_screen() || acp_session_.empty() || phase_ == Phase::gone)
        return tell_held(held_news_.size());
    if (std::exchange(reading_screen_, true)) {
        reads_again_ = true;
        return;
    }
    covered_ = held_news_.size();
    std::string const marker = "dormouse:" + session_.bare() + "/";
    ScreenPlace const place{door().url, acp_session_, cwd_, password_, marker};
    read_messages(*settings_.http, place,
                  [weak = weak_from_this()](std::vector<AgentTyped> const& typed) {
                      if (auto const self = weak.lock()) self->screen_read(typed);
                  });
}

void Driver::screen_read(std::vector<AgentTyped> const& typed) {
    reading_screen_ = false;
    // What it answered while this process runs it tells by itself.
    bool const recovers = !std::exchange(screen_was_read_, true);
    for (AgentTyped one : typed) {
        if (one.at <= typed_at_) continue;
        typed_at_ = one.at;
        stirred_ = true;
        if (!recovers) one.answer = {};
        if (!prompt_) scribe_.end_message();
        (prompt_ ? prompt_ : last_)->done(std::move(one));
    }
    tell_held(covered_);
    bool const more = std::exchange(reads_again_, false) || !held_news_.empty();
    if (more) read_screen();
}

// What it does by itself may be the answer to what was typed, which stands before it.
void Driver::tell_late(News what, bool by_itself) {
    bool const waits = !held_news_.empty() || (has_screen() && (by_itself || leased_));
    if (!waits || phase_ == Phase::gone) return tell_at_once(std::move(what), by_itself);
    held_news_.push_back({std::move(what), by_itself});
    read_screen();
}

void Driver::tell_at_once(News what, bool by_itself) {
    AskModel const& ask = last_->request.ask;
    last_->done(AgentNews{ask.turn, ask.step, ask.attempt, 0, std::move(what), by_itself});
}

void Driver::tell_held(std::size_t count) {
    for (; count > 0 && !held_news_.empty(); --count) {
        LateNews late = std::move(held_news_.front());
        held_news_.pop_front();
        tell_at_once(std::move(late.what), late.by_itself);
    }
}

}  // namespace dormouse::acp
