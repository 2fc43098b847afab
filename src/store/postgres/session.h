#pragma once
// A connection with our settings, which is made again after it was lost.

#include "store/postgres/schema/migrations.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace dormouse::store::postgres {

enum class Role : std::uint8_t { writer, reader, heartbeat, speaker };

class Session {
public:
    Session(Address address, std::string name, Role role)
        : address_(std::move(address)), name_(std::move(name)), role_(role) {}

    // Returns the connection; connects first if it is closed.
    [[nodiscard]] Answer<Connection*> connection(Connection::Wait wait);
    [[nodiscard]] Connection* open() { return live_ ? &*live_ : nullptr; }
    void close() { live_.reset(); }
    // Returns the number of connections made.
    [[nodiscard]] std::uint64_t made() const { return made_; }

    [[nodiscard]] Address const& address() const { return address_; }

private:
    Address address_;
    std::string name_;
    Role role_;
    std::optional<Connection> live_;
    std::uint64_t made_ = 0;
};

}  // namespace dormouse::store::postgres
