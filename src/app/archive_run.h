#pragma once
// Moves completed sessions of a store into the files of an archive. Blocks.

#include "port/store.h"
#include "store/sealed/master_keys.h"

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/time.h>

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::app {

struct ArchivePlan {
    std::string directory;
    std::string project = {};  // empty: all
    Time until{};              // completed at or before this
    bool plain = false;        // plain files in spite of keys
    bool dry_run = false;
    std::uint32_t sessions_max = 1'000'000;  // oldest first
    std::set<SessionId> skipped = {};        // those that stay
    // Deletes a session that is in a file from the store, if its newest event is still this one; an
    // error says why it is still there. Not called by a dry run.
    std::function<std::expected<void, std::string>(SessionId session, Seq head)> remove;
    // Returns true if no further session is to be moved. Any thread.
    std::function<bool()> stopped;
};

struct ArchiveReport {
    std::uint64_t archived = 0;
    std::uint64_t bytes = 0;   // of new files
    std::uint64_t before = 0;  // sessions that were in the archive already
    std::uint64_t deleted = 0;
    std::vector<std::pair<SessionId, std::string>> left = {};  // and why they stay in the store
    bool refused = false;                                      // a deletion failed
    std::vector<std::string> failed = {};  // files that have content that was redacted, and why
};

// `keys`: of encrypted files; the first one encrypts new ones. Errors: those of the directory and
// of the store; what was written before stays. First, copies of sessions that the store has, and
// that were redacted since, are removed from the files.
[[nodiscard]] Result<ArchiveReport> archive_completed(port::Store& store, ArchivePlan const& plan,
                                                      std::optional<store::MasterKeys> const& keys);

// Removes such copies from the files, and says so in the report. For sessions that could not be
// deleted: one may have been redacted after it was read. `store`: what it has now. Errors as above.
[[nodiscard]] Result<void> check_archived(port::Store& store, std::string const& directory,
                                          std::optional<store::MasterKeys> const& keys,
                                          ArchiveReport& report);

}  // namespace dormouse::app
