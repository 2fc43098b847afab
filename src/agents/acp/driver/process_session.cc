#include "acp/driver/process_session.h"

#include "base/check.h"

namespace dormouse::acp {

namespace {

using State = ProcessSession::State;
using AttachMethod = ProcessSession::AttachMethod;
using Wanted = Situation::Wanted;
using Do = SessionAction;

SessionStep stay(ProcessSession const& from) { return {from}; }

// Stays without a session: none is wanted, or only a screen, which cannot carry the past.
SessionStep park() {
    return {{.state = State::ready}, {Do::forget_session, Do::refuse_screen, Do::rest}};
}

SessionStep attach_with(AttachMethod method) {
    return {{.state = State::attaching, .method = method}, {Do::attach}};
}

SessionStep open(AttachMethod method, Situation const& s) {
    bool const screen = s.wanted == Wanted::screen || s.wanted == Wanted::screen_with_past;
    bool const has_past = method == AttachMethod::reopen || s.wanted == Wanted::screen_with_past;
    if (s.wanted == Wanted::nothing || (screen && has_past)) return park();
    return attach_with(method);
}

// A replay shows whether a prompt was delivered before; if that does not matter, resuming is
// faster.
SessionStep choose_way(Situation const& s) {
    bool const asks = s.wanted == Wanted::repeat;
    if (s.wanted == Wanted::nothing) return park();
    if (!s.known) {
        if (asks && s.can.list && s.can.load) return {{.state = State::searching}, {Do::search}};
        return open(AttachMethod::open, s);
    }
    if (s.can.load && (asks || !s.can.resume)) return attach_with(AttachMethod::load);
    if (s.can.resume) return attach_with(AttachMethod::resume);
    return open(AttachMethod::reopen, s);
}

SessionStep want(ProcessSession const& from, Situation const& s) {
    CHECK(!from.is_ending());
    if (from.state == State::not_started) return {{.state = State::starting}, {Do::start_process}};
    if (from.state != State::ready) return stay(from);
    return s.attached ? SessionStep{from, {Do::use}} : choose_way(s);
}

// An agent that lists the session after all is asked once more, in the other way if it has one.
SessionStep attach_again(ProcessSession const& from, Situation const& s) {
    if (from.method == AttachMethod::load)
        return attach_with(s.can.resume ? AttachMethod::resume_again : AttachMethod::load_again);
    return attach_with(s.can.load ? AttachMethod::load_again : AttachMethod::resume_again);
}

SessionStep refused(ProcessSession const& from) {
    return {{.state = State::ending, .method = from.method}, {Do::end_process, Do::report_failure}};
}

SessionStep unknown(ProcessSession const& from, Situation const& s) {
    if (from.is_new()) return refused(from);
    bool const first = from.method == AttachMethod::load || from.method == AttachMethod::resume;
    if (first && s.can.list)
        return {{.state = State::checking, .method = from.method}, {Do::check_list}};
    return open(AttachMethod::reopen, s);
}

// If the agent does not remember a prompt that it had started, it follows another branch of its
// session: another process wrote there, and what else it does not remember is unknown.
SessionStep opened(ProcessSession const& from, Situation const& s) {
    if (from.replays() && s.misses_past) return open(AttachMethod::reopen, s);
    return {{.state = State::configuring, .method = from.method}, {Do::configure}};
}

SessionStep end(ProcessSession const& from) {
    return {{.state = State::ending, .method = from.method}, {Do::end_process}};
}

SessionStep close(ProcessSession const& from, Situation const& s) {
    if (from.state == State::ready && s.open && s.can.close)
        return {{.state = State::closing, .method = from.method}, {Do::close_session}};
    return end(from);
}

SessionStep exited(ProcessSession const& from) {
    return {{.state = State::gone, .method = from.method},
            {Do::clean_up, Do::report_failure, Do::report_gone}};
}

// Events that count in only one state.
SessionStep next(ProcessSession const& from, SessionEvent event, Situation const& s) {
    using Event = SessionEvent;
    State const in = from.state;
    if (in == State::starting && event == Event::started)
        return {{.state = State::greeting}, {Do::greet}};
    if (in == State::starting && event == Event::not_started)
        return {{.state = State::gone}, {Do::report_failure, Do::report_gone}};
    if (in == State::greeting && event == Event::greeted)
        return s.signs_in ? SessionStep{{.state = State::signing_in}, {Do::sign_in}}
                          : choose_way(s);
    if (in == State::signing_in && event == Event::signed_in) return choose_way(s);
    if (in == State::searching && event == Event::found) return attach_with(AttachMethod::load);
    if (in == State::searching && event == Event::not_found) return open(AttachMethod::open, s);
    if (in == State::checking && event == Event::listed) return attach_again(from, s);
    if (in == State::checking && event == Event::not_listed) return open(AttachMethod::reopen, s);
    if (in == State::attaching && event == Event::opened) return opened(from, s);
    if (in == State::attaching && event == Event::unknown) return unknown(from, s);
    if (in == State::configuring && event == Event::configured)
        return {{.state = State::ready, .method = from.method}, {Do::announce}};
    if (in == State::ready && event == Event::lost) return {from, {Do::forget_session}};
    if (in == State::closing && event == Event::closed) return end(from);
    return stay(from);
}

}  // namespace

SessionStep step(ProcessSession const& from, SessionEvent event, Situation const& situation) {
    using Event = SessionEvent;
    if (event == Event::want) return want(from, situation);
    bool const runs = from.state != State::not_started && from.state != State::gone;
    bool const ends = from.state == State::ending;
    if (!runs) return stay(from);
    if (event == Event::exited) return exited(from);
    if (event == Event::end) return ends ? stay(from) : end(from);
    if (event == Event::close) return from.is_ending() ? stay(from) : close(from, situation);
    if (event == Event::refused && from.is_on_the_way()) return refused(from);
    return next(from, event, situation);
}

}  // namespace dormouse::acp
