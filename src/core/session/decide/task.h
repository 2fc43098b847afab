#pragma once
// Shared by the decisions about tasks. Private to the layer.

#include "session/decide/decider.h"

namespace dormouse::session {

// Executes the operation that a tool returned as its outcome.
void ask_tasks(Decider& d, ToolOutcome const& c, TaskAsk const& ask);

// A run has ended. Reported once: to the calls that wait for it, else by a notice if one is wanted.
void run_ended(Decider& d, SessionId from, RunEnded const& ended);
void run_goes_on(Decider& d, SessionId from, RunProgress const& progress);
// Handles that a message to the child cannot be delivered.
void child_is_gone(Decider& d, SessionId child, TaskNo task);

// The call that waited for this task's run was cancelled, or has expired.
void stop_waiting(Decider& d, TaskNo task, std::string const& reason);
void end_wait_without_result(Decider& d, Call const& call);

// REQUIRES: the task exists and is active.
void cancel_task(Decider& d, TaskNo task, std::string const& reason);
void cancel_tasks(Decider& d, std::string const& reason);
void clear_tasks(Decider& d, std::string const& why);
void clear_one(Decider& d, TaskNo task, std::string const& why);
// Withdraws notices that have not begun a turn.
void withdraw_notices(Decider& d, TaskNo task, std::string const& why);
void expect_notice(Decider& d, Task const& task);

inline constexpr std::string_view session_gone_text =
    "Session expired or was deleted. Start a new background_task to continue.";

}  // namespace dormouse::session
