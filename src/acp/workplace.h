#pragma once
// What a program may ask of us while it works, as far as the configuration lets it: text files of
// the folder of its session, and terminals in it (fs/… and terminal/… of ACP). On the loop.

#include "acp/settings.h"
#include "json/json.h"
#include "port/process.h"
#include "rpc/peer.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::acp {

inline constexpr int code_not_found = -32002;  // of ACP: a file, a terminal, a session

class Workplace {
public:
    static constexpr std::size_t file_bytes_max = std::size_t{8} << 20;
    static constexpr std::size_t files_open_max = 32;  // asked for and not answered
    static constexpr std::size_t terminals_max = 16;
    static constexpr std::size_t output_bytes_max = std::size_t{1} << 20;  // kept of a terminal
    static constexpr std::size_t command_bytes_max = std::size_t{128} << 10;

    // All outlive this.
    Workplace(Settings const& settings, port::Processes& processes, rpc::Peer& rpc)
        : settings_(settings), processes_(processes), rpc_(rpc) {}
    ~Workplace() { close(); }
    Workplace(Workplace const&) = delete;
    Workplace& operator=(Workplace const&) = delete;

    // As initialize tells it: the members fs and terminal of clientCapabilities.
    void offer(json::Writer& out) const;
    // False: this is none of its methods, or not allowed. `folder`: absolute, without links.
    [[nodiscard]] bool request(std::string const& method, Json const& id, json::View params,
                               std::string const& folder);
    // What a terminal shows now; empty: there is none.
    [[nodiscard]] std::string shown(std::string const& terminal) const;
    // Ends all terminals, with everything that they started.
    void close();

private:
    using Id = Json const&;
    struct Terminal {
        port::Processes::Number process = 0;
        std::string output;
        std::size_t output_max = output_bytes_max;
        bool truncated = false;
        std::optional<port::ProcessEnd> end = {};
        std::vector<Json> waiting = {};  // requests that are answered with its end
    };

    void read_file(Id id, json::View params, std::string const& folder);
    void write_file(Id id, json::View params, std::string const& folder);
    void create(Id id, json::View params, std::string const& folder);
    void output(Id id, Terminal const& terminal);
    void wait(Id id, Terminal& terminal);
    void release(Id id, std::string const& name);
    void on_output(std::string const& name, std::string_view bytes);
    void on_end(std::string const& name, port::ProcessEnd const& end);
    void refuse(Id id, std::string const& why);
    void refuse(Id id, Error const& error);
    [[nodiscard]] Result<port::ProcessSpec> spec_of(json::View params,
                                                    std::string const& folder) const;

    Settings const& settings_;
    port::Processes& processes_;
    rpc::Peer& rpc_;
    std::size_t files_open_ = 0;
    std::uint64_t last_ = 0;
    std::map<std::string, Terminal> terminals_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::acp
