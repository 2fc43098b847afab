#pragma once
// The calls of a server's tools that are under way. On the loop.

#include "agent/tool.h"
#include "base/scope.h"
#include "mcp_client/requests/elicitation.h"
#include "mcp_client/requests/progress.h"
#include "mcp_client/requests/requests.h"
#include "mcp_client/requests/rounds.h"
#include "mcp_client/requests/sampling.h"
#include "mcp_client/requests/tasks.h"
#include "mcp_client/settings.h"
#include "port/world.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace dormouse::mcp_client {

class Calls {
public:
    static constexpr unsigned questions_max = 10;    // of one call
    static constexpr std::size_t asking_max = 100;   // calls that wait for people
    static constexpr Duration answer_slack{60'000};  // for the core to say that it has expired
    // All outlive this.
    Calls(ServerSettings const& settings, port::Loop& loop, Requests& requests, Tasks& tasks,
          Progress& progress, AskModel ask_model)
        : settings_(settings),
          loop_(loop),
          requests_(requests),
          tasks_(tasks),
          progress_(progress),
          ask_model_(std::move(ask_model)) {}

    // `call.tool` is the server's name. `done` is called once, perhaps before this returns, and
    // never after the stop. Waits for the connection up to the start limit.
    agent::StopTool start(agent::ToolCall call, port::Fn<void(agent::ToolResult)> done);
    // The connection is ready: sends the calls that wait.
    void ready();
    // A person must sign in: calls that wait for the connection ask for it.
    void need_sign_in();
    // The server asks a question (elicitation/create, or sampling) under `id`, with these
    // parameters. `inside`: the request of ours to which it belongs; empty: unknown.
    void asked(Json const& id, std::expected<Question, std::string> question, json::View params,
               std::string const& inside);
    [[nodiscard]] bool idle() const { return calls_.empty(); }
    // A pause of a call was settled.
    void closed(session::Receipt const& receipt);
    // The same for all calls of the session.
    void deleted(SessionId const& session);
    // A notification of progress; also of tasks that were calls of this connection.
    void progressed(json::View params);

private:
    using Number = std::uint64_t;
    using Key = std::pair<SessionId, CallNo>;
    // The event that a call waits for.
    enum class Waits : std::uint8_t {
        connection,  // then it is sent
        server,      // it was sent
        person,      // the server has asked a question; `done` was called with the pause
        model,       // a person has approved that the agent's model answers the server
    };
    struct Call {
        agent::ToolCall what;
        port::Fn<void(agent::ToolResult)> done;
        Waits waits = Waits::connection;
        std::string id = {};     // of the request
        std::uint64_t turn = 0;  // of its limits of time; only the newest counts
        unsigned questions = 0;
        Question question = {};  // the newest
        Json question_id = {};   // of the server's request; null: it was answered
        agent::StopTool stop_model = {};
        // While it waits for a person: what the server has answered in the meantime.
        std::optional<agent::ToolResult> result = {};
        std::optional<Round> round = {};  // the input that the server gets
        // The answer to a question of an earlier connection, if it is asked again.
        std::optional<std::pair<Sha256, Json>> kept = {};
    };

    [[nodiscard]] static Key key_of(PendingId const& call) { return {call.session, call.call}; }
    [[nodiscard]] bool repeatable(std::string const& tool) const;
    // Pauses the call until a person has signed in.
    [[nodiscard]] agent::ToolResult ask_sign_in(Number number) const;
    // Continues a call of a server of 2026-07-28, or that is a task, after a person's decision.
    agent::StopTool start_round(agent::ToolCall call, port::Fn<void(agent::ToolResult)> done);
    void answer_round(Number number, Question const& question);
    // `wrong`: why the answer to the same question does not fit, or empty.
    void continue_round(Number number, std::string const& wrong);
    void refuse_round(Number number, std::string const& why);
    void sampled_round(Number number, std::expected<Json, std::string> const& result);
    void ask_model(Number number, Question const& question);
    agent::StopTool add(Call call);
    [[nodiscard]] agent::ToolResult ask_round(Round round, std::string const& wrong) const;
    void begin(Number number);
    // Returns the call's number if it waited for the person's decision and continues.
    [[nodiscard]] std::optional<Number> continued(agent::ToolCall& call,
                                                  port::Fn<void(agent::ToolResult)>& done);
    void answer(Number number);
    void sample(Number number);
    void sampled_by(Number number, agent::ModelOutcome const& outcome);
    std::optional<Call> take(Number number);
    void ask_person(Number number, std::string const& wrong);
    [[nodiscard]] std::optional<Number> asker(std::string const& inside) const;
    [[nodiscard]] std::string refusal(Number number) const;
    void abandon(Number number);
    void send(Number number);
    void limit(Number number, Duration time, void (Calls::*over)(Number));
    void answered(Number number, rpc::Peer::Answer const& answer);
    [[nodiscard]] agent::ToolResult result_of(Number number, json::View answer);
    [[nodiscard]] agent::ToolResult result_of(Number number, rpc::Fault const& fault) const;
    void finish(Number number, agent::ToolResult result);
    void not_connected(Number number);
    void time_over(Number number);
    void stop(Number number);

    ServerSettings const& settings_;
    port::Loop& loop_;
    Requests& requests_;
    Tasks& tasks_;
    Progress& progress_;
    AskModel ask_model_;
    std::map<Number, Call> calls_;
    std::map<Key, Number> asking_;  // those that wait for a person
    Number last_ = 0;
    Scope scope_;
};

}  // namespace dormouse::mcp_client
