#pragma once
// Sessions of opencode, as it has kept them: an exported file, its database, its older tree of
// files. Only sessions, messages and parts are read: what it keeps of accounts is never opened.

#include <dormouse/error.h>

#include "json/json.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::opencode {

// Ids stand outside of the data: there they may be missing, or stale.
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
};

// What becomes of what is found: sessions one after the other, and what can not be read, named.
struct Found {
    std::function<void(Session)> session;
    std::function<void(std::string const& what)> unreadable;
};

// A file or a folder. Errors: bad_value when it holds no sessions of opencode.
[[nodiscard]] Result<void> read(std::string const& path, Found const& found);

// The exported form: {info, messages: [{info, parts}]}.
[[nodiscard]] Result<Session> read_export(Json const& exported);
[[nodiscard]] Result<void> read_database(std::string const& file, Found const& found);
[[nodiscard]] Result<void> read_tree(std::string const& storage, Found const& found);

// The body of POST /api/projects/{project}/import.
struct ImportBody {
    Json json;
    std::size_t files = 0;                   // whose bytes are in it
    std::vector<std::string> left_out = {};  // files whose bytes are not, each with the reason
};
[[nodiscard]] ImportBody import_body(Session const& session, std::string_view agent);

// By time, then id: ids alone are in no order (their clock wraps).
void sort_messages(Session& session);

}  // namespace dormouse::opencode
