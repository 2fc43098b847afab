#pragma once
// The life of one client's connection as a state machine: a pure function from a state, an event
// and the bytes buffered to the next state and the actions of the connection. Each request has at
// most one reply, and each phase that waits for the client has a time limit. Example: open →
// opening (start_deadline); settle → (wait_input); readable → (read_input); input →
// (take_requests); begin → head; handle → handling; reply → idle; taken → (write).

#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <cstdint>

namespace dormouse::http {

struct ConnectionState {
    enum class Phase : std::uint8_t {
        opening,    // waits for the first byte of the first request
        idle,       // waits for the next request
        head,       // has a part of a request's head
        body,       // has a request's head and a part of its body
        handling,   // the handler has a request
        sending,    // writes a part of a reply whose body has a source
        pulling,    // reads the next part of it from the source
        streaming,  // sends events
        stopping,   // sends the last events
        ending,     // writes the last reply
        lingering,  // has written everything; waits for the client to close, because a reset would
                    // destroy what it has not read yet
        closed,
    };
    enum class Limit : std::uint8_t { none, header, body, idle, linger, heartbeat };

    Phase phase = Phase::opening;
    bool last = false;          // the next reply, or the current one, is the last
    bool client_ended = false;  // the client sends no more
    bool reads = false;         // a wait for input is pending
    bool writes = false;        // a wait for space in the output is pending
    bool taking = false;        // requests are being parsed from the input

    // Limit of input buffered while a request is answered; one read may exceed it.
    static constexpr std::size_t input_max = 64 * 1024;
    // Limit of replies buffered before the next request waits; one reply may exceed it.
    static constexpr std::size_t output_max = 256 * 1024;

    // Returns true if input is parsed as requests.
    [[nodiscard]] bool takes_requests() const { return phase <= Phase::body; }
    // Returns true while a request is being answered; input is then kept for later.
    [[nodiscard]] bool answers() const {
        return phase >= Phase::handling && phase <= Phase::pulling;
    }
    [[nodiscard]] bool keeps_input() const { return takes_requests() || answers(); }
    // Returns the time limit of the phase.
    [[nodiscard]] Limit limit() const;

    friend bool operator==(ConnectionState const&, ConnectionState const&) = default;
};

// The bytes that a connection holds.
struct ConnectionBytes {
    std::size_t unread = 0;       // input not yet parsed
    std::size_t unwritten = 0;    // replies not yet written
    std::uint64_t body_left = 0;  // what the body's source has still to supply

    [[nodiscard]] bool has_room() const { return unwritten < ConnectionState::output_max; }
};

enum class ConnectionEvent : std::uint8_t {
    open,
    // The socket.
    readable,        // the wait for input is over
    input,           // bytes were read
    input_blocked,   // there was nothing to read
    input_ended,     // the client sends no more
    writable,        // the wait for space in the output is over
    written,         // the whole output was written
    output_blocked,  // the socket takes no more for now
    broken,          // the socket, or the source of a body, failed
    // Requests. REQUIRES: a phase that takes requests.
    begin,  // the first bytes of a request
    admit,  // its head was accepted, and a body follows
    handle,
    taken,        // every complete request in the input was taken
    output_full,  // requests may be left, but the output is full
    // Replies.
    end_after_reply,
    reply,   // REQUIRES: a request, or `last`
    stream,  // REQUIRES: handling
    end_stream,
    piece,  // the next part of the body from its source
    // Everything else.
    flush,       // write what is queued
    resume,      // kept input can be parsed now
    settle,      // the current work is done
    time_limit,  // REQUIRES: a phase with a limit
    cut,         // to free memory
    finish,      // the server ends
    close,
};

enum class ConnectionAction : std::uint8_t {
    start_deadline,  // restarts it, by ConnectionState::limit()
    wait_input,
    wait_output,
    read_input,
    take_requests,  // from the kept input and the bytes just read
    take_later,     // send `resume` in a moment
    keep_input,
    discard_input,
    drop_input,   // the kept input and a partial request
    read_source,  // of the reply's body
    drop_source,
    reply_timeout,
    reply_overloaded,
    write,
    write_soon,
    notify_drained,
    send_heartbeat,
    shut_output,
    release,  // the socket and everything buffered
};

struct ConnectionStep {
    ConnectionState next;
    // In this order. No step takes more than four, and none allocates.
    boost::container::static_vector<ConnectionAction, 4> actions = {};
};

// An event that cannot happen in this state ends the process (CHECK).
[[nodiscard]] ConnectionStep step(ConnectionState from, ConnectionEvent event,
                                  ConnectionBytes const& buffered);

}  // namespace dormouse::http
