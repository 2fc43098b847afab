#pragma once
// JSON-RPC 2.0 messages (jsonrpc.org/specification): text in, values out, and the other way round.
// What is written holds no line break.

#include <dormouse/json.h>

#include "rpc/lines.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::rpc {

namespace code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
}  // namespace code

struct Fault {
    int code = code::internal_error;
    std::string message = {};
    Json data = {};  // null: none
};

// Exactly one kind. Ids are kept as they came: a string, an integer, or null.
struct Message {
    enum class Kind : std::uint8_t {
        request,       // method, params, id
        notification,  // method, params
        response,      // id, and result or fault
        refused,       // none of these: `fault` is the answer, to `id`
    };
    Kind kind = Kind::refused;
    std::string method = {};
    Json id = {};
    Json params = {};  // object or array; null: none
    Json result = {};
    std::optional<Fault> fault = {};
};

// The message of a line; several for a batch, all marked as such by `batch`.
struct Received {
    std::vector<Message> messages;
    bool batch = false;
};
[[nodiscard]] Received read(Line const& line);

// Lines with their end. REQUIRES: ids, params and results are compact or come from json::Writer;
// what is not is made compact here.
[[nodiscard]] std::string request(std::uint64_t id, std::string_view method, Json const& params);
[[nodiscard]] std::string notification(std::string_view method, Json const& params);
[[nodiscard]] std::string response(Json const& id, Json const& result);
[[nodiscard]] std::string refusal(Json const& id, Fault const& fault);
// The lines of answers as the one line that answers a batch.
[[nodiscard]] std::string batch(std::vector<std::string> const& lines);

}  // namespace dormouse::rpc
