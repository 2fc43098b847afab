#pragma once
// Checks all pages of GET /api/audit for `audit --verify`. Pure.

#include "json/json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::cli {

class AuditCheck {
public:
    // Adds the next page. The pages have no filter; they go from the newest lines to the oldest.
    void add(json::View page);

    struct Line {
        std::uint64_t number = 0;
        std::string hash = {};
    };
    struct Report {
        std::int64_t lines = 0;
        std::vector<Line> newest = {};  // of each server's chain
        std::vector<std::string> findings = {};
    };
    [[nodiscard]] Report report() const;

private:
    // The lines of one server.
    struct Chain {
        Line newest = {};
        std::uint64_t oldest = 0;
        std::string text = {};              // of the oldest line
        std::string hash = {};              // of the oldest line
        std::optional<bool> verified = {};  // of the oldest line; nullopt: nothing is before it
    };

    void add_line(json::View line);
    void check_beginnings(Report& out) const;
    void check_ends(Report& out) const;

    std::int64_t lines_ = 0;
    std::int64_t unreadable_ = 0;
    std::map<std::uint64_t, Chain> chains_;
    std::map<std::uint64_t, std::string> removed_;  // the hash of the last of removed lines
    std::vector<std::uint64_t> written_;            // the newest line that each server ever wrote
    std::vector<std::string> changed_;
};

}  // namespace dormouse::cli
