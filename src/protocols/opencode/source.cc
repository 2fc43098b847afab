#include "opencode/source.h"

#include "opencode/files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace dormouse::opencode {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t export_bytes_max = std::uintmax_t{256} << 20;

bool is_database(fs::path const& file) {
    std::ifstream in(file, std::ios::binary);
    std::string head(16, '\0');
    in.read(head.data(), 16);
    return in && head.starts_with("SQLite format 3");
}

Result<void> read_export_file(fs::path const& file, Found const& found) {
    std::error_code error;
    if (!fs::is_regular_file(file, error))
        return fail(Code::bad_value, file.string() + " is neither a file nor a folder");
    if (fs::file_size(file, error) > export_bytes_max)
        return fail(Code::too_large, file.string() + " is larger than 256 MiB");
    std::ifstream in(file, std::ios::binary);
    std::string const text{std::istreambuf_iterator<char>(in), {}};
    auto const value = json::check(text);
    if (!value) return fail(Code::bad_value, file.string() + ": " + value.error().detail);
    auto session = read_export(*value);
    if (!session) return fail(Code::bad_value, file.string() + ": " + session.error().detail);
    found.session(*std::move(session));
    return {};
}

std::string written(std::int64_t ms) { return std::to_string(std::max<std::int64_t>(ms, 0)); }

// Returns {"type", …} in the server's form; empty: nothing visible.
std::string part_of(Part const& part) {
    json::View const data(part.data);
    auto const type = data["type"].string_or("");
    json::Writer out;
    out.begin_object();
    if (type == "text" || type == "reasoning") {
        auto const text = data["text"].string_or("");
        if (text.empty() || data["ignored"].boolean_or(false)) return {};
        return out.member("type", type).member("text", text).end_object().take();
    }
    if (type == "subtask") {
        auto const text = data["prompt"].string_or("");
        return out.member("type", "text").member("text", text).end_object().take();
    }
    if (type != "tool") return {};
    auto const state = data["state"];
    auto const status = state["status"].string_or("");
    out.member("type", "tool").member("tool", data["tool"].string_or("tool"));
    out.member("callID", data["callID"].string_or(part.id));
    out.member_raw("input", state["input"].exists() ? state["input"].raw() : "{}");
    if (status == "completed") {
        out.member_raw("output", state["output"].exists() ? state["output"].raw() : "null");
    } else {
        out.member("error", state["error"].string_or("It had not ended."));
    }
    return out.end_object().take();
}

}  // namespace

void sort_messages(Session& session) {
    std::ranges::sort(session.messages, {}, [](Message const& message) {
        return std::pair(message.created, std::string_view(message.id));
    });
}

Result<Session> read_export(Json const& exported) {
    json::View const all(exported);
    auto const info = all["info"];
    auto const id = info["id"].string();
    if (!id || all["messages"].kind() != json::Kind::array) {
        return fail(Code::bad_value,
                    "this is no `opencode export`: it has no info.id, or no messages");
    }
    Session session{.id = *id,
                    .title = info["title"].string_or(""),
                    .directory = info["directory"].string_or(""),
                    .created = info["time"]["created"].integer_or(0)};
    all["messages"].elements([&](json::View each) {
        auto const about = each["info"];
        Message message{.id = about["id"].string_or(""),
                        .created = about["time"]["created"].integer_or(0),
                        .data = about.exists() ? about.copy() : Json()};
        each["parts"].elements([&](json::View part) {
            message.parts.push_back({part["id"].string_or(""), part.copy()});
        });
        session.messages.push_back(std::move(message));
    });
    sort_messages(session);
    return session;
}

namespace {

// Collects the parts of one message, with the files of the message and of its tools.
class Parts {
public:
    Parts(Files& files, ImportBody& body, std::string where)
        : files_(files), body_(body), where_(std::move(where)) {
        files_.next_message();
    }
    void add(Part const& part) {
        json::View const data(part.data);
        if (data["type"].string_or("") == "file") return add_file(data);
        if (auto text = part_of(part); !text.empty()) all.push_back(std::move(text));
        data["state"]["attachments"].elements([&](json::View file) { add_file(file); });
    }

    std::vector<std::string> all;

private:
    void add_file(json::View file) {
        std::string why;
        all.push_back(files_.part_of(file, why));
        bool const has_bytes = file["url"].string_or("").starts_with("data:");
        if (has_bytes && why.empty()) ++body_.files;
        if (why.empty()) return;
        body_.left_out.push_back(file["filename"].string_or(file["mime"].string_or("a file")) +
                                 " of " + where_ + " (" + why + ")");
    }

    Files& files_;
    ImportBody& body_;
    std::string where_;
};

}  // namespace

ImportBody import_body(Session const& session, std::string_view agent) {
    ImportBody body;
    Files files;
    json::Writer out;
    out.begin_object().member("agentID", agent).member("title", session.title.substr(0, 200));
    out.member("source", session.program + ":" + session.id);
    if (!session.directory.empty()) out.member("cwd", session.directory);
    out.key("messages").begin_array();
    for (Message const& message : session.messages) {
        Parts parts(files, body, "message " + message.id + " in session " + session.id);
        for (Part const& part : message.parts) parts.add(part);
        if (parts.all.empty()) continue;
        bool const user = json::View(message.data)["role"].string_or("") == "user";
        out.begin_object().member("role", user ? "user" : "assistant");
        out.member_raw("at", written(message.created)).key("parts").begin_array();
        for (std::string const& part : parts.all) out.raw(part);
        out.end_array().end_object();
    }
    body.json = out.end_array().end_object().json();
    return body;
}

Result<void> read(std::string const& path, Found const& found) {
    std::error_code error;
    fs::path const place(path);
    if (!fs::exists(place, error)) return fail(Code::not_found, "there is no " + path);
    if (!fs::is_directory(place, error)) {
        return is_database(place) ? read_database(path, found) : read_export_file(place, found);
    }
    bool any = false;
    if (fs::exists(place / "opencode.db", error)) {
        any = true;
        if (auto done = read_database((place / "opencode.db").string(), found); !done) return done;
    }
    for (fs::path const& storage : {place / "storage", place}) {
        if (!fs::is_directory(storage / "session", error)) continue;
        return read_tree(storage.string(), found);
    }
    if (any) return {};
    return fail(Code::bad_value, path + " holds neither opencode.db nor storage/session");
}

}  // namespace dormouse::opencode
