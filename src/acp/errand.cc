#include "acp/errand.h"

#include "acp/v1.h"

#include <utility>

namespace dormouse::acp {

namespace {

constexpr Duration linger_time{2'000};  // many are often deleted one after the other

}  // namespace

Errand::Errand(Settings const& settings, port::Processes& processes, port::Loop& loop)
    : settings_(settings),
      processes_(processes),
      loop_(loop),
      dialect_(dialect_of(settings, processes,
                          {[this](std::string const& line) {
                               if (process_) processes_.write(*process_, line);
                           },
                           [](Said const&) {},
                           [this](Question const& question) {
                               dialect_->answer(question.number, Decision::cancelled);
                           }})) {}

std::unexpected<Error> Errand::gone(std::string const& why) const {
    return fail(Code::agent_unavailable, without_secrets(settings_, why));
}

std::unexpected<Error> Errand::no_way() {
    return fail(Code::wrong_kind,
                "the program has no way to delete a session; what it kept of this one is still "
                "there");
}

void Errand::add(Work work) {
    std::string const cwd = work.cwd;
    works_.push_back(std::move(work));
    if (!process_) return start(cwd);
    if (ready_ && !busy_) next();
}

// The session's folder may be gone, and deleting needs none.
void Errand::start(std::string const& cwd) {
    auto folder = settings_.folder(cwd);
    if (!folder && !cwd.empty()) folder = settings_.folder("");
    if (!folder) return give_up(gone(folder.error().detail));
    std::string const password = settings_.password_variable.empty() ? "" : settings_.random();
    port::ProcessSpec spec = process_of(settings_, *folder, password);
    spec.on_output = [weak = weak_from_this()](std::string_view bytes) {
        auto const self = weak.lock();
        if (!self || self->dialect_->receive(bytes)) return;
        self->why_ended_ = "it wrote a line longer than may be";
        self->end();
    };
    process_ = processes_.start(
        std::move(spec),
        [self = shared_from_this()](port::ProcessEnd const& end) { self->on_end(end); });
    limit();
    greet();
}

// For each answer; a program may take its time, but not for ever.
void Errand::limit() {
    loop_.after(settings_.start_limit, [weak = weak_from_this(), turn = ++turn_of_clock_] {
        auto const self = weak.lock();
        if (!self || self->turn_of_clock_ != turn || self->ending_) return;
        self->why_ended_ = "it did not answer in " +
                           std::to_string(self->settings_.start_limit.count() / 1'000) + " s";
        self->end();
    });
}

void Errand::greet() {
    dialect_->greet([this](Dialect::Answer<Hello> const& hello) {
        if (!hello) return refuse(hello.error());
        if (!hello->other_version.empty() || !hello->can.remove) return give_up(no_way());
        auto ready = [this](Dialect::Answer<void> const& answer) {
            if (!answer) return refuse(answer.error());
            ready_ = true;
            next();
        };
        if (settings_.auth_method.empty()) return ready({});
        dialect_->sign_in(settings_.auth_method, ready);
    });
}

void Errand::next() {
    while (!works_.empty() && works_.front().names.empty()) {
        Work work = std::move(works_.front());
        works_.pop_front();
        work.done({});
    }
    busy_ = !works_.empty();
    if (!busy_) return linger();
    limit();
    dialect_->remove_session(works_.front().names.back(),
                             [this](Dialect::Answer<void> const& answer) { told(answer); });
}

// One that it does not know is gone already.
void Errand::told(Dialect::Answer<void> const& answer) {
    if (!answer && answer.error().why == Refusal::Why::gone) return;  // its end is told
    if (!answer && answer.error().why != Refusal::Why::unknown) {
        Work work = std::move(works_.front());
        works_.pop_front();
        work.done(
            fail(Code::agent_unavailable, "the program did not delete it: " +
                                              without_secrets(settings_, answer.error().message)));
    } else {
        works_.front().names.pop_back();
    }
    if (!ending_) next();
}

void Errand::linger() {
    loop_.after(linger_time, [weak = weak_from_this(), turn = ++turn_of_clock_] {
        auto const self = weak.lock();
        if (self && self->turn_of_clock_ == turn && !self->busy_) self->end();
    });
}

void Errand::refuse(Refusal const& refusal) {
    if (refusal.why != Refusal::Why::gone) give_up(gone(refusal.message));  // else its end is told
}

// Of all that are left.
void Errand::give_up(std::unexpected<Error> const& why) {
    end();
    for (Work& work : std::exchange(works_, {})) work.done(why);
}

void Errand::end() {
    ending_ = true;
    if (process_) processes_.end(*process_);
}

void Errand::on_end(port::ProcessEnd const& end) {
    auto const alive = shared_from_this();
    ending_ = true;
    process_.reset();
    if (why_ended_.empty())
        why_ended_ = end.how == port::ProcessEnd::How::not_started
                         ? "it could not be started: " + end.error
                         : "it ended before it had answered";
    dialect_->close();
    give_up(gone(why_ended_));
}

}  // namespace dormouse::acp
