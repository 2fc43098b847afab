#pragma once
// An external agent of the configuration. It has one driver (one process) for each session that is
// prompted or was prompted recently.
// Example: prompt(s1), then prompt(s2) start two processes; s1's process ends after `idle_stop`.

#include "acp/driver/driver.h"
#include "acp/session_deleter.h"
#include "agent/external_agent.h"
#include "base/scope.h"

#include <map>

namespace dormouse::acp {

class ExternalAgents final : public agent::ExternalAgent {
public:
    // Both references outlive this.
    ExternalAgents(Settings settings, port::Processes& processes, port::Loop& loop);
    ~ExternalAgents() override;
    ExternalAgents(ExternalAgents const&) = delete;
    ExternalAgents& operator=(ExternalAgents const&) = delete;

    void prompt(port::ModelRequest request, Start start, port::Fn<void(port::Delta)> delta,
                port::Outcome done) override;
    void notify(SessionId session, session::NotifyAgent const& what) override;
    void stop(SessionId session, session::EffectId id) override;
    [[nodiscard]] bool prompting(SessionId session, session::EffectId id) const override;
    void ended(SessionId session) override;
    // Errors: wrong_kind (the agent cannot delete sessions), agent_unavailable.
    void forget(Left left, port::Fn<void(Result<void>)> done) override;
    [[nodiscard]] std::string refusal(std::string const& project) const override;
    [[nodiscard]] std::string unavailable() const override {
        return settings_.unavailable.empty() ? broken_ : settings_.unavailable;
    }
    [[nodiscard]] std::vector<port::NotAskingEntry> not_asking() const override;
    [[nodiscard]] Result<std::string> folder(std::string const& cwd) const override {
        return settings_.folder(cwd);
    }
    [[nodiscard]] std::string path() const override { return settings_.path; }
    [[nodiscard]] About about() const override { return about_; }
    void open_terminal(port::TerminalRequest ask,
                       port::Fn<void(Result<port::AttachInfo>)> then) override;

private:
    struct Slot {
        std::shared_ptr<Driver> driver;
        std::optional<Prompt> waiting;                    // until the driver is free or gone
        std::vector<AttachRequest> attach_requests = {};  // until it is gone
        std::vector<SessionDeleter::Work> forgets = {};   // until it is gone
    };

    // Returns why sessions of this project get no process; empty: they get one.
    [[nodiscard]] std::string why_not(std::string const& project) const;
    [[nodiscard]] std::shared_ptr<Driver> make_driver(SessionId session);
    void proceed(SessionId session);
    void use_driver(SessionId session);
    void drop_empty(SessionId session);
    void gone(SessionId session);
    void send(SessionDeleter::Work work);
    void probe();
    void probed(port::ProcessEnd const& end);
    void in_mode(SessionId session, std::string const& mode);

    Settings const settings_;
    port::Processes& processes_;
    port::Loop& loop_;
    std::map<SessionId, Slot> slots_;
    std::shared_ptr<SessionDeleter> deleter_;
    About about_;
    std::string broken_;  // how the probe failed; empty: it did not, or the agent has worked since
    std::map<SessionId, std::string> not_asking_;  // why gates are not asked
    bool removes_ = true;  // until the newest process reports that it cannot delete sessions
    Scope scope_;
};

}  // namespace dormouse::acp
