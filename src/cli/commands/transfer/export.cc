// export: whole sessions from a store; with --events, events and artifacts from a server.

#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/url.h"
#include "cli/client/resolve.h"
#include "cli/commands/commands.h"

#include <ostream>
#include <vector>

namespace dormouse::cli {
namespace {

constexpr int export_format = 1;

// Each line is one JSON object; its `type` says what it holds.
class Export {
public:
    Export(Context const& context, Client& client) : context_(context), client_(client) {}

    void begin() {
        json::Writer out;
        out.begin_object().member("type", "export").member("format", export_format);
        out.member("product", "dormouse").member("release", context_.programs.version);
        line(out.member("at", to_ms(wall_clock())).end_object().take());
    }

    [[nodiscard]] Outcome<void> add(std::string const& id) {
        auto const session = client_.get("/api/sessions/" + id);
        if (!session) return std::unexpected(session.error());
        json::Writer out;
        out.begin_object().member("type", "session").member("session", session->body);
        line(out.end_object().take());
        std::vector<std::string> artifacts;
        auto const read =
            stored_events(client_, "/api/sessions/" + id + "/events", 0, [&](json::View event) {
                add_event(event);
                if (event["type"].string_or("") == "artifact_emitted")
                    artifacts.push_back(event["data"]["artifactID"].string_or(""));
            });
        if (!read) return std::unexpected(read.error());
        for (std::string const& artifact : artifacts)
            if (auto added = add_artifact(id, artifact); !added) return added;
        ++sessions_;
        return {};
    }

    // Without this line the export was cut off.
    void end() {
        json::Writer out;
        out.begin_object().member("type", "end").member("sessions", sessions_);
        line(out.member("events", events_).end_object().take());
    }

    [[nodiscard]] std::int64_t sessions() const { return sessions_; }
    [[nodiscard]] std::int64_t events() const { return events_; }

private:
    void line(std::string const& text) { context_.out << text << '\n'; }

    void add_event(json::View event) {
        json::Writer out;
        out.begin_object().member("type", "event").member_raw("event", event.raw());
        line(out.end_object().take());
        ++events_;
    }

    [[nodiscard]] Outcome<void> add_artifact(std::string const& session, std::string const& id) {
        auto const bytes = client_.bytes("/api/artifacts/" + percent_encode(id));
        // Retention has removed it, or a fork names one of its original.
        if (!bytes && bytes.error().exit == status::not_found) return {};
        if (!bytes) return std::unexpected(bytes.error());
        std::span const octets(reinterpret_cast<std::uint8_t const*>(bytes->data()), bytes->size());
        json::Writer out;
        out.begin_object().member("type", "artifact").member("sessionID", session);
        out.member("artifactID", id).member("data", base64(octets)).end_object();
        line(out.take());
        return {};
    }

    Context const& context_;
    Client& client_;
    std::int64_t sessions_ = 0;
    std::int64_t events_ = 0;
};

// All sessions of the project, newest first.
Outcome<std::vector<std::string>> ids_of_project(Context const& context, Client& client) {
    std::vector<std::string> out;
    auto const list = "/api/projects/" + percent_encode(context.global.project) + "/sessions";
    for (std::string cursor;;) {
        auto const page = client.get(list + "?limit=200" +
                                     (cursor.empty() ? "" : "&cursor=" + percent_encode(cursor)));
        if (!page) return std::unexpected(page.error());
        json::View const body(page->body);
        body["items"].elements([&](json::View one) { out.push_back(one["id"].string_or("")); });
        cursor = body["next"].string_or("");
        if (cursor.empty()) return out;
    }
}

Outcome<std::vector<std::string>> named_ids(Context const& context, Client& client,
                                            std::vector<std::string> const& names) {
    if (names.empty()) return ids_of_project(context, client);
    std::vector<std::string> out;
    for (std::string const& name : names) {
        auto id = resolve_session(client, context.global.project, name);
        if (!id) return std::unexpected(id.error());
        out.push_back(*std::move(id));
    }
    return out;
}

}  // namespace

namespace {

Outcome<int> export_events(Context const& context, ExportArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const ids = named_ids(context, *client, args.sessions);
    if (!ids) return std::unexpected(ids.error());
    Export out(context, *client);
    out.begin();
    for (std::string const& id : *ids) {
        auto const added = out.add(id);
        bool const deleted = !added && (added.error().exit == status::not_found ||
                                        added.error().exit == status::gone);
        if (!added && !(deleted && args.sessions.empty())) return std::unexpected(added.error());
    }
    out.end();
    context.err << "exported " << counted(out.sessions(), "session") << ", "
                << counted(out.events(), "event") << '\n';
    return status::done;
}

}  // namespace

Outcome<int> execute(Context const& context, ExportArgs const& args) {
    if (args.events && args.all_projects)
        return failure(status::usage, "--events and --all-projects do not go together");
    if (args.events && args.archive.empty()) return export_events(context, args);
    if (!args.archive.empty() && args.events)
        return failure(status::usage, "--archive and --events do not go together");
    if (!args.archive.empty())
        return context.programs.export_sessions(
            {.data = {},
             .project = args.all_projects ? std::string() : context.global.project,
             .sessions = args.sessions,
             .archive = args.archive,
             .key_env = args.key_env,
             .json = context.as_json()});
    if (!context.global.server.empty())
        return failure(status::usage, "export reads a store, not a server",
                       "Name it by --data or --store; from a server: --events.");
    auto directory = data_directory_unless(args.store.has_value(), context.global, context.env);
    if (!directory) return std::unexpected(directory.error());
    return context.programs.export_sessions(
        {.data = *std::move(directory),
         .store = args.store,
         .project = args.all_projects ? std::string() : context.global.project,
         .sessions = args.sessions,
         .key_env = args.key_env,
         .json = context.as_json()});
}

}  // namespace dormouse::cli
