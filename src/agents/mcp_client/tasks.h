#pragma once
// The tasks of a server that calls wait for: follows each until it has ended, over restarts of the
// connection, and cancels those that nobody waits for. On the loop.

#include "agent/tool.h"
#include "base/scope.h"
#include "mcp_client/progress.h"
#include "mcp_client/requests.h"
#include "mcp_client/settings.h"
#include "mcp_client/task.h"
#include "port/world.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace dormouse::mcp_client {

class Tasks {
public:
    // A poll that has lasted this long ends without a result, so that other calls of its session
    // are polled.
    static constexpr Duration poll_max{600'000};
    static constexpr Duration answer_limit{60'000};      // of a request for a task's state
    static constexpr std::size_t cancelled_max = 1'000;  // that wait for the connection

    // All outlive this. `progress` gets what a task says of itself.
    Tasks(ServerSettings const& settings, port::Loop& loop, Requests& requests, Progress& progress)
        : settings_(settings), loop_(loop), requests_(requests), progress_(progress) {}

    // A call has become this task. `token`: of its notifications of progress; empty: unknown.
    void created(PendingId const& call, std::string const& task, std::string const& token);
    // Progress under the token; returns false if no task has it.
    bool progressed(std::string const& token, Json const& payload);
    // Follows the task of a call. `done` is called once, perhaps before this returns, and never
    // after the stop. The stop does not cancel the task.
    agent::StopTool poll(agent::PollCall const& call, port::Fn<void(agent::PollResult)> done);
    // The call needs its task no more: cancels it, unless it has ended.
    void closed(PendingId const& call);
    // The connection is ready.
    void ready();
    // A notification of a task's state.
    void changed(json::View task);
    // Ends each poll without a result, because the process ends.
    void leave();

private:
    using Number = std::uint64_t;
    using Key = std::pair<SessionId, CallNo>;
    struct Known {
        std::string task;
        std::string token;
        PendingId call;
    };
    struct Watch {
        std::string task;
        PendingId call;
        port::Fn<void(agent::PollResult)> done;
        std::string id = {};       // of the request that is under way; empty: none
        std::string message = {};  // the newest
        std::uint64_t turn = 0;    // of its waits; only the newest counts
    };

    [[nodiscard]] static Key key_of(PendingId const& call) { return {call.session, call.call}; }
    void get(Number number);
    void ask(Number number, std::string_view method, Duration limit,
             void (Tasks::*then)(Number, rpc::Peer::Answer const&));
    void got(Number number, rpc::Peer::Answer const& answer);
    void got_result(Number number, rpc::Peer::Answer const& answer);
    void follow(Number number, TaskState const& state, json::View task);
    void failed(Number number, rpc::Fault const& fault);
    void wait(Number number, Duration time);
    void finish(Number number, agent::PollResult result);
    void settle(Number number, agent::ToolResult result);
    void stop(Number number);
    void cancel(std::string const& task);
    // Returns the task's id; empty: it was not known.
    std::string forget(PendingId const& call);

    ServerSettings const& settings_;
    port::Loop& loop_;
    Requests& requests_;
    Progress& progress_;
    std::map<Number, Watch> watches_;
    std::map<Key, Known> known_;  // tasks that have not ended, as far as is known
    std::map<std::string, Key> tokens_;
    std::set<std::string> cancelled_;  // as soon as the connection is ready
    Number last_ = 0;
    Scope scope_;
};

}  // namespace dormouse::mcp_client
