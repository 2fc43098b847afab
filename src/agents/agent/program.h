#pragma once
// Agents that are programs: whoever runs them. Called from the loop.

#include "port/catalogue.h"
#include "port/effects.h"

namespace dormouse::agent {

class Program {
public:
    // What its newest process said of itself; before the first one nothing.
    struct About {
        std::string version = {};
        bool can_load = false, can_resume = false;
    };
    virtual ~Program() = default;
    // As Effects::ask_model. REQUIRES: request.program.
    virtual void prompt(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                        port::Outcome done) = 0;
    virtual void tell(SessionId session, session::TellAgent const& what) = 0;
    virtual void stop(SessionId session, session::EffectId id) = 0;
    // Whether this prompt is under way: then it may take as long as it likes.
    [[nodiscard]] virtual bool prompting(SessionId session, session::EffectId id) const = 0;
    // Why none can be started; empty: one can.
    [[nodiscard]] virtual std::string unavailable() const = 0;
    // Why it takes no session of that project; empty: it does.
    [[nodiscard]] virtual std::string refusal(std::string const& /*project*/) const { return {}; }
    // The session ended: nothing is prompted in it until it is opened again.
    virtual void ended(SessionId /*session*/) {}
    // What it keeps of sessions that were deleted here. `done` comes once, perhaps from inside.
    struct Left {
        SessionId session;               // ours, whose process ends first
        std::vector<std::string> names;  // as the program calls them
        std::string cwd;
    };
    virtual void forget(Left left, port::Fn<void(Result<void>)> done) {  // NOLINT(*-value-param)
        (void)left;
        done({});
    }
    // As Catalogue::folder.
    [[nodiscard]] virtual Result<std::string> folder(std::string const& cwd) const { return cwd; }
    [[nodiscard]] virtual std::string path() const = 0;
    [[nodiscard]] virtual About about() const { return {}; }
    // Its sessions in which it does not ask, and gates would be there for what it does.
    [[nodiscard]] virtual std::vector<port::UnaskedEntry> unasked() const { return {}; }
    // To its own screen on the process that is prompted; as Catalogue::open_door.
    virtual void open_door(port::DoorAsk ask, port::Fn<void(Result<port::DoorEntry>)> then) = 0;
};

}  // namespace dormouse::agent
