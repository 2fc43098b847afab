#pragma once
// The life of an agent's process, up to the session that it is prompted in, as a state machine: a
// pure function from a state, an event and the situation to the next state and the driver's
// actions. Each state that waits for the agent has exactly one open request.
// Example: want → starting (start_process); started → greeting (greet); greeted → attaching by load
// (attach); opened → configuring (configure); configured → ready (announce).

#include "acp/protocol_types.h"

#include <cstdint>
#include <vector>

namespace dormouse::acp {

struct ProcessSession {
    enum class State : std::uint8_t {
        not_started,
        starting,
        greeting,
        signing_in,
        searching,    // for a session whose id was not stored
        attaching,    // by `method`
        checking,     // whether the agent lists a session that it did not know
        configuring,  // sets the mode and the options of the session
        ready,        // with a session, or without one if none was wanted
        closing,      // the agent releases its session, and its process ends after that
        ending,       // the process was asked to end
        gone,
    };
    enum class AttachMethod : std::uint8_t {
        none,
        load,
        resume,
        load_again,    // the second and last attempt
        resume_again,  // the second and last attempt
        open,          // a new session
        reopen,        // a new session, because the agent lost the old one
    };
    State state = State::not_started;
    AttachMethod method = AttachMethod::none;

    [[nodiscard]] bool is_ending() const { return state >= State::closing; }
    // The agent is starting and not ready yet.
    [[nodiscard]] bool is_on_the_way() const {
        return state >= State::starting && state < State::ready;
    }
    [[nodiscard]] bool is_new() const {
        return method == AttachMethod::open || method == AttachMethod::reopen;
    }
    [[nodiscard]] bool replays() const {
        return method == AttachMethod::load || method == AttachMethod::load_again;
    }

    friend bool operator==(ProcessSession const&, ProcessSession const&) = default;
};

// Facts of the driver in addition to the state.
struct Situation {
    enum class Wanted : std::uint8_t {
        nothing,
        prompt,
        repeat,            // a prompt that an earlier attempt may have delivered
        screen,            // the agent's screen
        screen_with_past,  // the screen of a session with a past that only a prompt can carry
    };
    Wanted wanted = Wanted::nothing;
    bool known = false;        // the id of the agent's session is stored
    bool attached = false;     // the process has the wanted session
    bool open = false;         // the process has a session
    bool signs_in = false;     // the configuration names a login
    bool misses_past = false;  // the replay lacks a prompt that the agent had started
    Abilities can = {};
};

enum class SessionEvent : std::uint8_t {
    want,  // REQUIRES: not is_ending()
    started,
    not_started,  // the process cannot be started
    greeted,
    signed_in,
    found,      // the one session that holds our marker
    not_found,  // no session, or more than one
    listed,
    not_listed,
    opened,
    unknown,  // the agent does not know the session
    configured,
    refused,  // the agent refused the open request
    lost,     // the agent does not know its session any more
    close,    // the process is not needed any more
    closed,   // the agent has released its session, or did not do so in time
    end,
    exited,
};

enum class SessionAction : std::uint8_t {
    start_process,
    greet,
    sign_in,
    search,
    attach,  // by ProcessSession::method
    check_list,
    configure,
    announce,        // the session is ready: report it and use it
    use,             // send the prompt and open the screen that wait for the session
    forget_session,  // the process has no session any more
    refuse_screen,   // no screen can be shown without a session
    rest,            // the process has nothing to do now
    report_failure,  // for the prompt and the waiting attach requests
    close_session,
    end_process,
    clean_up,  // after the process
    report_gone,
};

struct SessionStep {
    ProcessSession next;
    std::vector<SessionAction> actions = {};  // in this order
};

// An event that has no meaning in this state changes nothing.
[[nodiscard]] SessionStep step(ProcessSession const& from, SessionEvent event,
                               Situation const& situation);

}  // namespace dormouse::acp
