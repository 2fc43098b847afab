#pragma once
// One side of a JSON-RPC 2.0 connection with one message on each line: sends calls, matches their
// answers, and passes on the other side's requests. Does no I/O: the owner passes in the bytes that
// it has read, and writes the lines that `send` receives.
// Example: call("ping", {}, done) sends {"jsonrpc":"2.0","id":1,"method":"ping",...}; `done` runs
// when receive() gets {"id":1,"result":...}.

#include "rpc/lines.h"
#include "rpc/message.h"

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace dormouse::rpc {

class Peer {
public:
    using Answer = std::expected<Json, Fault>;
    using Done = std::move_only_function<void(Answer)>;
    struct Listener {
        std::function<void(std::string const& line)> send;  // with its line break
        // The owner answers `id` with respond() or refuse(), at once or later.
        std::function<void(std::string const& method, Json const& id, Json const& params)> request;
        std::function<void(std::string const& method, Json const& params)> notification;
    };
    static constexpr std::size_t line_bytes_max = std::size_t{32} << 20;

    // Reads with Grammar::lenient and skips lines that are not messages.
    explicit Peer(Listener listener, std::size_t bytes_max = line_bytes_max)
        : listener_(std::move(listener)), lines_(bytes_max) {}

    // Returns false when a line is longer than `bytes_max`; after that the peer reads nothing.
    // REQUIRES: no callback of the listener destroys this peer.
    [[nodiscard]] bool receive(std::string_view bytes);

    // Calls `done` once, with the answer or with the fault code::closed. Returns the call's id.
    std::int64_t call(std::string_view method, Json const& params, Done done);
    void notify(std::string_view method, Json const& params);
    void respond(Json const& id, Json const& result);
    void refuse(Json const& id, int code, std::string_view message);
    // Answers every open call with code::closed. Afterwards nothing is sent or read.
    void close();

    [[nodiscard]] std::size_t skipped() const { return skipped_; }
    // The beginning of the last line that was not a message; empty if there was none.
    [[nodiscard]] std::string const& skipped_line() const { return skipped_line_; }

private:
    void take(Line const& line);
    void take_response(Message message);

    Listener listener_;
    LineReader lines_;
    std::map<std::int64_t, Done> calls_;
    std::int64_t last_ = 0;
    std::size_t skipped_ = 0;
    std::string skipped_line_;
    bool closed_ = false;
};

}  // namespace dormouse::rpc
