#pragma once
// Writes whole sessions of a store as lines. Reads only; other processes may use the store.

#include "port/store.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::runner {

struct ExportChoice {
    std::string project;                  // empty: of all projects
    std::vector<std::string> names = {};  // ids or their unique beginnings; empty: all
    std::string release = {};
    Time at{};
};

struct ExportReport {
    std::uint64_t sessions = 0;
    std::uint64_t events = 0;
    std::vector<std::string> left_out = {};  // session and why: it cannot be read
};

// `line` gets each line without its line break; an error from it ends the export. Errors: not_found
// or bad_value for a name, and those of the store. REQUIRES: all reads of `store` have one view of
// the data.
using TransferSink = std::function<Result<void>(std::string line)>;
[[nodiscard]] Result<ExportReport> export_sessions(port::Store& store, ExportChoice const& choice,
                                                   TransferSink const& line);

// Sessions of a store one by one. REQUIRES: as above.
class SessionExport {
public:
    [[nodiscard]] static Result<SessionExport> open(port::Store& store);
    // The lines of one session, from its first to its last. Errors concern the session, except
    // store_unavailable.
    [[nodiscard]] Result<std::vector<std::string>> lines(port::SessionRow const& row) const;

private:
    using OutboxRows = std::map<SessionId, std::vector<port::OutboxRow>>;
    SessionExport(port::Store& store, OutboxRows undelivered)
        : store_(&store), outbox_(std::move(undelivered)) {}

    port::Store* store_;
    OutboxRows outbox_;  // that wait, by sender
};

// The last line of an export.
[[nodiscard]] std::string end_line(std::uint64_t sessions, std::uint64_t events);

}  // namespace dormouse::runner
