#pragma once
// Changes contents that are stored, one piece after another; and whether removed ones remain.

#include "port/store_rows.h"

#include <optional>
#include <string>

namespace dormouse::port {

class Rewriter {
public:
    virtual ~Rewriter() = default;
    // The new content; nullopt: the stored one stays.
    using Changed = std::optional<std::string>;
    [[nodiscard]] virtual Changed frame(SessionId session, Frame const& frame) = 0;
    [[nodiscard]] virtual Changed snapshot(SessionId session, SnapshotRow const& row) = 0;
    [[nodiscard]] virtual Changed artifact(SessionId session, Seq seq,
                                           std::string const& bytes) = 0;
    [[nodiscard]] virtual Changed title(SessionId session, std::string const& title) = 0;
    [[nodiscard]] virtual Changed message(OutboxKey const& key, std::string const& body) = 0;
    [[nodiscard]] virtual Changed message_error(OutboxKey const& key, std::string const& text) = 0;
    [[nodiscard]] virtual Changed secret(SessionId session, SecretRow const& row) = 0;
    [[nodiscard]] virtual Changed sent(SessionId session, SentRow const& row) = 0;
    [[nodiscard]] virtual Changed kept(Bits128 const& key, std::string const& body) = 0;
    [[nodiscard]] virtual Changed rule(std::string const& id, std::string const& body) = 0;
    // `device`: with its id, p256dh and auth only. nullopt: both stay.
    [[nodiscard]] virtual std::optional<DeviceRow> device(DeviceRow const& device) = 0;
};

// Tells whether the files of a store still have contents that a redaction removed (port::Rewrite).
class RemovedContents {
public:
    virtual ~RemovedContents() = default;
    // Returns true if copies are left in unused space; the store overwrites them beside its other
    // work. Blocks. May be called by as many threads as OpenedStore::readers() says.
    [[nodiscard]] virtual Result<bool> removed_contents_remain() = 0;
};

}  // namespace dormouse::port
