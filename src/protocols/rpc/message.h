#pragma once
// JSON-RPC 2.0 messages (jsonrpc.org/specification): parses lines into values and formats values as
// lines.
// Example: {"jsonrpc":"2.0","id":1,"method":"ping"} is a Message of kind request with id 1 and
// method ping.

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
inline constexpr int closed = -1;  // local only, never sent: the peer was closed before the answer
}  // namespace code

struct Fault {
    int code = code::internal_error;
    std::string message = {};
    Json data = {};  // null: none
};

// A message of exactly one kind. Ids are kept as received: a string, an integer, or null.
struct Message {
    enum class Kind : std::uint8_t {
        request,       // method, params, id
        notification,  // method, params
        response,      // id, and result or fault
        refused,       // not a message: `fault` is the answer, to `id`
    };
    Kind kind = Kind::refused;
    std::string method = {};
    Json id = {};
    Json params = {};  // object or array; null: none
    Json result = {};
    std::optional<Fault> fault = {};
};

// `strict` accepts what the specification allows. `lenient` also accepts what ACP agents write:
// messages without `jsonrpc`, ids and params of any type, `"id":null` in a notification, and an
// answer with neither or both of result and error; it refuses batches.
enum class Grammar : std::uint8_t { strict, lenient };

// The message of a line; the messages of a batch if `batch` is true.
struct Received {
    std::vector<Message> messages;
    bool batch = false;
};
[[nodiscard]] Received read(Line const& line, Grammar grammar = Grammar::strict);

// These functions return lines that end with a line break and contain no other.
[[nodiscard]] std::string request(std::uint64_t id, std::string_view method, Json const& params);
[[nodiscard]] std::string notification(std::string_view method, Json const& params);
[[nodiscard]] std::string response(Json const& id, Json const& result);
[[nodiscard]] std::string refusal(Json const& id, Fault const& fault);
// Joins the answers' lines into the one line that answers a batch.
[[nodiscard]] std::string batch(std::vector<std::string> const& lines);

}  // namespace dormouse::rpc
