#pragma once
// The row of a process among the nodes of a schema: its heartbeats, and those of the others. One
// connection of its own, so that no other call delays a heartbeat. One thread at a time.

#include "port/shared_store.h"
#include "store/postgres/session.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::store::postgres {

// The processes that are registered, by epoch. REQUIRES: the search path is the schema.
[[nodiscard]] Result<std::vector<port::NodeRow>> nodes_of(Connection& connection);

class Heartbeat {
public:
    // A heartbeat with a later answer does not count.
    static constexpr std::chrono::seconds wait{2};

    // `name` is shown by pg_stat_activity.
    Heartbeat(Address const& address, std::string name, port::Signal signal);
    ~Heartbeat();
    Heartbeat(Heartbeat const&) = delete;
    Heartbeat& operator=(Heartbeat const&) = delete;

    // Before anything is changed: see take_ownership(). Returns whether no other process uses the
    // schema, and none can begin to before registered().
    [[nodiscard]] Result<bool> take_share();
    // No other process has this name from now on: see take_name().
    [[nodiscard]] Result<void> take_name(std::string const& name);
    // This process is in the table of nodes.
    [[nodiscard]] Result<void> registered();
    // `lock`: the first key of the schema's advisory locks (Catalogue::lock).
    void serve(std::int64_t lock) { lock_ = lock; }
    // Before the first heartbeat: each stores these again (node_keys_10).
    void announce_keys(std::string masters) { masters_ = std::move(masters); }

    using Self = port::SharedStore::Self;
    // Counts a heartbeat, and returns who else takes part. One round trip. Errors: wrong_state
    // (another process uses the schema alone by now).
    [[nodiscard]] Result<port::HeartbeatReply> beat(Self const& self);
    // Takes the process's row and its writer's row, unless it has counted a heartbeat since `seen`
    // was read: then false. From then on the database refuses its writes. First ends its backends
    // that are in a call: one of them may hold the row's lock for a frozen client.
    [[nodiscard]] Result<bool> remove(port::NodeRow const& seen);

    // See port::SharedStore.
    [[nodiscard]] Result<std::vector<std::string>> receive(Duration limit);
    void end_wait() const;

private:
    [[nodiscard]] Result<Connection*> connection();
    [[nodiscard]] Result<void> listen(Connection& connection);

    Session session_;
    port::Signal const signal_;
    std::uint64_t owned_ = 0;    // which of the session's connections holds the lock of owner.h
    std::uint64_t listens_ = 0;  // which of the connections listens
    std::string masters_;        // ids of its master keys; empty: none
    std::string node_;           // the name that it has taken; empty: none
    int const wake_;             // an eventfd that ends a wait
    std::int64_t lock_ = 0;
    // Heartbeats sent. Counted here, not in the store: if that falls back to an earlier state, the
    // next one must not bring a number that the others have seen before, as if it were silence.
    std::int64_t beats_ = 0;
    bool alone_ = false;  // the lock is taken alone, besides the share
};

}  // namespace dormouse::store::postgres
