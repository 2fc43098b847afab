#pragma once
// What a handler holds of a connection: the right to answer one request.

#include "http/transport/http.h"

#include <cstdint>
#include <memory>
#include <string>

namespace dormouse::server {

class Connection;

// For request `number` of `connection`; harmless once the connection has gone.
[[nodiscard]] std::shared_ptr<Responder> make_responder(std::shared_ptr<Connection> connection,
                                                        std::uint64_t number, std::string id);

}  // namespace dormouse::server
