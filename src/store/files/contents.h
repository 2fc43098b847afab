#pragma once
// The contents of index.json. Pure.

#include "port/index.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::store::files {

struct CallEntry {
    port::PendingStatus status = port::PendingStatus::waiting;
    std::optional<Time> expires = {};
    friend bool operator==(CallEntry const&, CallEntry const&) = default;
};

// All calls in order, so that those of a session follow each other.
struct Contents {
    std::map<PendingId, CallEntry> calls = {};
    std::string position = {};  // see port::IndexBatch
    friend bool operator==(Contents const&, Contents const&) = default;
};

// {"bySession","byStatus","byExpiration","position","digest"}: the digest is that of the text
// before it, so that a file that is damaged or changed by others is known.
[[nodiscard]] std::string text_of(Contents const& contents);
// Returns the delay of a write after a change: a constant number of bytes a second at most, for any
// number of calls.
[[nodiscard]] Duration write_within(Contents const& contents);
// nullopt: not such a text.
[[nodiscard]] std::optional<Contents> parse_contents(std::string_view text);

// The name of a project's folder: letters, digits, "-", "_" and "." stay, other bytes and a "." at
// the start become %XX; a name that would be too long is its digest.
[[nodiscard]] std::string folder_of(std::string_view project);

}  // namespace dormouse::store::files
