#pragma once
// Answers the requests terminal/... of an ACP agent: runs commands in its session's folder if the
// configuration allows it. Runs on the loop.
// Example: terminal/create {"command":"make"} is answered with {"terminalId":"term_1"}, and
// terminal/wait_for_exit of term_1 with {"exitCode":0,"signal":null} when make ends.

#include "acp/settings.h"
#include "base/scope.h"
#include "json/json.h"
#include "port/process.h"
#include "rpc/peer.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::acp {

class ClientTerminals {
public:
    static constexpr std::size_t terminals_max = 16;
    static constexpr std::size_t output_bytes_max = std::size_t{1} << 20;  // kept for each terminal
    static constexpr std::size_t command_bytes_max = std::size_t{128} << 10;

    // All arguments outlive this.
    ClientTerminals(Settings const& settings, port::Processes& processes, rpc::Peer& rpc)
        : settings_(settings), processes_(processes), rpc_(rpc) {}
    ~ClientTerminals() { close(); }
    ClientTerminals(ClientTerminals const&) = delete;
    ClientTerminals& operator=(ClientTerminals const&) = delete;

    // Writes the member "terminal" of clientCapabilities.
    void offer(json::Writer& out) const;
    // Returns false if the method is not one of these or is not allowed. `folder` is absolute and
    // has no links.
    [[nodiscard]] bool request(std::string const& method, Json const& id, json::View params,
                               std::string const& folder);
    // Ends all terminals and every process that they started.
    void close();

private:
    struct Terminal {
        port::Processes::Number process = 0;
        std::string output;
        std::size_t output_max = output_bytes_max;
        bool truncated = false;
        std::optional<port::ProcessEnd> end = {};
        std::vector<Json> waiting = {};  // wait_for_exit requests without an answer
    };

    void create(Json const& id, json::View params, std::string const& folder);
    void output(Json const& id, Terminal const& terminal);
    void wait(Json const& id, Terminal& terminal);
    void release(Json const& id, std::string const& name);
    void on_output(std::string const& name, std::string_view bytes);
    void on_end(std::string const& name, port::ProcessEnd const& end);
    [[nodiscard]] Result<port::ProcessSpec> spec_of(json::View params,
                                                    std::string const& folder) const;

    Settings const& settings_;
    port::Processes& processes_;
    rpc::Peer& rpc_;
    std::uint64_t last_ = 0;
    std::map<std::string, Terminal> terminals_;
    Scope scope_;
};

}  // namespace dormouse::acp
