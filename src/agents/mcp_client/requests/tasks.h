#pragma once
// The tasks of a server that calls wait for: follows each until it has ended, over restarts of the
// connection, and cancels those that nobody waits for. A poll of a task that needs input ends with
// the pause that asks for it; a later one has the answers in its state. On the loop.

#include "agent/tool.h"
#include "base/scope.h"
#include "mcp_client/requests/progress.h"
#include "mcp_client/requests/requests.h"
#include "mcp_client/requests/rounds.h"
#include "mcp_client/requests/task.h"
#include "mcp_client/settings.h"
#include "port/world.h"

#include <cstdint>
#include <expected>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::mcp_client {

class Tasks {
public:
    // A poll that has lasted this long ends without a result, so that other calls of its session
    // are polled.
    static constexpr Duration poll_max{600'000};
    static constexpr Duration answer_limit{60'000};      // of a request for a task's state
    static constexpr std::size_t cancelled_max = 1'000;  // that wait for the connection
    static constexpr std::size_t asking_max = 100;       // requests of the server that wait
    static constexpr unsigned questions_max = 10;        // of one call

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
    // The server asks a question about a task (elicitation/create, or sampling) under `id`.
    void asked(Json const& id, std::string const& task,
               std::expected<Question, std::string> question);
    // A pause of a call was settled: if the call needs its task no more, cancels it, unless it has
    // ended.
    void closed(session::Receipt const& receipt);
    // The same for all tasks of the session.
    void deleted(SessionId const& session);
    // Nobody waits for the task.
    void drop(std::string const& task);
    // The connection is ready; it is lost.
    void ready();
    void lost() { requests_of_.clear(); }
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
        std::string given = {};  // key of the answer that the server got since the newest question
    };
    // A request of the server that is not answered yet.
    struct Request {
        Json id;
        Question question;
    };
    struct Watch {
        std::string task;
        PendingId call;
        port::Fn<void(agent::PollResult)> done;
        Round answers;  // that the task got
        agent::MayStart may_start = {};
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
    // Gives the task the answers that it wants, or asks for those that are missing.
    void give_input(Number number, TaskState const& state, json::View task);
    // The same for a request of the server about the task. Returns false if there is none.
    bool answer_request(Number number);
    void ask_people(Number number, Round round);
    [[nodiscard]] std::vector<Number> watches_of(std::string const& task) const;
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
    std::map<std::string, Request> requests_of_;  // by task
    std::set<std::string> cancelled_;             // as soon as the connection is ready
    Number last_ = 0;
    Scope scope_;
};

}  // namespace dormouse::mcp_client
