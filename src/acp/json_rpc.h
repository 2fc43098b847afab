#pragma once
// JSON-RPC 2.0 over a pair of pipes, one message a line: bytes in, calls and answers out. Does no
// I/O: whoever owns it hands in what was read and writes what `send` is given. It reads more than
// rpc::read() does: agent programs leave out `jsonrpc`, and what is no message ends no session.

#include "json/json.h"
#include "port/world.h"
#include "rpc/message.h"

#include <expected>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace dormouse::acp {

struct RpcError {
    int code = 0;
    std::string message;
    std::string data;  // as JSON text, or empty
};
// Besides those of JSON-RPC itself (rpc/message.h).
namespace code {
inline constexpr int login_required = -32000;
inline constexpr int not_found = -32002;
inline constexpr int closed = -1;  // ours: the connection ended before the answer
}  // namespace code

[[nodiscard]] bool says_unknown(RpcError const& error);          // of a session
[[nodiscard]] bool says_session_unknown(RpcError const& error);  // the same, of a prompt to it

class RpcPeer {
public:
    using Answer = std::expected<Json, RpcError>;
    using Done = port::Fn<void(Answer)>;
    struct Handlers {
        std::function<void(std::string)> send;  // one line with its end
        // A request of the other side; `id` goes back in respond() or refuse().
        std::function<void(std::string const& method, Json id, Json params)> request;
        std::function<void(std::string const& method, Json params)> notification;
    };
    static constexpr std::size_t line_bytes_max = std::size_t{32} << 20;

    explicit RpcPeer(Handlers handlers) : handlers_(std::move(handlers)) {}

    // False: a line is longer than may be, and nothing more is read. What is no message is skipped.
    // A handler may destroy what owns this only after receive() returned.
    [[nodiscard]] bool receive(std::string_view bytes);

    // `done` comes once: with the answer, or with code::closed.
    void call(std::string_view method, Json const& params, Done done);
    void notify(std::string_view method, Json const& params);
    void respond(Json const& id, Json const& result);
    void refuse(Json const& id, int code, std::string_view message);
    // Every open call is answered with code::closed; nothing is sent any more.
    void close();

    [[nodiscard]] std::size_t skipped() const { return skipped_; }
    // The beginning of the last line that was no message; empty: each was one.
    [[nodiscard]] std::string const& skipped_line() const { return skipped_line_; }

private:
    void take(std::string_view line);
    void take_answer(json::View message);

    Handlers handlers_;
    std::string rest_;  // of a line that has not ended yet
    std::map<std::int64_t, Done> calls_;
    std::int64_t last_ = 0;
    std::size_t skipped_ = 0;
    std::string skipped_line_;
    bool closed_ = false;
};

}  // namespace dormouse::acp
