#pragma once
// The sessions of MCP clients on several servers. What has ended and what was withdrawn (McpMarks)
// is in the store before it is acknowledged, and each request with a session reads it there. A
// server with open requests or streams reads the marks of their sessions each second, and at once
// when another server has sent a message that it changed them. On the loop.

#include "base/scope.h"
#include "http/resources/mcp/mcp_sessions.h"
#include "port/shared_store.h"
#include "port/world.h"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::http {

class McpShared {
public:
    static constexpr Duration apart{1'000};  // between two reads

    struct Services {
        port::Loop& loop;
        port::Journal& journal;
        port::SharedValues* values = nullptr;  // of its store; null: no other process uses it
        std::function<void(std::string_view)> publish = {};  // to the other processes
    };
    // All outlive this.
    McpShared(Services services, McpSessions& sessions)
        : services_(std::move(services)), sessions_(sessions) {}

    // `done` gets the number of the newest withdrawal, for McpSessions::open(). Errors: not_found
    // (the session is not this caller's or has ended), also those of the store.
    void use(std::string const& owner, std::string const& id,
             port::Fn<void(Result<std::uint64_t>)> done);
    // Ends the session on all servers. Errors: as use().
    void end(std::string const& owner, std::string const& id, port::Fn<void(Result<void>)> done);
    // Withdraws these requests of the session on all servers. Errors: those of the store.
    void cancel(std::string const& id, std::vector<std::string> const& requests,
                port::Fn<void(Result<void>)> done);

    // A session has an open request or stream from now on.
    void follow();
    // Handles a message of another process.
    void on_signal(std::string_view text);

private:
    // Changes the marks; false: there is nothing to change.
    using Change = std::function<bool(McpMarks&)>;

    void change(std::string const& bucket, Change change, port::Fn<void(Result<bool>)> done);
    void read(std::set<std::string> const& buckets, port::Fn<void()> done);
    void read_again();

    Services const services_;
    McpSessions& sessions_;
    bool following_ = false;
    Scope scope_;
};

}  // namespace dormouse::http
