#pragma once
// The database server below a store, as an operator sees it.

#include <dormouse/error.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::port {

// A server that receives the changes of the database.
struct Standby {
    std::string name = {};
    std::string state = {};                    // "streaming", or how far it is from that
    std::string sync = {};                     // "async", "sync", "quorum" or "potential"
    std::optional<std::uint64_t> behind = {};  // bytes that it has not stored yet; nullopt: unknown
    friend bool operator==(Standby const&, Standby const&) = default;
};

struct DatabaseStatus {
    std::string version = {};
    bool primary = true;                    // false: a standby
    bool fsync = true;                      // commits reach the disk
    std::string synchronous_commit = {};    // the setting of this name
    std::string synchronous_standbys = {};  // synchronous_standby_names
    std::vector<Standby> standbys = {};     // the first ones
    std::uint64_t standby_count = 0;
    // Why nothing but their number is known of standbys; empty: they are known.
    std::string standbys_hidden = {};
};

// What became of commits whose answer was lost with the connection.
struct LostCommits {
    std::uint64_t committed = 0;
    std::uint64_t not_committed = 0;
    std::uint64_t unknown = 0;
};

class Database {
public:
    virtual ~Database() = default;
    // Blocks. May be called by as many threads as JournalStore::readers() says.
    [[nodiscard]] virtual Result<DatabaseStatus> database_status() = 0;
    // Since the start of this process. Any thread.
    [[nodiscard]] virtual LostCommits lost_commits() const = 0;
};

}  // namespace dormouse::port
