#pragma once
// A session with tasks: the parent's side.

#include "session/task.h"
#include "session/testing/session_fixture.h"

namespace dormouse::session::testing {

inline CallSpec task_tool() {
    CallSpec spec = with_policy(pausing(PauseReason::handoff), CrashPolicy::retry);
    spec.tool = "background_task";
    return spec;
}

class TaskTest : public SessionTest {
protected:
    static TaskAsk ask(TaskAsk::What what, std::string task = {}) {
        TaskAsk out;
        out.what = what;
        out.task = std::move(task);
        out.agent = "demo";
        out.description = "look \"it\" up";
        out.parts = parts("look it up");
        return out;
    }
    static TaskAsk blocking(TaskAsk::What what, std::string task) {
        TaskAsk out = ask(what, std::move(task));
        out.block = true;
        out.timeout = Duration(60'000);
        return out;
    }
    [[nodiscard]] std::string task_id_of(TaskNo no) const { return task_id(id, no); }
    // The model calls the tool, whose outcome is `what`.
    Decision tool_asks(TaskAsk what) {
        (void)reply({task_tool()});
        Call const& call = state.calls.rbegin()->second;
        Decision d = outcome(call.pending, call.attempt, std::move(what));
        for (auto const& [no, task] : state.tasks) children[no] = task.child;
        return d;
    }
    // A session whose model has started a task and was asked again.
    void with_task() {
        (void)create();
        (void)prompt("please");
        (void)tool_asks(ask(TaskAsk::What::start));
    }
    // Like with_task(), with the session idle.
    void idle_with_task() {
        with_task();
        (void)reply();
    }
    Decision ends(TaskNo no, std::uint32_t run, std::string const& reply_text,
                  FinishReason finish = FinishReason::stop, std::string error = {}) {
        return ends_of(state.tasks.contains(no) ? state.tasks.at(no).child : children[no], no,
                       {no, run, finish, quoted(reply_text), std::move(error), false});
    }
    Decision ends_of(SessionId child, TaskNo no, RunEnded what) {
        children[no] = child;
        return when(Deliver{{child, ++message_seq_, 0}, std::move(what)});
    }
    Decision gone(TaskNo no) {
        SessionId const child = state.tasks.at(no).child;
        return ends_of(child, no, {no, 0, FinishReason::cancelled, {}, "deleted", true});
    }
    void resume(TaskNo no) { (void)when(ask(TaskAsk::What::resume, task_id_of(no))); }
    // The error of the newest call that has ended.
    static std::string error_in(Decision const& d) {
        if (auto const e = first<ToolFinished>(d); e.call != 0) return e.error;
        return first<Submitted>(d).what->error;
    }
    static std::string output_in(Decision const& d) {
        if (auto const e = first<ToolFinished>(d); e.call != 0) return std::string(e.output.text());
        return std::string(first<Submitted>(d).what->output.text());
    }
    template <class Kind> static std::vector<Kind> sent(Decision const& d) {
        std::vector<Kind> out;
        for (OutboxMessage const& message : d.outbox) {
            if (auto const* what = std::get_if<Kind>(&message.what)) out.push_back(*what);
        }
        return out;
    }
    [[nodiscard]] TaskStatus status(TaskNo no) const { return state.tasks.at(no).status; }
    [[nodiscard]] std::size_t notices() const {
        std::size_t count = 0;
        for (Event const& event : archive.log) {
            auto const* input = std::get_if<InputReceived>(&event.body);
            count += input && input->task != 0 ? 1 : 0;
        }
        return count;
    }
    std::map<TaskNo, SessionId> children;

private:
    Seq message_seq_ = 0;
};

}  // namespace dormouse::session::testing
