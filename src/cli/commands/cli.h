#pragma once
// The entry point of the command line. It reaches a server over HTTP only; main passes in the
// programs that work on a data directory or a configuration directly (serve, verify, config,
// backup, restore, export, import, compact, rekey, sign), and a local HTTP server (listen).

#include <dormouse/id.h>
#include <dormouse/time.h>

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::cli {

// What a command prints as JSON.
struct AsJson {
    constexpr AsJson(bool all = false) : result(all), errors(all) {}
    constexpr AsJson(bool result_, bool errors_) : result(result_), errors(errors_) {}
    constexpr operator bool() const { return result; }

    bool result;
    bool errors;
};

struct ServeOptions {
    std::string data;       // data directory, never empty
    std::string config;     // configuration file; empty: none
    int ready_fd = -1;      // descriptor to which "ready http://…" and a line break is written; -1:
                            // standard output
    bool insecure = false;  // listen beyond loopback without TLS
    // Values given here override the file; lists are added to those of the file.
    std::optional<std::string> listen;
    std::optional<std::string> store;  // sqlite | memory | postgres://…
    std::vector<std::string> indexes;  // files | redis://…
    std::string key_env = {};          // the variable with the keys of the store
    bool relaxed = false;              // accept a PostgreSQL server that can lose results
    std::vector<std::string> allowed_hosts;
    std::vector<std::string> allowed_origins;
    std::optional<std::string> public_url;  // allowed as Host and Origin
    std::string log_level = "info";         // debug | info | warn | error | off
    std::string log_format = "auto";        // auto (json unless stderr is a terminal) | text | json
    AsJson json = false;                    // why it does not start, as JSON
};

struct VerifyOptions {
    std::string data;                       // data directory, never empty where it is needed
    std::optional<std::string> store = {};  // a postgres:// URL, instead of the directory
    AsJson json = false;
    std::string backup = {};  // a backup, instead of the directory; empty: none
    std::string key = {};     // its key file; empty: none
    bool rebuild = false;  // makes the file index of the directory, or indexes of the archive again
    std::string archive = {};  // a directory of files, instead of the directory; empty: none
    // The variable with the keys of an encrypted store; empty: none.
    std::string key_env = {};
};

struct BackupOptions {
    std::string data;    // data directory, never empty; a server may use it
    std::string target;  // directory; "-": standard output gets a tar archive
    std::string key;     // key file; empty: not encrypted
    AsJson json = false;
};

struct RestoreOptions {
    std::string backup;  // directory, or s3://BUCKET/PREFIX of a continuous copy
    std::string data;    // a directory that is empty or does not exist
    std::string key;     // key file; empty: none
    std::string at;      // a time, such as 2026-11-22T08:00:00Z; empty: the newest state
    AsJson json = false;
};

struct ExportOptions {
    std::string data;                        // never empty where it is needed; a server may use it
    std::optional<std::string> store = {};   // a postgres:// URL, instead of the directory
    std::string project = {};                // empty: all
    std::vector<std::string> sessions = {};  // ids or their beginnings; empty: all of the project
    std::string archive = {};  // a directory of files, instead of a store; empty: none
    std::string key_env = {};  // as VerifyOptions::key_env
    AsJson json = false;       // errors as JSON; the export always is
};

// Moves completed sessions of a store into files.
struct ArchiveOptions {
    std::string data;                       // data directory, never empty where it is needed
    std::optional<std::string> store = {};  // a postgres:// URL, instead of the directory
    std::string directory;                  // of the files
    std::string project = {};               // empty: all
    Time until{};                           // completed at or before this
    std::string key_env = {};               // as VerifyOptions::key_env; encrypts the files, too
    bool plain = false;                     // plain files in spite of the key
    bool dry_run = false;
    AsJson json = false;
    // Deletes the session from the store, if its newest event is still this one; an error says why
    // it is still there. Empty: no server works, so the command opens the store alone.
    std::function<std::expected<void, std::string>(std::string const& session, Seq head)> remove;
};
// The directory of an archive, and as VerifyOptions::key_env.
struct ArchivePlace {
    std::string directory;
    std::string key_env = {};
};
// A session of an archive, as JSON of the API.
struct ArchivedSession {
    std::string session;
    std::vector<std::string> messages;
};
// Removes content from a session in all files of an archive.
struct ArchiveRedaction {
    ArchivePlace place;
    std::string session;                // a unique beginning is enough
    std::vector<std::string> requests;  // bodies of the API, in JSON
    bool dry_run = false;
    bool forks = false;  // the archive need not have the session itself
};
struct ArchivePrograms {
    std::function<int(ArchiveOptions const&)> archive;
    // An error says what is wrong.
    std::function<std::expected<ArchivedSession, std::string>(ArchivePlace const& place,
                                                              std::string const& session)>
        show;
    // Sessions of the project; empty: of all.
    std::function<std::expected<std::vector<std::string>, std::string>(ArchivePlace const& place,
                                                                       std::string const& project)>
        list;
    // An export of the session.
    std::function<std::expected<std::string, std::string>(ArchivePlace const& place,
                                                          std::string const& session)>
        export_one;
    // Returns the answers of the API.
    std::function<std::expected<std::vector<std::string>, std::string>(ArchiveRedaction const&)>
        redact;
};

struct ImportOptions {
    std::string data;                       // data directory, never empty where it is needed
    std::optional<std::string> store = {};  // a postgres:// URL, instead of the directory
    std::string file;                       // "-": standard input
    std::optional<std::string> text = {};   // the export, instead of a file
    bool new_ids = false;
    bool restore_deleted = false;  // completed sessions that were deleted, under their ids
    bool dry_run = false;
    bool start = false;  // also sessions that a server continues at once
    AsJson json = false;
    std::string key_env = {};  // as VerifyOptions::key_env
};

struct CompactOptions {
    std::string data;                       // never empty where it is needed; a server may use it
    std::optional<std::string> store = {};  // a postgres:// URL, instead of the directory
    AsJson json = false;
};

struct UpgradeOptions {
    std::string store;    // a postgres:// URL
    bool finish = false;  // else only says how far the upgrade is
    AsJson json = false;
};

struct RekeyOptions {
    std::string data;                       // data directory that no server uses
    std::string archive = {};               // a directory of files, instead of it; empty: none
    std::optional<std::string> store = {};  // a postgres:// URL, instead of the directory
    std::string key_env = {};               // as VerifyOptions::key_env
    AsJson json = false;
};

struct ConfigOptions {
    std::string what;  // init, check, show, keys, schema; mistakes: as check, without its summary
    std::string path;  // init: where to write, "-" is standard output; check: empty: there is none
    AsJson json = false;
    std::string data = {};  // check: the data directory that serve would use; empty: unknown
};

// A press of a button under a message of slack-bot.
struct SamplePress {
    std::string user = {};    // a [[user]]; empty: the only one with a Slack account
    std::string digest = {};  // of the call's arguments
    bool approves = true;
};

// A delivery to sign as a [[source]] of the configuration does.
struct SampleOptions {
    std::string config;                    // file
    std::string source;                    // its id
    std::optional<std::string> body = {};  // as it is; without it: the outcome of a call
    std::string pending = {};
    std::string reference = {};   // the call's externalRef; empty: none
    std::string output = "null";  // JSON
    std::optional<std::string> error = {};
    std::optional<SamplePress> press = {};  // by Slack instead of a source
    // By the call's own secret instead of a source: the one of this tool, or in this variable.
    std::string tool = {};
    std::string secret_env = {};
    bool only_source = false;  // checks that the source exists, and signs nothing
};
struct SignedDelivery {
    std::string target;  // of the request
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
};
// Why there is none, one reason a line.
using Mistakes = std::vector<std::string>;

// A local HTTP server for what listen forwards.
struct ListenOptions {
    struct Answer {
        int status = 200;
        std::string body = {};  // JSON
    };
    std::uint16_t port = 0;  // of 127.0.0.1; 0: any free one
    std::string path;        // the only path, with its slash
    AsJson json = false;     // errors as JSON
    std::function<void(std::string const& url)> ready;
    std::function<Answer(std::string const& body)> take;  // called for each POST
};

struct Programs {
    std::function<int(ServeOptions const&)> serve;
    std::function<int(VerifyOptions const&)> verify;
    std::function<int(ConfigOptions const&)> config;
    std::function<int(BackupOptions const&)> backup;
    std::function<int(RestoreOptions const&)> restore;
    std::function<int(ExportOptions const&)> export_sessions;
    std::function<int(ImportOptions const&)> import_sessions;
    std::function<int(CompactOptions const&)> compact;
    std::function<int(UpgradeOptions const&)> upgrade;
    std::function<int(RekeyOptions const&)> rekey;
    ArchivePrograms archives;
    std::function<std::expected<SignedDelivery, Mistakes>(SampleOptions const&)> sign;
    // Runs until SIGINT or SIGTERM.
    std::function<int(ListenOptions const&)> listen;
    std::string version;
};

// Parses the arguments, runs one command and returns the exit status. Called once, on the main
// thread.
[[nodiscard]] int run(int argc, char** argv, Programs const& programs);

}  // namespace dormouse::cli
