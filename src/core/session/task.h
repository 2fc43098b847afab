#pragma once
// Tasks: child sessions that a session runs in the background, or as tools. State holds those that
// are not cleared; what a child says stays in its own journal.

#include "session/vocabulary.h"

#include <optional>
#include <string>

namespace dormouse::session {

// Requirement D2. `resumed`: a later run is under way; after it the task is completed again,
// however it went.
enum class TaskStatus : std::uint8_t { running, completed, error, cancelled, resumed };

[[nodiscard]] std::string_view text(TaskStatus v);
template <> std::optional<TaskStatus> parse(std::string_view word);

// What is asked of a session's tasks: by a tool of it (ToolOutcome), or from outside (a command).
struct TaskAsk {
    enum class What : std::uint8_t {
        start,   // agent, description, parts
        call,    // the same, and the call that asks waits for the end: an agent as a tool
        output,  // task, block, timeout
        resume,  // task, parts, block, timeout
        cancel,  // task; empty: all that run
        clear,   // task; empty: all
        list,    // only
        report,  // description: of the task that this session is, to its parent
    };
    What what = What::start;
    std::string task = {};  // an id, or the beginning of one
    std::string agent = {};
    std::string description = {};
    Json parts = {};
    bool block = false;
    std::optional<Duration> timeout = {};  // of a block; nullopt: none
    std::optional<TaskStatus> only = {};
    // Set with `start`: the task is one call of a tool, which a program made that is the session's
    // agent. Of those with equal marks one is open at a time.
    std::string mark = {};
    bool fork = false;        // with `start`: the child begins with what was said here so far
    std::string reason = {};  // with `cancel`: Cancel::reason
};

struct Task {
    TaskNo no = 0;
    SessionId child = {};
    std::string agent = {};
    std::string description = {};
    TaskStatus status = TaskStatus::running;
    std::uint32_t run = 1;
    bool by_call = false;    // it lives as long as the call that waits for it
    Seq queued = 0;          // the event since which its run waits for a place; 0: it does not
    Json parts = {};         // … and what it begins with
    bool notify = false;     // the session is to be told how the run ends
    bool gone = false;       // its session is
    Json result = {};        // of the newest run: a JSON string
    std::string error = {};  // instead of one
    Actor by = {};
    std::string mark = {};      // set: the session is told its outcome, and it is cleared with that
    bool fork = false;          // its session begins with what was said in this one
    std::string progress = {};  // what it has told of its newest run
    friend bool operator==(Task const&, Task const&) = default;

    [[nodiscard]] bool active() const {
        return status == TaskStatus::running || status == TaskStatus::resumed;
    }
    [[nodiscard]] bool is_call() const { return !mark.empty(); }
    // Its session was asked for.
    [[nodiscard]] bool begun() const { return run > 1 || queued == 0; }
};

[[nodiscard]] std::string task_id(SessionId const& session, TaskNo task);

}  // namespace dormouse::session
