#pragma once
// What decisions about tasks share. Private to the layer.

#include "session/decide/decider.h"

namespace dormouse::session {

// The command that a tool gave as its outcome.
void ask_tasks(Decider& d, ToolOutcome const& c, TaskAsk const& ask);

// A run's end is told once: to the calls that wait for it, else by a notice if one is owed.
void run_ended(Decider& d, SessionId from, RunEnded const& ended);
void run_goes_on(Decider& d, SessionId from, RunProgress const& progress);
// What was sent to the child could not be delivered.
void child_is_gone(Decider& d, SessionId child, TaskNo task);

// The call that waited for this task's run was given up, or its time is up.
void stop_waiting(Decider& d, TaskNo task, std::string const& reason);
void wait_is_over(Decider& d, Call const& call);

// REQUIRES: it is there, and active.
void cancel_task(Decider& d, TaskNo task, std::string const& reason);
void cancel_tasks(Decider& d, std::string const& reason);
void clear_tasks(Decider& d, std::string const& why);
void clear_one(Decider& d, TaskNo task, std::string const& why);
// Notices that no turn has begun with yet.
void withdraw_notices(Decider& d, TaskNo task, std::string const& why);
void expect_notice(Decider& d, Task const& task);

// A JSON string: what callers wrote may hold anything.
[[nodiscard]] std::string quoted(std::string_view text);

inline constexpr std::string_view session_gone_text =
    "Session expired or was deleted. Start a new background_task to continue.";

}  // namespace dormouse::session
