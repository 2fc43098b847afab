#pragma once
// Tasks: child sessions that a session runs in the background or as tools. State holds the tasks
// that are not cleared; a child's messages stay in its own journal.

#include "session/vocabulary.h"

#include <optional>
#include <string>

namespace dormouse::session {

// An operation on a session's tasks, by one of its tools (ToolOutcome) or from outside (a command).
struct TaskAsk {
    enum class What : std::uint8_t {
        start,   // agent, description, parts
        call,    // as start; the asking call waits for the end: an agent as a tool
        output,  // task, block, timeout
        resume,  // task, parts, block, timeout
        cancel,  // task; empty: all active ones
        clear,   // task; empty: all
        list,    // only
        report,  // description: progress of the task that this session is, to its parent
    };
    What what = What::start;
    std::string task = {};  // an id, or a prefix of one
    std::string agent = {};
    std::string description = {};
    Json parts = {};
    bool block = false;
    std::optional<Duration> timeout = {};  // of a block; nullopt: none
    std::optional<TaskStatus> only = {};
    // Set with `start`: the task is one tool call made by the external agent of the session. At
    // most one task of a mark is open.
    std::string mark = {};
    bool fork = false;  // with `start`: the child begins with a copy of this session's history
    std::string reason = {};  // with `cancel`: Cancel::reason
};

struct Task {
    TaskNo no = 0;
    SessionId child = {};
    std::string agent = {};
    std::string description = {};
    TaskStatus status = TaskStatus::running;
    std::uint32_t run = 1;
    bool by_call = false;  // it lives as long as the call that waits for it
    Seq queued = 0;   // the event since which its run waits for a free slot; 0: it does not wait
    Json parts = {};  // input of the waiting run
    bool notify = false;     // the session is to be notified when the run ends
    bool gone = false;       // the child session no longer exists
    Json result = {};        // of the newest run: a JSON string
    std::string error = {};  // of the newest run, instead of a result
    Actor by = {};
    // TaskAsk::mark. The session is notified of the outcome, which clears the task.
    std::string mark = {};
    bool fork = false;          // its session begins with a copy of this session's history
    std::string progress = {};  // newest progress of its newest run
    friend bool operator==(Task const&, Task const&) = default;

    [[nodiscard]] bool active() const {
        return status == TaskStatus::running || status == TaskStatus::resumed;
    }
    [[nodiscard]] bool is_call() const { return !mark.empty(); }
    // Its child session has been requested.
    [[nodiscard]] bool begun() const { return run > 1 || queued == 0; }
};

[[nodiscard]] std::string task_id(SessionId const& session, TaskNo task);

}  // namespace dormouse::session
