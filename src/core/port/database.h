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
    std::string state = {};                    // as in pg_stat_replication, such as "streaming"
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
    // Why only the number of standbys is known; empty: `standbys` is known, too.
    std::string standbys_hidden = {};
};

// Numbers of commits whose answer was lost with the connection, by their result.
struct LostCommits {
    std::uint64_t committed = 0;
    std::uint64_t not_committed = 0;
    std::uint64_t unknown = 0;
};

class Database {
public:
    virtual ~Database() = default;
    // Blocks. May be called by as many threads as OpenedStore::readers() says.
    [[nodiscard]] virtual Result<DatabaseStatus> database_status() = 0;
    // Returns the numbers since the start of this process. Any thread.
    [[nodiscard]] virtual LostCommits lost_commits() const = 0;
};

}  // namespace dormouse::port
