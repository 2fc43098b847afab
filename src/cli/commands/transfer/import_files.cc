// import files: what `serve --index files` wrote, as new sessions and calls.

#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/url.h"
#include "cli/commands/commands.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <vector>

namespace dormouse::cli {
namespace {

namespace fs = std::filesystem;

struct StoredCall {
    std::string id;
    Json file;
    std::int64_t created = 0;
};
// Calls by session, oldest first.
using Calls = std::map<std::string, std::vector<StoredCall>>;

// The member of the file that must be a text; empty: it is none.
std::string member(Json const& file, std::string_view name) {
    return json::View(file)[name].string_or("");
}

// Creates waiting calls again, with the same question and a new id. Settled calls become the
// messages of a session. Each call is sent under a key made from its id, so that an import can be
// repeated.
class FilesImport {
public:
    FilesImport(Context const& context, Client* client, std::string agent)
        : context_(context), client_(client), agent_(std::move(agent)) {}

    void read_calls(fs::path const& folder);
    Outcome<void> take_sessions(fs::path const& folder);
    [[nodiscard]] int end() const;

private:
    [[nodiscard]] std::optional<Json> read(fs::path const& path);
    void name(std::string_view what, std::string const& which);
    Outcome<void> take(Json const& session);
    Outcome<void> add_history(Json const& session, std::vector<StoredCall> const& calls);
    Outcome<void> add_waiting(std::string const& project, StoredCall const& call);
    Outcome<std::string> send(std::string const& id, std::string const& target, Json const& body,
                              std::string_view made);

