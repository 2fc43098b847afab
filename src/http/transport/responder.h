#pragma once
// A handler's access to a connection: it answers one request.

#include "http/transport/http.h"

#include <cstdint>
#include <memory>
#include <string>

namespace dormouse::http {

class Connection;

// Returns the Responder of request `number` of `connection`; it does nothing once the connection is
// closed.
[[nodiscard]] std::shared_ptr<Responder> make_responder(std::shared_ptr<Connection> connection,
                                                        std::uint64_t number, std::string id);

}  // namespace dormouse::http
