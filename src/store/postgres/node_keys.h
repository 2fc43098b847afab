#pragma once
// The master keys of the processes that share an encrypted store; docs/design/encryption.md.

#include <cstdint>
#include <string>

namespace dormouse::store::postgres {

struct NodeKeys {
    std::uint64_t epoch = 0;  // of the process
    std::string name = {};
    std::uint64_t counter = 0;  // of its heartbeats
    // Their ids with spaces between them; the first one encrypts new data keys. Empty: unknown.
    std::string masters = {};
    friend bool operator==(NodeKeys const&, NodeKeys const&) = default;
};

}  // namespace dormouse::store::postgres