    Context const& context_;
    Client* client_;  // null in a dry run
    std::string agent_;
    Calls calls_;
    int sessions_ = 0, waiting_ = 0, known_ = 0, named_ = 0;
};

void FilesImport::name(std::string_view what, std::string const& which) {
    ++named_;
    context_.err << what << ": " << escape_for_terminal(which) << '\n';
}

// nullopt: the file is named as one that cannot be read.
std::optional<Json> FilesImport::read(fs::path const& path) {
    std::error_code none;
    bool const regular = fs::symlink_status(path, none).type() == fs::file_type::regular;
    auto const text = regular ? file_text(path.string()) : failure(status::usage, "not a file");
    auto const json = text ? Json::parse(*text) : std::unexpected(Error{});
    bool const same = json && member(*json, "id") == path.stem().string();
    if (same) return *json;
    name("cannot be read", path.string());
    return std::nullopt;
}

std::vector<fs::path> files_in(fs::path const& folder, std::string_view prefix) {
    std::vector<fs::path> out;
    std::error_code none;
    for (auto const& entry : fs::directory_iterator(folder, none)) {
        auto const name = entry.path().filename().string();
        if (name.starts_with(prefix) && name.ends_with(".json")) out.push_back(entry.path());
    }
    std::ranges::sort(out);
    return out;
}

void FilesImport::read_calls(fs::path const& folder) {
    for (fs::path const& path : files_in(folder, "pnd_")) {
        auto const file = read(path);
        if (!file) continue;
        auto const created = json::View(*file)["time"]["created"].integer_or(0);
        calls_[member(*file, "sessionID")].push_back({path.stem().string(), *file, created});
    }
    for (auto& [session, calls] : calls_) std::ranges::stable_sort(calls, {}, &StoredCall::created);
}

Outcome<void> FilesImport::take_sessions(fs::path const& folder) {
    std::error_code none;
    std::vector<fs::path> projects;
    for (auto const& entry : fs::directory_iterator(folder, none)) projects.push_back(entry.path());
    std::ranges::sort(projects);
    for (fs::path const& project : projects) {
        for (fs::path const& path : files_in(project, "ses_")) {
            auto const session = read(path);
            if (!session) continue;
            if (auto taken = take(*session); !taken) return taken;
        }
    }
    return {};
}

Outcome<void> FilesImport::take(Json const& session) {
    auto const found = calls_.find(member(session, "id"));
    if (found == calls_.end()) return {};
    if (auto added = add_history(session, found->second); !added) return added;
    for (StoredCall const& call : found->second) {
        if (member(call.file, "status") != "waiting") continue;
        auto added = add_waiting(member(session, "projectID"), call);
        if (!added) return added;
    }
    return {};
}

// One message of the agent for each settled call.
void add_message(json::Writer& out, StoredCall const& call) {
    json::View const file(call.file);
    out.begin_object().member("role", "assistant").member("at", call.created);
    out.key("parts").begin_array().begin_object().member("type", "tool");
    out.member("callID", file["callID"].string_or("call"))
        .member("tool", file["tool"].string_or("?"));
    out.member_raw("input", file["input"].exists() ? file["input"].raw() : "{}");
    if (file["result"].exists())
        out.member_raw("output",
                       file["result"]["output"].exists() ? file["result"]["output"].raw() : "null");
    else
        out.member("error", file["error"].string_or("unknown"));
    out.end_object().end_array().end_object();
}

Outcome<void> FilesImport::add_history(Json const& session, std::vector<StoredCall> const& calls) {
    json::Writer out;
    std::string const own = member(session, "agentID");
    out.begin_object().member("agentID", agent_.empty() ? own : agent_);
    if (auto const title = member(session, "title"); !title.empty()) out.member("title", title);
    out.key("messages").begin_array();
    bool any = false;
    for (StoredCall const& call : calls) {
        if (member(call.file, "status") == "waiting") continue;
        any = true;
        add_message(out, call);
    }
    Json const body = out.end_array().end_object().json();
    if (!any || (own == "none" && agent_.empty())) return {};
    ++sessions_;
    auto const target = "/api/projects/" + percent_encode(member(session, "projectID")) + "/import";
    auto const sent = send(member(session, "id"), target, body, "id");
    return sent ? Outcome<void>() : std::unexpected(sent.error());
}

Outcome<void> FilesImport::add_waiting(std::string const& project, StoredCall const& call) {
    json::View const file(call.file);
    json::Writer out;
    out.begin_object().member("question", file["tool"].string_or("?")).member("kind", "result");
    out.member("tool", file["tool"].string_or("?"));
    if (file["input"].kind() == json::Kind::object)
        out.member_raw("arguments", file["input"].raw());
    for (std::string_view const same : {"externalRef", "webhookURL"})
        if (auto const text = file[same].string_or(""); !text.empty()) out.member(same, text);
    if (auto const until = file["timeout"].integer())
        out.member("withinMs", std::max<std::int64_t>(1'000, *until - to_ms(context_.now())));
    ++waiting_;
    auto const target = "/api/pending?project=" + percent_encode(project);
    auto const sent = send(call.id, target, out.end_object().json(), "pendingID");
    return sent ? Outcome<void>() : std::unexpected(sent.error());
}

// Prints the old and the new id. `made`: the member of the answer with the new one.
Outcome<std::string> FilesImport::send(std::string const& id, std::string const& target,
                                       Json const& body, std::string_view made) {
    if (!client_) {
        context_.out << id << '\n';
        return std::string();
    }
    auto const reply = client_->post_as("import-files-" + id, target, body);
    if (reply) {
        if (reply->status == 200) ++known_;
        auto now = member(reply->body, made);
        context_.out << id << "  " << escape_for_terminal(now) << '\n';
        return now;
    }
    auto const code = code_of(reply.error());
    // The time until the deadline is another one, or the session has more calls by now.
    if (code == "idempotency_mismatch") {
        ++known_;
        return std::string();
    }
    bool const refused =
        code == "bad_value" || code == "too_large" || code == "session_gone" || code == "not_found";
    if (!refused) return std::unexpected(reply.error());
    name("not imported (" + reply.error().what + ")", id);
    return std::string();
}

int FilesImport::end() const {
    context_.err << (client_ ? "imported " : "would import ") << counted(sessions_, "session")
                 << " with settled calls and " << counted(waiting_, "waiting call") << "; "
                 << known_ << " were there already, " << named_ << " not readable or refused\n";
    return named_ > 0 ? status::failed : status::done;
}

}  // namespace

Outcome<int> import_files(Context const& context, std::string const& folder,
                          std::string const& agent, bool dry_run) {
    fs::path const storage = fs::path(folder) / "storage";
    std::error_code none;
    if (!fs::is_directory(storage / "pending_tool", none))
        return failure(status::not_found, folder + " has no storage/pending_tool",
                       "DIR is a data directory of `dormouse serve --index files`.");
    std::optional<Client> client;
    if (!dry_run) {
        auto connected = context.connect();
        if (!connected) return std::unexpected(connected.error());
        client.emplace(*std::move(connected));
    }
    FilesImport import(context, client ? &*client : nullptr, agent);
    import.read_calls(storage / "pending_tool");
    if (auto taken = import.take_sessions(storage / "session"); !taken)
        return std::unexpected(taken.error());
    return import.end();
}

}  // namespace dormouse::cli
