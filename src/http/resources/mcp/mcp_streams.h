#pragma once
// The streams that answer requests of MCP sessions. Their events have ids, and the newest are kept
// for a while, so that a client that lost the connection continues with the header Last-Event-ID:
// it misses nothing and gets nothing twice. Not kept over a restart. On the loop.

#include "http/transport/http.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::http {

class McpStream : public std::enable_shared_from_this<McpStream> {
public:
    static constexpr std::size_t bytes_max = std::size_t{1} << 20;  // of the events that are kept
    static constexpr Duration away_max{300'000};  // a client that is away longer does not return

    McpStream(std::string id, std::string session, std::function<Time()> now)
        : id_(std::move(id)), session_(std::move(session)), now_(std::move(now)), since_(now_()) {}

    // Returns true if all events after `seen` are kept.
    [[nodiscard]] bool keeps(std::uint64_t seen) const;
    // Sends what comes after event `seen` (0: everything) over this connection from now on, and
    // closes the one before. REQUIRES: keeps(seen).
    void attach(std::shared_ptr<EventStream> const& connection, std::uint64_t seen);
    // Sends an event that says nothing, but has an id from which a client may continue.
    void prime();
    // Sends a JSON-RPC message. `line` ends with a line break.
    void send(std::string_view line);
    // Ends the stream: no event follows.
    void end();

    // Returns true if the client has been away for too long, or the stream was dropped.
    [[nodiscard]] bool given_up() const;
    [[nodiscard]] bool has_ended() const { return ended_; }
    [[nodiscard]] Time ended_at() const { return since_; }
    [[nodiscard]] std::string const& id() const { return id_; }
    [[nodiscard]] std::string const& session() const { return session_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    void forget();

private:
    void push(std::string frame);

    std::string id_;
    std::string session_;
    std::function<Time()> now_;
    std::shared_ptr<EventStream> connection_ = {};  // null: the client is away
    std::deque<std::shared_ptr<std::string const>> kept_ = {};
    std::uint64_t newest_ = 0;  // number of the last event; kept_ ends with it
    std::size_t bytes_ = 0;
    Time since_;  // when the client went away, or the stream ended
    bool ended_ = false;
    bool forgotten_ = false;
};
using McpStreamPtr = std::shared_ptr<McpStream>;

class McpStreams {
public:
    static constexpr std::size_t bytes_max = std::size_t{64} << 20;  // of all streams
    static constexpr std::size_t count_max = 10'000;
    static constexpr Duration kept_for{300'000};  // after the end of a stream

    // Begins a stream of this session. `random`: text that no other stream has, without ".".
    [[nodiscard]] McpStreamPtr begin(std::string const& session, std::string_view random,
                                     std::function<Time()> now);
    // The position that the header Last-Event-ID names.
    struct Place {
        McpStreamPtr stream;  // null: it is not kept, or of another session
        std::uint64_t seen = 0;
    };
    // Returns nullopt if the id is malformed.
    [[nodiscard]] std::optional<Place> find(std::string const& session,
                                            std::string_view event) const;
    // Forgets the streams of a session that has ended.
    void forget(std::string const& session);
    // Forgets streams until what is left is within the limits. Called when one ends, too.
    void trim(Time now);

private:
    void drop(std::uint64_t number);

    std::map<std::uint64_t, McpStreamPtr> streams_;  // oldest first
    std::map<std::string, std::uint64_t, std::less<>> numbers_;
    std::uint64_t begun_ = 0;
};

}  // namespace dormouse::http
