#pragma once
// Tools and gates as values: what they declare and what they do. The program's main function makes
// a registry of them.

#include <dormouse/error.h>

#include "agent/external_agent.h"
#include "agent/model.h"
#include "json/schema/schema.h"
#include "port/catalogue.h"
#include "port/effects.h"
#include "session/command.h"
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
    PendingId pending;          // the address of its outcome, and its idempotency key
    std::uint32_t attempt = 1;  // counts the durable starts of this call
    Json input;
    std::string tool = {};
    std::string callback_url =
        {};  // takes the outcome by POST; empty: this runtime has no public address
    std::optional<Time> deadline = {};                 // a later outcome is rejected
    std::optional<session::Submission> decision = {};  // the answer to its own pause
    Json state = {};                                   // what that pause stored
    std::string agent = {};
    TurnNo turn = 0;
    session::TraceHeaders trace = {};  // to pass on
    MayStart may_start = {};

    [[nodiscard]] SessionId session_id() const { return pending.session; }
    [[nodiscard]] std::string call_id() const { return "call_" + std::to_string(pending.call); }
    [[nodiscard]] std::string idempotency_key() const { return pending.text(); }
};

using session::Done;
using session::Failed;
using session::InDoubt;
using session::NotYet;
using session::PollResult;
using session::ToolResult;

// Ends what start() began: it makes no callback afterwards. Called at most once, on the loop.
using StopTool = port::Fn<void()>;

// The request for the result of a paused call that nothing will push.
struct PollCall {
    PendingId pending;
    Json input;
    std::string tool;
    std::string external_ref;  // as its pause gave it
    Json state = {};           // what its pause stored
    MayStart may_start = {};
};

struct Tool {
    std::string name;
    std::string description;
    Json schema;  // of its input
    session::ToolTerms terms = {};
    // The configured action of the tool (address, program, …). When it changes, people are asked
    // again although a standing rule exists. Null: nothing besides the members above is known.
    Json definition = {};
    // Set for a tool that only registers a call: the pause that a call makes at once. Pure.
    std::function<session::PauseTerms(Json const& input)> registers = {};
    // Runs on a worker thread; may block; should end soon after a stop request. A call that must
    // not begin any more, or was stopped before, does not run. REQUIRED unless `registers` or
    // `start` is set.
    std::function<ToolResult(ToolCall const&, std::stop_token)> run = {};
    // The asynchronous form, for tools that wait for sockets or pipes. Runs on the loop; must not
    // block. `done` is called once, on the loop, perhaps before start() returns, and never after
    // the stop. A call that waits before it does anything asks `may_start` when it begins; if it
    // must not, its outcome is Failed with `nothing_done`.
    std::function<StopTool(ToolCall call, port::Fn<void(ToolResult)> done)> start = {};
    // Set for a tool whose pauses have `poll_every`: asks whether the result exists. Must not block
    // and has no effects; otherwise like `start`. The result of a poll that must not begin is
    // NotYet.
    std::function<StopTool(PollCall call, port::Fn<void(PollResult)> done)> poll = {};
    // As port::Effects::holder(), of what a pause of this tool stored. Pure.
    std::function<Epoch(Json const& state)> holder = {};
    // JSON Schema of its output; null: any. Results from outside are checked when they are
    // submitted.
    Json result_schema = {};
    // Returns why a result from outside is rejected; nullopt: it is valid. Runs on a worker thread;
    // may block.
    std::function<std::optional<std::string>(Json const& result)> validate = {};
    // The asynchronous form of `validate`, like `start`. If it is set, `validate` is not used.
    std::function<StopTool(port::OfferedResult what, port::Fn<void(port::ValidationResult)> done)>
        check = {};
};

struct GateCall {
    std::string tool;
    Json input;
    std::optional<session::Submission> decision;  // the answer to its pause
    SessionId session = {};
    CallNo call = 0;
    std::string agent = {};
    session::TraceHeaders trace = {};  // to pass on
};
struct Allow {
    std::optional<Json> input = {};  // edited arguments
};
struct Deny {
    std::string message;
};
using GateDecision = std::variant<Allow, Deny, session::PauseTerms>;

// Has no side effects: it is asked again after a crash, and again with the decision when its pause
// was answered.
struct Gate {
    std::string name;
    std::function<GateDecision(GateCall const&)> decide;
    // The gate is also asked for tools whose name matches one of these patterns, before the gates
    // that a tool names itself; `*` matches any text.
    std::vector<std::string> tools = {};
    // true: it is asked on a worker thread. false: on the loop, and it must be quick; an exception
    // there denies.
    bool may_block = false;
};

