#include "acp/session_deleter.h"

#include "acp/v1.h"
#include "base/check.h"

#include <utility>

namespace dormouse::acp {

namespace {

constexpr Duration linger_time{2'000};  // people often delete several sessions in a row

}  // namespace

SessionDeleter::SessionDeleter(Settings const& settings, port::Processes& processes,
                               port::Loop& loop)
    : settings_(settings),
      processes_(processes),
      dialect_(dialect_of(settings, processes,
                          {[this](std::string const& line) {
                               if (process_) processes_.write(*process_, line);
                           },
                           [](Update const&) {},
                           [this](Question const& question) {
                               dialect_->answer(question.number, Decision::cancelled);
                           }})),
      timer_(loop) {}

std::unexpected<Error> SessionDeleter::unavailable(std::string const& why) const {
    return fail(Code::agent_unavailable, without_secrets(settings_, why));
}

std::unexpected<Error> SessionDeleter::unsupported() {
    return fail(Code::wrong_kind,
                "the agent does not support deleting sessions; its copy still exists");
}

void SessionDeleter::add(Work work) {
    CHECK(takes_more());
    std::string const cwd = work.cwd;
    works_.push_back(std::move(work));
    if (state_ == State::not_started) return start(cwd);
    if (state_ == State::idle) delete_next();
}

// The session's folder may be deleted already, and any folder will do to delete a session.
void SessionDeleter::start(std::string const& cwd) {
    auto folder = settings_.folder(cwd);
    if (!folder && !cwd.empty()) folder = settings_.folder("");
    if (!folder) return give_up(unavailable(folder.error().detail));
    state_ = State::starting;
    std::string const password = settings_.password_variable.empty() ? "" : settings_.random();
    port::ProcessSpec spec = process_of(settings_, *folder, password);
    spec.on_output = [weak = weak_from_this()](std::string_view bytes) {
        auto const self = weak.lock();
        if (!self || self->dialect_->receive(bytes)) return;
        self->why_ended_ = "it wrote a line that is too long";
        self->end();
    };
    process_ = processes_.start(
        std::move(spec),
        [self = shared_from_this()](port::ProcessEnd const& end) { self->on_exit(end); });
    limit_answer();
    greet();
}

void SessionDeleter::limit_answer() {
    timer_.set(settings_.start_limit, [this] {
        why_ended_ =
            "it did not answer in " + std::to_string(settings_.start_limit.count() / 1'000) + " s";
        end();
    });
}

void SessionDeleter::greet() {
    dialect_->greet([this](Dialect::Answer<Hello> const& hello) {
        if (!hello) return refused(hello.error());
        if (!hello->other_version.empty() || !hello->can.remove) return give_up(unsupported());
        auto ready = [this](Dialect::Answer<void> const& answer) {
            if (!answer) return refused(answer.error());
            if (takes_more()) delete_next();
        };
        if (settings_.auth_method.empty()) return ready({});
        dialect_->sign_in(settings_.auth_method, ready);
    });
}

void SessionDeleter::delete_next() {
    while (!works_.empty() && works_.front().names.empty()) finish_first({});
    if (works_.empty()) {
        state_ = State::idle;
        return timer_.set(linger_time, [this] { end(); });
    }
    state_ = State::deleting;
    limit_answer();
    dialect_->remove_session(works_.front().names.back(),
                             [this](Dialect::Answer<void> const& answer) { on_deleted(answer); });
}

// A session that the agent does not know counts as deleted.
void SessionDeleter::on_deleted(Dialect::Answer<void> const& answer) {
    using enum Refusal::Why;
    if (!answer && answer.error().why == gone) return;  // on_exit() follows
    if (!answer && answer.error().why != unknown) {
        finish_first(unavailable("the program did not delete it: " + answer.error().message));
    } else {
        works_.front().names.pop_back();
    }
    if (takes_more()) delete_next();
}

void SessionDeleter::finish_first(Result<void> result) {
    Work work = std::move(works_.front());
    works_.pop_front();
    work.done(std::move(result));
}

void SessionDeleter::refused(Refusal const& refusal) {
    // If the agent is gone, on_exit() follows.
    if (refusal.why != Refusal::Why::gone) give_up(unavailable(refusal.message));
}

void SessionDeleter::give_up(std::unexpected<Error> const& why) {
    end();
    for (Work& work : std::exchange(works_, {})) work.done(why);
}

void SessionDeleter::end() {
    state_ = State::ending;
    timer_.stop();
    if (process_) processes_.end(*process_);
}

void SessionDeleter::on_exit(port::ProcessEnd const& end) {
    auto const alive = shared_from_this();
    state_ = State::ending;
    timer_.stop();
    process_.reset();
    if (why_ended_.empty())
        why_ended_ = end.how == port::ProcessEnd::How::not_started
                         ? "it could not be started: " + end.error
                         : "it ended before it had answered";
    dialect_->close();
    give_up(unavailable(why_ended_));
}

}  // namespace dormouse::acp
