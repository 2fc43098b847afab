#pragma once
// Tools and gates as values: what they declare and what they do. A registry made in main holds
// them.

#include <dormouse/error.h>

#include "agent/model.h"
#include "agent/program.h"
#include "json/schema.h"
#include "port/catalogue.h"
#include "port/effects.h"
#include "session/vocabulary.h"

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace dormouse::agent {

struct ToolCall {
    PendingId pending;          // where its outcome may be sent; also its idempotency key
    std::uint32_t attempt = 1;  // how often this call was durably started
    Json input;
    std::string tool = {};
    std::string callback_url = {};  // takes the outcome by POST; empty: this runtime has no address
    std::optional<Time> deadline = {};                 // an outcome that comes later is of no use
    std::optional<session::Submission> decision = {};  // what its own pause was answered with
    Json state = {};                                   // … and what that pause kept
    std::string agent = {};
    TurnNo turn = 0;

    [[nodiscard]] SessionId session_id() const { return pending.session; }
    [[nodiscard]] std::string call_id() const { return "call_" + std::to_string(pending.call); }
    [[nodiscard]] std::string idempotency_key() const { return pending.text(); }
};

struct Done {
    Json output;
    std::string title = {};
    Json metadata = {};
    session::Attached attached = {};
};
// Told to the model, unless nothing was done and trying again may help.
struct Failed {
    std::string message;
    bool nothing_done = false;
};
// Nobody knows what the attempt did: the tool's crash policy decides.
struct Lost {
    std::string message;
    std::optional<Duration> retry_after = {};  // the other side's word
};
// TaskAsk: what the call asks of its session's tasks is its outcome, or what it waits for.
using ToolResult = std::variant<Done, Failed, session::PauseTerms, Lost, session::TaskAsk>;

// Ends what start() began; nothing comes of it afterwards. Called at most once, on the loop.
using StopTool = port::Fn<void()>;

// What a tool is asked whose result nobody can push.
struct PollCall {
    PendingId pending;
    Json input;
    std::string tool;
    std::string external_ref;  // what its pause said
};
struct NotYet {
    std::string error = {};  // set: it could not be asked, or what it said means nothing
    std::optional<Duration> retry_after = {};  // the other side's word
};
using PollResult = std::variant<NotYet, Done, Failed>;

struct Tool {
    std::string name;
    std::string description;
    Json schema;  // of its input
    session::ToolTerms terms = {};
    // Set for a tool that does nothing but register: the pause that a call makes at once. Pure.
    std::function<session::PauseTerms(Json const& input)> registers = {};
    // Runs on a worker thread; may block; should end soon after a stop request. REQUIRED unless
    // `registers` or `start` is set.
    std::function<ToolResult(ToolCall const&, std::stop_token)> run = {};
    // The asynchronous form, for what waits on sockets and pipes. On the loop; must not block.
    // `done` is called once, on the loop, perhaps before start returns; never after the stop.
    std::function<StopTool(ToolCall call, port::Fn<void(ToolResult)> done)> start = {};
    // Set for a tool whose pauses say `poll_every`: asks whether the result is there. Must not
    // block and has no effects; else as `start`.
    std::function<StopTool(PollCall call, port::Fn<void(PollResult)> done)> poll = {};
    // JSON Schema of its output, null: any. What comes from outside is checked at the door.
    Json result_schema = {};
    // Why a result from outside is refused; nullopt: it is not. On a worker thread; may block.
    std::function<std::optional<std::string>(Json const& result)> validate = {};
    // The asynchronous form, for what is asked by other means than a call; else as `start`. With it
    // `validate` is not asked.
    std::function<StopTool(port::OfferedResult what, port::Fn<void(port::ValidationResult)> done)>
        check = {};
};

struct GateCall {
    std::string tool;
    Json input;
    std::optional<session::Submission> decision;  // what its pause was answered with
    SessionId session = {};
    CallNo call = 0;
    std::string agent = {};
};
struct Allow {
    std::optional<Json> input = {};  // edited arguments
};
struct Deny {
    std::string message;
};
using Verdict = std::variant<Allow, Deny, session::PauseTerms>;

// Without effects: asked again after a crash, and with the decision when its pause was answered.
struct Gate {
    std::string name;
    std::function<Verdict(GateCall const&)> decide;
    // Also asked, before those that a tool names itself, for tools whose name fits one of these;
    // `*` stands for any text.
    std::vector<std::string> tools = {};
    // It is asked on a worker thread; else on the loop, and is quick. What it throws there denies.
    bool may_block = false;
};

// Interceptors of turns, by the names that the terms of agents bear. Without effects: asked again
// after a crash. On the loop; must not block. `done` is called once, perhaps before it returns, and
// never after the stop. It keeps a time limit.
using AskTurn =
    std::function<StopTool(port::TurnRequest request, port::Fn<void(session::TurnOutcome)> done)>;

struct Agent {
    std::string id;
    std::string description;
    std::shared_ptr<Model> model;
    std::vector<std::string> tools;
    session::TurnTerms terms = {};
    std::string instructions = {};
    std::string model_id = "scripted";      // what lists show
    std::shared_ptr<Program> program = {};  // set: it is prompted, and there is no model
    bool hidden = false;                    // nobody may ask for a session of it by name
};

// `*` stands for any text, also none; nothing else is special.
[[nodiscard]] bool fits_pattern(std::string_view pattern, std::string_view name);

class Registry {
public:
    // REQUIRES: the name is new.
    void add(Tool tool);
    void add(Gate gate);
    void add(Agent agent);
    void set(AskTurn turns) { turns_ = std::move(turns); }

    [[nodiscard]] AskTurn const& turns() const { return turns_; }  // may be empty
    [[nodiscard]] Tool const* tool(std::string_view name) const;
    [[nodiscard]] Gate const* gate(std::string_view name) const;
    // Those with a pattern acp:… for one of a program's names of its tool, in their order.
    [[nodiscard]] std::vector<Gate const*> gates_of_permission(
        std::vector<std::string> const& names) const;
    [[nodiscard]] Agent const* agent(std::string_view id) const;
    [[nodiscard]] std::vector<Agent> const& agents() const { return agents_; }
    [[nodiscard]] std::vector<Tool> const& tools() const { return tools_; }

    // Checks a call that a model makes and gives it the terms of its tool: unknown names and
    // arguments that do not fit are refused there, with the text for the model.
    [[nodiscard]] session::CallSpec prepare(Agent const& agent, ModelCall const& call) const;

private:
    [[nodiscard]] std::vector<std::string> gates_of(Tool const& tool) const;

    // A handful of each, in the order of adding: that is the order in which they are listed.
    std::vector<Tool> tools_;
    std::map<std::string, json::Schema, std::less<>> schemas_;  // by tool
    std::vector<Gate> gates_;
    std::vector<Agent> agents_;
    AskTurn turns_;
};

}  // namespace dormouse::agent
