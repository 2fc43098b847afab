#pragma once
// Answers the requests fs/read_text_file and fs/write_text_file of an ACP agent, for files in its
// session's folder and as far as the configuration allows them. Runs on the loop.
// Example: in the folder /srv, {"path":"/srv/a.txt","line":2,"limit":1} is answered with
// {"content":...}, the second line of a.txt.

#include "acp/settings.h"
#include "base/scope.h"
#include "json/json.h"
#include "rpc/peer.h"

#include <cstddef>
#include <string>

namespace dormouse::acp {

inline constexpr int code_not_found = -32002;  // ACP: a file, a terminal or a session was not found

// Answers the request `id` with an error: invalid parameters, or the code that fits `error`.
void refuse(rpc::Peer& rpc, Json const& id, std::string const& why);
void refuse(rpc::Peer& rpc, Json const& id, Error const& error);

class ClientFiles {
public:
    static constexpr std::size_t bytes_max = std::size_t{8} << 20;  // of one file
    static constexpr std::size_t open_max = 32;                     // unanswered requests

    // All arguments outlive this.
    ClientFiles(Settings const& settings, rpc::Peer& rpc) : settings_(settings), rpc_(rpc) {}

    // Writes the member "fs" of clientCapabilities.
    void offer(json::Writer& out) const;
    // Returns false if the method is not one of these or is not allowed. `folder` is absolute and
    // has no links.
    [[nodiscard]] bool request(std::string const& method, Json const& id, json::View params,
                               std::string const& folder);
    // Leaves open requests without an answer.
    void close();

private:
    void read(Json const& id, json::View params, std::string const& folder);
    void write(Json const& id, json::View params, std::string const& folder);

    Settings const& settings_;
    rpc::Peer& rpc_;
    std::size_t open_ = 0;
    Scope scope_;
};

}  // namespace dormouse::acp
