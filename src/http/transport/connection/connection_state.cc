#include "http/transport/connection/connection_state.h"

#include "base/check.h"

#include <algorithm>
#include <initializer_list>

namespace dormouse::http {

namespace {

using State = ConnectionState;
using Phase = ConnectionState::Phase;
using Event = ConnectionEvent;
using Do = ConnectionAction;

ConnectionStep enter(State from, Phase phase, std::initializer_list<Do> then = {}) {
    bool const had_input = from.keeps_input();
    from.phase = phase;
    ConnectionStep out{from, {Do::start_deadline}};
    if (had_input && !from.keeps_input()) out.actions.push_back(Do::drop_input);
    out.actions.insert(out.actions.end(), then);
    return out;
}

ConnectionStep close(State from) {
    from.phase = Phase::closed;
    return {from, {Do::release}};
}

ConnectionStep take(State from) {
    CHECK(!from.taking);
    from.taking = true;
    return {from, {Do::take_requests}};
}

// Returns true if input must wait, so that a client cannot make the server hold more and more.
bool is_full(State const& from, ConnectionBytes const& buffered) {
    bool const kept = from.answers() || from.phase == Phase::idle;
    if (kept && buffered.unread >= State::input_max) return true;
    return from.takes_requests() && !buffered.has_room();
}

ConnectionStep readable(State const& from, ConnectionBytes const& buffered) {
    return is_full(from, buffered) ? ConnectionStep{from} : ConnectionStep{from, {Do::read_input}};
}

ConnectionStep input(State const& from) {
    if (from.takes_requests()) return take(from);
    return {from, {from.answers() ? Do::keep_input : Do::discard_input}};
}

// A client may close its sending side and still wait for the replies to its requests; one that has
// closed it during a stream is gone.
ConnectionStep input_ended(State from) {
    from.client_ended = true;
    if (from.takes_requests()) return take(from);
    bool const waits = from.answers() || from.phase == Phase::ending;
    return waits ? ConnectionStep{from} : close(from);
}

// A slow client gets the whole time again after it has taken a part of a reply.
ConnectionStep writable(State const& from) {
    bool const again =
        from.phase == Phase::idle || from.phase == Phase::sending || from.phase == Phase::ending;
    return again ? enter(from, from.phase, {Do::write}) : ConnectionStep{from, {Do::write}};
}

// Nothing is left to write, and no request follows.
ConnectionStep linger(State const& from) {
    return from.client_ended ? close(from) : enter(from, Phase::lingering, {Do::shut_output});
}

ConnectionStep written(State const& from, ConnectionBytes const& buffered) {
    switch (from.phase) {
        case Phase::sending: {
            if (buffered.body_left > 0) return enter(from, Phase::pulling, {Do::read_source});
            ConnectionStep out = from.last ? linger(from) : enter(from, Phase::idle);
            out.actions.insert(out.actions.begin(), Do::drop_source);
            return out;
        }
        case Phase::streaming: return enter(from, from.phase, {Do::notify_drained});
        case Phase::stopping:
        case Phase::ending: return linger(from);
        default: return {from};
    }
}

// The next request must not begin inside the handler's call of reply().
ConnectionStep reply(State const& from, ConnectionBytes const& buffered) {
    bool const has_request =
        from.phase == Phase::head || from.phase == Phase::body || from.phase == Phase::handling;
    CHECK(has_request || (from.phase == Phase::opening && from.last));
    bool const waits = !from.taking && buffered.unread == 0;
    Phase next = from.last || (waits && from.client_ended) ? Phase::ending : Phase::idle;
    if (buffered.body_left > 0) next = Phase::sending;
    if (from.taking) return enter(from, next);
    bool const later = next == Phase::idle && buffered.unread > 0;
    return enter(from, next, {later ? Do::take_later : Do::write});
}

// The input has no complete request any more.
ConnectionStep taken(State const& from) {
    bool const nothing_comes = from.client_ended && from.takes_requests();
    bool const done = nothing_comes || (from.last && from.phase == Phase::idle);
    return done ? enter(from, Phase::ending, {Do::write}) : ConnectionStep{from, {Do::write}};
}

ConnectionStep end_stream(State const& from) {
    if (from.phase != Phase::streaming) return {from};
    return enter(from, Phase::stopping, {Do::write_soon});
}

// A client that has sent part of a request and waits for no earlier reply gets the error as a
// reply.
ConnectionStep give_up(State const& from, ConnectionBytes const& buffered, Do reply) {
    bool const listens = from.phase == Phase::head || from.phase == Phase::body;
    return listens && buffered.unwritten == 0 ? ConnectionStep{from, {reply}} : close(from);
}

ConnectionStep finish(State from, ConnectionBytes const& buffered) {
    if (from.phase == Phase::streaming) return end_stream(from);
    bool const rests = from.phase == Phase::opening || from.phase == Phase::idle;
    if (rests && !from.taking && buffered.unread == 0)
        return buffered.unwritten == 0 ? close(from) : enter(from, Phase::ending);
    from.last = true;
    return {from};
}

ConnectionStep settle(State from, ConnectionBytes const& buffered) {
    bool const waits = from.reads || from.taking || from.client_ended || is_full(from, buffered);
    if (waits) return {from};
    from.reads = true;
    return {from, {Do::wait_input}};
}

ConnectionStep on_request(State const& from, Event event) {
    CHECK(from.taking);
    if (event == Event::begin) {
        CHECK(from.phase == Phase::opening || from.phase == Phase::idle);
        return enter(from, Phase::head);
    }
    CHECK(from.phase == Phase::head || (event == Event::handle && from.phase == Phase::body));
    return enter(from, event == Event::admit ? Phase::body : Phase::handling);
}

ConnectionStep stream(State const& from) {
    CHECK(from.phase == Phase::handling);
    if (from.taking) return enter(from, Phase::streaming);
    return enter(from, Phase::streaming, {Do::write_soon});
}

ConnectionStep next(State from, Event event, ConnectionBytes const& buffered) {
    using enum ConnectionEvent;
    switch (event) {
        case open: CHECK(from == State{}); return enter(from, Phase::opening);
        case readable: return http::readable(from, buffered);
        case input: return http::input(from);
        case input_blocked:
            CHECK(!from.reads);
            from.reads = true;
            return {from, {Do::wait_input}};
        case input_ended: return http::input_ended(from);
        case writable: return http::writable(from);
        case written: return http::written(from, buffered);
        case output_blocked:
            CHECK(!from.writes);
            from.writes = true;
            return {from, {Do::wait_output}};
        case begin:
        case admit:
        case handle: return on_request(from, event);
        case taken: return http::taken(from);
        case output_full: CHECK(from.writes && from.takes_requests()); return {from};
        case end_after_reply: from.last = true; return {from};
        case reply: return http::reply(from, buffered);
        case stream: return http::stream(from);
        case end_stream: return http::end_stream(from);
        case piece:
            CHECK(from.phase == Phase::pulling);
            return enter(from, Phase::sending, {Do::write});
        case flush: return {from, {Do::write}};
        case resume: {
            bool const waits = buffered.unread > 0 || from.client_ended;
            return waits && from.takes_requests() ? take(from) : ConnectionStep{from};
        }
        case settle: return http::settle(from, buffered);
        case time_limit:
            CHECK(from.limit() != State::Limit::none);
            if (from.phase == Phase::streaming)
                return enter(from, from.phase, {Do::send_heartbeat});
            return give_up(from, buffered, Do::reply_timeout);
        case cut: return give_up(from, buffered, Do::reply_overloaded);
        case finish: return http::finish(from, buffered);
        case broken:
        case close: return http::close(from);
    }
    return {from};
}

// Returns true for events that a closed connection may still receive.
bool may_be_late(Event event) {
    return event != Event::open && event != Event::begin && event != Event::admit &&
           event != Event::handle && event != Event::reply && event != Event::stream &&
           event != Event::written && event != Event::output_blocked;
}

}  // namespace

ConnectionState::Limit ConnectionState::limit() const {
    switch (phase) {
        case Phase::opening:
        case Phase::head: return Limit::header;
        case Phase::idle: return Limit::idle;
        case Phase::body:
        case Phase::sending:
        case Phase::pulling:
        case Phase::stopping:
        case Phase::ending: return Limit::body;
        case Phase::streaming: return Limit::heartbeat;
        case Phase::lingering: return Limit::linger;
        case Phase::handling:
        case Phase::closed: break;
    }
    return Limit::none;
}

ConnectionStep step(ConnectionState from, ConnectionEvent event, ConnectionBytes const& buffered) {
    CHECK(event != Event::readable || from.reads);
    CHECK(event != Event::writable || from.writes);
    bool const ends_taking = event == Event::taken || event == Event::output_full;
    CHECK(!ends_taking || from.taking);
    if (event == Event::readable) from.reads = false;
    if (event == Event::writable) from.writes = false;
    if (ends_taking) from.taking = false;
    if (from.phase == Phase::closed) {
        CHECK(may_be_late(event));
        return {from};
    }
    ConnectionStep out = next(from, event, buffered);
    if (out.next.writes) {  // the socket takes no more yet
        auto const rest = std::ranges::remove(out.actions, Do::write);
        out.actions.erase(rest.begin(), rest.end());
    }
    return out;
}

}  // namespace dormouse::http
