#pragma once
// Converts a refusal of the server to a JSON-RPC error.

#include "cli/client/failure.h"
#include "rpc/message.h"

namespace dormouse::cli {

namespace fault {
inline constexpr int authentication = -32000;
inline constexpr int not_found = -32002;
}  // namespace fault

[[nodiscard]] rpc::Fault fault_of(Failure const& failure);
[[nodiscard]] std::unexpected<rpc::Fault> bad_params(std::string why);

}  // namespace dormouse::cli