// Interceptors of turns, by the names in the terms of agents. No side effects: asked again after a
// crash. Called on the loop; must not block; keeps a time limit. `done` is called once, perhaps
// before the call returns, and never after the stop; with nullopt, if it has waited and must not
// begin any more or its threads have no place for it.
using AskTurn = std::function<StopTool(port::TurnRequest request, MayStart may_start,
                                       port::Fn<void(std::optional<session::TurnOutcome>)> done)>;

struct Agent {
    std::string id;
    std::string description;
    std::shared_ptr<Model> model;
    std::vector<std::string> tools;  // those of foreign servers are last
    session::TurnTerms terms = {};
    session::Budgets budgets = {};
    std::string instructions = {};
    std::string model_id = "scripted";  // as lists show it
    std::shared_ptr<ExternalAgent> external =
        {};               // set: the agent has no model; this is prompted instead
    bool placed = false;  // the agent stores parts of its sessions on this machine
    bool hidden = false;  // no session of it can be requested by name
    // Patterns of foreign servers' tools: those that there are at present are among `tools`.
    std::vector<std::string> foreign = {};
};

// `*` matches any text, also an empty one; no other character is special.
[[nodiscard]] bool fits_pattern(std::string_view pattern, std::string_view name);

// The agents, models, tools and gates of a server. The catalogue as a whole can be exchanged during
// work: each lookup finds the new one, and work under way pins the one that it began with.
class Registry {
public:
    Registry() : now_(std::make_shared<Catalogue>()) {}
    Registry(Registry&&) = default;
    Registry& operator=(Registry&&) = default;
    Registry(Registry const&) = delete;
    Registry& operator=(Registry const&) = delete;
    ~Registry() = default;

    // Replaces the catalogue: later lookups use `next`. Objects found before stay valid while they
    // are pinned. On the loop.
    void exchange(Registry next);
    // Keeps the objects that are found now valid while the pin exists. Made on the loop, dropped
    // anywhere.
    using Pin = std::shared_ptr<void const>;
    [[nodiscard]] Pin pin() const { return now_; }
    // Destroys exchanged catalogues that nothing pins. Returns whether some are left. On the loop,
    // and not below a call of an agent, a model or a tool.
    bool collect();

    // REQUIRES: the name is new.
    void add(Tool tool);
    void add(Gate gate);
    void add(Agent agent);
    // Tools of a foreign server, whose names begin with `prefix`: `any` runs those that are not
    // listed (any more), so that calls of an earlier process can be made.
    void add_foreign(std::string prefix, Tool any);
    // Replaces the list. Agents get those that fit their patterns. REQUIRES: add_foreign(prefix).
    void set_foreign(std::string_view prefix, std::vector<Tool> tools);
    // REQUIRES: the agent exists.
    void set_budgets(std::string_view agent, session::Budgets budgets);
    void set(AskTurn turns) { now_->turns = std::move(turns); }

    [[nodiscard]] AskTurn const& turns() const { return now_->turns; }  // may be empty
    [[nodiscard]] Tool const* tool(std::string_view name) const;
    [[nodiscard]] Gate const* gate(std::string_view name) const;
    // Returns the gates with a pattern acp:… for one of an external agent's names of its tool, in
    // their order.
    [[nodiscard]] std::vector<Gate const*> gates_of_permission(
        std::vector<std::string> const& names) const;
    [[nodiscard]] Agent const* agent(std::string_view id) const;
    // The agent's tools as models get them, in their order. Made once until a list changes.
    [[nodiscard]] std::shared_ptr<ToolDeclarations const> declarations(Agent const& agent) const;
    [[nodiscard]] std::vector<Agent> const& agents() const { return now_->agents; }
    [[nodiscard]] std::vector<Tool> const& tools() const { return now_->tools; }

    // Checks a model's call and adds the terms of its tool. For an unknown tool or arguments that
    // do not fit, the result's `refused` has the text for the model.
    [[nodiscard]] session::CallSpec prepare(Agent const& agent, ModelCall const& call) const;

private:
    [[nodiscard]] std::vector<std::string> gates_of(Tool const& tool) const;
    void resolve_foreign(Agent& agent) const;
    [[nodiscard]] ToolDeclarations declared(Agent const& agent) const;

    struct Foreign {
        Tool any;
        std::map<std::string, Tool, std::less<>> tools = {};
    };

    // A few of each, listed in the order of adding.
    struct Catalogue {
        std::vector<Tool> tools;
        std::map<std::string, json::Schema, std::less<>> schemas;  // by tool
        std::map<std::string, Foreign, std::less<>> foreign;       // by prefix
        std::vector<Gate> gates;
        std::vector<Agent> agents;
        // By agent; of those that were asked for since a list changed.
        std::map<Agent const*, std::shared_ptr<ToolDeclarations const>> declarations;
        AskTurn turns;
    };
    std::shared_ptr<Catalogue> now_;
    std::vector<std::shared_ptr<Catalogue>> former_;  // until nothing pins them
};

}  // namespace dormouse::agent
