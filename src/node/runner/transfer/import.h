#pragma once
// Writes whole sessions from the lines of an export into a store that nobody else uses. Each
// session is checked completely before anything of it is written, and appears as a whole.

#include "port/store.h"
#include "runner/transfer/portable.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace dormouse::runner {

// Functions of the store for sessions that would start effects. Never empty.
struct ImportGuard {
    // Called before the first session with outstanding work is written: the store must hold from
    // now on. An error refuses the session.
    std::function<Result<void>()> hold;
    // The next process that opens the store must have a larger epoch. An error refuses the session.
    std::function<Result<void>(Epoch)> outlive;
};

// The treatment of a session that was deleted in the store.
enum class Deleted : std::uint8_t {
    refused,
    restored,  // under its id, if it is completed and has nothing to do
};

struct ImportOptions {
    bool new_ids = false;
    bool dry_run = false;
    std::string by;  // for the audit: who imports
    Time at{};
    Deleted deleted = Deleted::refused;
};

struct ImportedSession {
    SessionId was;
    SessionId now;
    std::string error = {};  // nothing of it was written; empty: it is there
    bool before = false;     // it was there already
    bool holds = false;      // it has outstanding work
};

struct ImportReport {
    std::uint64_t imported = 0;
    std::uint64_t before = 0;
    std::uint64_t refused = 0;
    std::uint64_t holding = 0;
    // The lines ended without the last one: whole sessions before were imported.
    bool cut_off = false;
};

// The next line without its line break; nullopt: the end. `too_long`: the line has more than
// transfer_line_bytes_max, and is skipped.
struct TransferLine {
    std::string text;
    bool too_long = false;
};
using TransferSource = std::function<Result<std::optional<TransferLine>>()>;

// `each` gets each session after it is written or refused. Errors: the first line is not that of an
// export, or the store failed.
[[nodiscard]] Result<ImportReport> import_sessions(
    port::Store& store, TransferSource const& next, ImportOptions const& options,
    ImportGuard const& guard, std::function<void(ImportedSession const&)> const& each);

}  // namespace dormouse::runner
