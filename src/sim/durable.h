#pragma once
// What is durable, decoded as it becomes so: the truth that every checker compares with. It folds
// each session as it goes, so it knows at any instant what each of them owes.

#include "port/store.h"
#include "session/state.h"
#include "sim/findings.h"
#include "sim/world.h"
#include "wire/record.h"

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

    // All outlive this.
    Durable(World& world, Findings& findings) : world_(world), findings_(findings) {}

    void take(port::Append const& append);
    // Told of every event, at the instant at which it is durable.
    void on_event(OnEvent heard) { heard_ = std::move(heard); }

    [[nodiscard]] std::map<SessionId, Session> const& sessions() const { return sessions_; }
    // nullptr: there is none.
    [[nodiscard]] Session const* find(SessionId session) const;
    [[nodiscard]] session::Event const* event(SessionId session, Seq seq) const;
    [[nodiscard]] session::Receipt const* receipt(PendingId const& pending) const;
    [[nodiscard]] std::uint64_t events() const { return events_; }
    // How many events are of each type: what a run has reached.
    [[nodiscard]] std::map<std::string, std::uint64_t> const& types() const { return types_; }

private:
    void take_event(Session& session, session::Event const& event);
    void take_receipt(Session& session, session::Event const& event);
    // An input and a session carry the name of the request that asked for them: each happens once.
    void once(std::string const& what, session::Actor const& by);

    World& world_;
    Findings& findings_;
    OnEvent heard_;
    std::map<SessionId, Session> sessions_;
    std::set<std::string> happened_;
    std::map<std::string, std::uint64_t> types_;
    std::uint64_t events_ = 0;
};

// The receipt that a settling event holds; nullptr: it is no such event.
[[nodiscard]] session::Receipt const* receipt_in(session::Event const& event);

}  // namespace dormouse::sim
