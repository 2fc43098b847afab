#pragma once
// The durable data, decoded at that instant: the reference for all checkers. Folds each session, so
// it knows the outstanding work of each at any instant.

#include "port/store.h"
#include "session/state.h"
#include "sim/checks/findings.h"
#include "sim/world.h"
#include "wire/journal/record.h"

#include <functional>
#include <map>
#include <set>
#include <vector>

namespace dormouse::sim {

class Durable {
public:
    struct Session {
        std::vector<wire::RecordPtr> records;
        session::State state;
        std::map<PendingId, session::Receipt> receipts;
    };
    using OnEvent = std::function<void(SessionId, session::Event const&)>;
    using Lost = std::map<SessionId, std::vector<wire::RecordPtr>>;
    // The content of a copy of the disk.
    struct Copy {
        std::map<SessionId, Session> sessions;
        std::set<std::string> happened;
    };

    // All arguments must outlive this object.
    Durable(World& world, Findings& findings) : world_(world), findings_(findings) {}

    void take(port::Append const& append);
    [[nodiscard]] Copy copy() const { return {sessions_, happened_}; }
    // The disk falls back to the copy. Events that became durable since then are lost, even if they
    // were acknowledged.
    void fall_back(Copy earlier);
    // Called for every event at the instant at which it is durable.
    void on_event(OnEvent listener) { on_event_ = std::move(listener); }
    // Called after the disk fell back, with the sessions that lost events.
    void on_loss(std::function<void(Lost const&)> listener) { on_loss_ = std::move(listener); }

    [[nodiscard]] std::map<SessionId, Session> const& sessions() const { return sessions_; }
    // nullptr: unknown session.
    [[nodiscard]] Session const* find(SessionId session) const;
    [[nodiscard]] session::Event const* event(SessionId session, Seq seq) const;
    [[nodiscard]] session::Receipt const* receipt(PendingId const& pending) const;
    // Returns how often the disk fell back.
    [[nodiscard]] std::uint64_t falls() const { return falls_; }
    // Events that were durable once: before the newest fall, and of a session before any.
    [[nodiscard]] Lost const& newest_loss() const { return newest_loss_; }
    [[nodiscard]] std::vector<wire::RecordPtr> const& lost(SessionId session) const;
    [[nodiscard]] std::uint64_t events() const { return events_; }
    // Number of events of each type: what a run has covered.
    [[nodiscard]] std::map<std::string, std::uint64_t> const& types() const { return types_; }

private:
    void take_event(Session& session, session::Event const& event);
    void take_receipt(Session& session, session::Event const& event);
    // Inputs and sessions carry the name of their request: each must happen once.
    void once(std::string const& what, session::Actor const& by);

    World& world_;
    Findings& findings_;
    OnEvent on_event_;
    std::function<void(Lost const&)> on_loss_;
    Lost lost_;  // in all falls
    Lost newest_loss_;
    std::uint64_t falls_ = 0;
    std::map<SessionId, Session> sessions_;
    std::set<std::string> happened_;
    std::map<std::string, std::uint64_t> types_;
    std::uint64_t events_ = 0;
};

}  // namespace dormouse::sim
