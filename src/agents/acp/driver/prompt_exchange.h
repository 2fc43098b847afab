#pragma once
// The life of one prompt at an ACP agent, as a state machine: a pure function from a state and an
// event to the next state and the driver's actions. Each prompt has one outcome, and each
// permission that the agent asks for has one answer.
// Example: begin → waiting; send → sent (send_prompt); question → sent (ask_person 1); decide 1 →
// sent (answer); answered → settling (report_reply, settle); settled → idle.

#include "acp/protocol_types.h"

#include <cstdint>
#include <vector>

namespace dormouse::acp {

struct PromptExchange {
    enum class State : std::uint8_t {
        idle,        // there is no prompt; reports of the agent belong to none
        waiting,     // the prompt waits for the agent's session
        sent,        // the agent works on the prompt
        cancelling,  // the prompt was cancelled and the agent has not stopped yet
        settling,    // the prompt is over; later reports of the agent still belong to it
    };
    struct Open {
        std::uint32_t number = 0;    // the session's number of it, from 1 for each prompt
        std::uint64_t question = 0;  // the dialect's number of it
    };
    State state = State::idle;
    std::uint32_t asked = 0;                 // permissions asked for during this prompt
    std::vector<Open> open = {};             // a person or a gate decides these
    std::vector<std::uint64_t> screen = {};  // the person at the agent's own screen decides these

    static constexpr std::size_t open_max = 64;

    // Another prompt may begin.
    [[nodiscard]] bool is_free() const { return state == State::idle || state == State::settling; }
};

struct ExchangeEvent {
    enum class Kind : std::uint8_t {
        begin,            // REQUIRES: is_free()
        send,             // the agent's session is ready
        answered,         // by the agent: the turn ended
        failed,           // the agent refused the prompt, or its session could not be reached
        cancel,           // the session does not want the prompt's outcome any more
        cancel_limit,     // the agent did not stop in time
        settled,          // the short wait after the outcome is over
        exited,           // the process has ended
        question,         // the agent asks for a permission
        screen_question,  // the same, while a person is at the agent's screen
        decide,           // `number` is allowed, denied or cancelled
        leave_screen,     // no terminal is attached to the agent's screen any more
    };
    Kind kind = Kind::begin;
    std::uint64_t question = 0;
    std::uint32_t number = 0;
    Decision decision = Decision::cancelled;
};

struct ExchangeAction {
    enum class Kind : std::uint8_t {
        send_prompt,
        cancel_prompt,   // ask the agent to stop, and limit the time that it takes
        retire_prompt,   // from now on, reports of the agent are late
        settle,          // send `settled` in a second
        settle_long,     // send it later: agents report more after a cancelled prompt
        finish_message,  // later text of the agent begins another message
        forget_updates,  // keep what was reported, and forget open tool calls
        report_reply,    // the outcome of the prompt
        report_failure,  // the outcome of the prompt
        report_free,     // another prompt may begin
        end_process,
        ask_person,  // ask for a decision of `question`, under `number`
        answer,      // answer `question` with `decision`
    };
    Kind kind = Kind::settle;
    std::uint64_t question = 0;
    std::uint32_t number = 0;
    Decision decision = Decision::cancelled;

    friend bool operator==(ExchangeAction const&, ExchangeAction const&) = default;
};

struct ExchangeStep {
    PromptExchange next;
    std::vector<ExchangeAction> actions = {};  // in this order
};

// An event that has no meaning in this state changes nothing.
[[nodiscard]] ExchangeStep step(PromptExchange from, ExchangeEvent const& event);

}  // namespace dormouse::acp
