#pragma once
// Reads sessions that opencode has stored: an exported file, its database, or its older tree of
// files. Reads only sessions, messages and parts; its account data is never opened.

#include <dormouse/error.h>

#include "json/json.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::opencode {

// Ids come from outside the data, where they may be missing or stale.
struct Part {
    std::string id;
    Json data;
};
struct Message {
    std::string id;
    std::int64_t created = 0;
    Json data;
    std::vector<Part> parts = {};
};
struct Session {
    std::string id;
    std::string title = {};
    std::string directory = {};
    std::int64_t created = 0;
    std::vector<Message> messages = {};  // oldest first
    std::string program = "opencode";    // whose session it is
};

// Receives the results: the sessions one by one, and the names of what cannot be read.
struct Found {
    std::function<void(Session)> session;
    std::function<void(std::string const& what)> unreadable;
};

// Reads a file or a folder. Errors: bad_value if it contains no sessions of opencode.
[[nodiscard]] Result<void> read(std::string const& path, Found const& found);

// Reads the exported form: {info, messages: [{info, parts}]}.
[[nodiscard]] Result<Session> read_export(Json const& exported);
[[nodiscard]] Result<void> read_database(std::string const& file, Found const& found);
[[nodiscard]] Result<void> read_tree(std::string const& storage, Found const& found);

// The body of POST /api/projects/{project}/import.
struct ImportBody {
    Json json;
    std::size_t files = 0;                   // files with their bytes
    std::vector<std::string> left_out = {};  // files without their bytes, each with the reason
};
[[nodiscard]] ImportBody import_body(Session const& session, std::string_view agent);

// Sorts by time, then id. Ids alone have no order, because their clock wraps.
void sort_messages(Session& session);

}  // namespace dormouse::opencode
