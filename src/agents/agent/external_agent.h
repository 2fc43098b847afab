#pragma once
// The interface to external agents. Called on the loop thread.

#include "agent/model.h"
#include "port/catalogue.h"
#include "port/effects.h"

namespace dormouse::agent {

class ExternalAgent {
public:
    // The report of its newest process; empty before the first one.
    struct About {
        std::string version = {};
        bool can_load = false, can_resume = false;
    };
    virtual ~ExternalAgent() = default;
    // For a prompt that waits for its process. If it must not begin any more, the process does not
    // get it, and `refused` is called in place of `done`.
    struct Start {
        MayStart may = {};
        port::Fn<void()> refused = {};  // REQUIRED if `may` can say no
    };
    // See Effects::ask_model. REQUIRES: request.external.
    virtual void prompt(port::ModelRequest request, Start start, port::Fn<void(port::Delta)> delta,
                        port::Outcome done) = 0;
    virtual void notify(SessionId session, session::NotifyAgent const& what) = 0;
    virtual void stop(SessionId session, session::EffectId id) = 0;
    // Returns whether this prompt is running: then it has no time limit.
    [[nodiscard]] virtual bool prompting(SessionId session, session::EffectId id) const = 0;
    // Returns why no process can be started; empty: one can.
    [[nodiscard]] virtual std::string unavailable() const = 0;
    // Returns why it serves no session of that project; empty: it does.
    [[nodiscard]] virtual std::string refusal(std::string const& project) const = 0;
    // Called when the session has ended: nothing is prompted in it until it is opened again.
    virtual void ended(SessionId session) = 0;
    // Data that the agent stores of a session that was deleted here. forget() calls `done` once,
    // perhaps from inside the call.
    struct Left {
        SessionId session;               // our session; its process ends first
        std::vector<std::string> names;  // the agent's ids
        std::string cwd;
    };
    virtual void forget(Left left, port::Fn<void(Result<void>)> done) = 0;
    // See Catalogue::folder.
    [[nodiscard]] virtual Result<std::string> folder(std::string const& cwd) const = 0;
    [[nodiscard]] virtual std::string path() const = 0;
    [[nodiscard]] virtual About about() const = 0;
    // Returns the sessions in which the agent asks for no permissions although gates apply.
    [[nodiscard]] virtual std::vector<port::NotAskingEntry> not_asking() const = 0;
    // Opens the agent's own screen in the process that is prompted; see Catalogue::open_terminal.
    virtual void open_terminal(port::TerminalRequest ask,
                               port::Fn<void(Result<port::AttachInfo>)> then) = 0;
};

}  // namespace dormouse::agent
