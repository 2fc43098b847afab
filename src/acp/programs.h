#pragma once
// An agent of the configuration that is a program: a process for each session that has a prompt,
// or had one lately.

#include "acp/driver.h"
#include "agent/program.h"

#include <map>

namespace dormouse::acp {

class Programs final : public agent::Program {
public:
    // Both outlive this.
    Programs(Settings settings, port::Processes& processes, port::Loop& loop)
        : settings_(std::move(settings)), processes_(processes), loop_(loop) {}
    ~Programs() override;
    Programs(Programs const&) = delete;
    Programs& operator=(Programs const&) = delete;

    void prompt(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                port::Outcome done) override;
    void tell(SessionId session, session::TellAgent const& what) override;
    void stop(SessionId session, session::EffectId id) override;
    [[nodiscard]] bool prompting(SessionId session, session::EffectId id) const override;
    [[nodiscard]] std::string unavailable() const override { return settings_.unavailable; }
    [[nodiscard]] std::string path() const override { return settings_.path; }
    [[nodiscard]] About about() const override { return about_; }
    void open_door(port::DoorAsk ask, port::Fn<void(Result<port::DoorEntry>)> then) override;

private:
    struct Slot {
        std::shared_ptr<Driver> driver;
        std::optional<Prompt> waiting;  // until the driver rests, or is gone
        std::vector<Visit> visits;      // until it is gone
    };

    // Why sessions of this project have no program; empty: they have.
    [[nodiscard]] std::string refusal(std::string const& project) const;
    [[nodiscard]] std::shared_ptr<Driver> make_driver(SessionId session);
    void go_on(SessionId session);
    void gone(SessionId session);

    Settings const settings_;
    port::Processes& processes_;
    port::Loop& loop_;
    std::map<SessionId, Slot> slots_;
    About about_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::acp
