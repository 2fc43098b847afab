#pragma once
// Sends messages to all that listen on the channel of a schema. One connection of its own: a
// notification must not wait in the transaction of an append, because the server lets only one
// transaction at a time commit that notifies. One thread at a time.

#include "store/postgres/session.h"

#include <chrono>
#include <span>
#include <string>

namespace dormouse::store::postgres {

class Speaker {
public:
    static constexpr std::chrono::seconds wait{2};

    // `name` is shown by pg_stat_activity.
    Speaker(Address const& address, std::string name)
        : session_(address, std::move(name), Role::speaker) {}

    // See port::SharedStore.
    [[nodiscard]] Result<void> publish(std::span<std::string const> texts);

private:
    Session session_;
};

}  // namespace dormouse::store::postgres
