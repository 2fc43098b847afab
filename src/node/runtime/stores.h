#pragma once
// Opens the store that a setting names.

#include "port/audit_ends.h"
#include "port/data_keys.h"
#include "port/database.h"
#include "port/rewriter.h"
#include "port/shared_store.h"
#include "port/store.h"
#include "store/sealed/master_keys.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::store::sqlite {
class Changes;
}

namespace dormouse::runtime {

struct StoreChoice {
    // A directory, created if it does not exist; ":memory:" stores nothing; or the URL of a
    // PostgreSQL database: postgres://USER@HOST:PORT/DATABASE?schema=NAME.
    std::string place;
    std::string release = {};      // named to a process that finds the database in use
    bool relaxed = false;          // accept a server that can lose acknowledged results
    std::optional<Time> now = {};  // to compare with the server's clock
    bool shared = false;           // other processes may use the database too
    port::Signal signal = port::Signal::notify;  // of a shared database
    // Shared databases: digest in hex of the settings that all processes must have in common.
    std::string config = {};
    // Directories: the changes that a continuous copy reads.
    std::shared_ptr<store::sqlite::Changes> changes = {};
    // Shared databases: the name of this process, also after a restart; empty: as its machine. No
    // process that works may have the same name, unless it is that of the machine.
    std::string node = {};
    // Encrypt the contents; nullopt: they are not encrypted.
    std::optional<store::MasterKeys> keys = {};
};

struct OpenedStore {
    std::unique_ptr<port::Store> store;
    port::SharedStore* shared = nullptr;  // the same store, if other processes use it too
    // Carries the messages between the processes; null: the store does.
    std::unique_ptr<port::Channel> channel = {};
    std::string config = {};  // as chosen
    std::string node = {};    // names this process among those that share the database
    // Shared databases: the time of their clock when io::boot_time() was 0.
    std::optional<Time> clock_at_boot = {};
    std::vector<std::string> warnings = {};  // for the administrator
    // Shared databases: finds the token, link or cookie with this digest. Any thread; blocks.
    std::function<Result<std::optional<port::TokenRow>>(Sha256 const&)> find_token = {};
    port::Database* database = nullptr;        // below the store; null: there is no server
    port::AuditEnds* audit_ends = nullptr;     // of the store; null: it loses no lines
    port::RemovedContents* removed = nullptr;  // of the store; null: it has no files
    // Not empty: the store is a restored copy that holds. Ends that for later starts; blocks.
    std::function<Result<void>()> release = {};
};

// No error contains a password. wrong_state: the contents are encrypted with another key than
// `keys`, or a process that works on the shared database has
// another configuration. To tell such a process from one that was killed takes 6 s.
[[nodiscard]] Result<OpenedStore> open_store(StoreChoice const& choice);

// Returns `store` with its contents decrypted, or unchanged if they are not encrypted. `keys`: of
// the same object. Errors: wrong_state (the contents are encrypted with another key, or there is no
// key), internal (a data key is damaged). Writes nothing before the first call that writes.
[[nodiscard]] Result<std::shared_ptr<port::Store>> readable(
    std::shared_ptr<port::Store> store, port::DataKeyStore& keys,
    std::optional<store::MasterKeys> const& masters);

[[nodiscard]] bool is_database(std::string_view place);
// Checks that the URL can be opened. REQUIRES: is_database(url).
[[nodiscard]] Result<void> check_database(std::string const& url);
// The URL without user, password and connection parameters, for people. Any other place is
// returned as it is.
[[nodiscard]] std::string shown_place(std::string const& place);

}  // namespace dormouse::runtime
