#pragma once
// The reports of a runner to its owner. Each function is called on the loop and returns at once.

#include "runner/lane/lane.h"

namespace dormouse::runner {

class Observer {
public:
    virtual ~Observer() = default;
    // Provisional text of a reply that is still coming.
    virtual void delta(SessionId session, session::AskModel const& ask,
                       port::Delta const& delta) = 0;
    // An append of a session became durable.
    virtual void appended(Lane const& lane, std::vector<wire::RecordPtr> const& records) = 0;
    // Outbox messages to receivers that are not sessions became durable and can be sent.
    virtual void outbox_added() = 0;
    // The outcome of a message between sessions, as far as this process knows it.
    virtual void delivered(session::OutboxKey const& key,
                           Result<session::Answer> const& answer) = 0;
    // Retention has deleted `sessions` sessions; called after each batch that deleted some.
    virtual void swept(std::size_t sessions) = 0;
    // A sync failed: this process writes nothing more (P10). Called once.
    virtual void failed() = 0;
};

}  // namespace dormouse::runner
