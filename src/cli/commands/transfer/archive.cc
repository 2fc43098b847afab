// archive, and the sessions of an archive.
#include "base/text/text.h"
#include "cli/client/saved/settings.h"
#include "cli/commands/commands.h"
#include "cli/render/render.h"

#include <algorithm>
#include <expected>
#include <memory>
#include <ostream>
#include <sstream>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr std::string_view how_to_look = "See what it has: dormouse sessions --archive DIR.";

// Deletes from the store what the files hold.
class Removal {
public:
    explicit Removal(Client client) : client_(std::move(client)) {}

    std::expected<void, std::string> operator()(std::string const& session, std::uint64_t seq) {
        auto const reply = client_.remove("/api/sessions/" + session, seq);
        bool const gone = !reply && (reply.error().exit == status::not_found ||
                                     reply.error().exit == status::gone);
        if (reply || gone) return {};
        return std::unexpected(reply.error().what);
    }

private:
    Client client_;
};

// Brings one session back, into a server that works or into its store.
Outcome<int> restore_one(Context const& context, ArchiveArgs const& args,
                         std::string const& session) {
    auto lines = context.programs.archives.export_one({args.directory, args.key_env}, session);
    if (!lines) return failure(status::failed, lines.error(), std::string(how_to_look));
    ImportArgs import{.dry_run = args.dry_run, .store = args.store, .restore_deleted = true};
    if (!args.store)
        if (auto const url = working_server(context, data_directory(context.global, context.env))) {
            std::istringstream in(*std::move(lines));
            return import_running(context, *url, import, in);
        }
    auto directory = data_directory_unless(args.store.has_value(), context.global, context.env);
    if (!directory) return std::unexpected(directory.error());
    return context.programs.import_sessions({.data = *std::move(directory),
                                             .store = args.store,
                                             .text = *std::move(lines),
                                             .restore_deleted = true,
                                             .dry_run = args.dry_run,
                                             .json = context.as_json(),
                                             .key_env = args.key_env});
}

Outcome<int> restore_archived(Context const& context, ArchiveArgs const& args) {
    int exit = status::done;
    for (std::string const& session : args.restore) {
        auto const done = restore_one(context, args, session);
        if (!done) {
            context.err << escape_for_terminal(session + ": " + done.error().what) << '\n';
            exit = std::max<int>(exit, status::failed);
        } else {
            exit = std::max(exit, *done);
        }
    }
    return exit;
}

}  // namespace

Outcome<int> execute(Context const& context, ArchiveArgs const& args) {
    if (!args.restore.empty()) return restore_archived(context, args);
    if (args.completed_after.empty())
        return failure(status::usage, "archive: name what to move",
                       "Give --completed-after TIME, or --restore SESSION to move one back.");
    auto const age = milliseconds("--completed-after", args.completed_after);
    if (!age) return std::unexpected(age.error());
    auto directory = data_directory_unless(args.store.has_value(), context.global, context.env);
    if (!directory) return std::unexpected(directory.error());
    ArchiveOptions options{.data = *directory,
                           .store = args.store,
                           .directory = args.directory,
                           .project = args.all_projects ? std::string() : context.global.project,
                           .until = wall_clock() - Duration(static_cast<std::int64_t>(*age)),
                           .key_env = args.key_env,
                           .plain = args.plain,
                           .dry_run = args.dry_run,
                           .json = context.as_json(),
                           .remove = {}};
    auto const url = args.dry_run ? std::nullopt : working_server(context, *directory);
    if (url) {
        auto client = connect_to(context, *url);
        if (!client) return std::unexpected(client.error());
        auto const removal = std::make_shared<Removal>(*std::move(client));
        options.remove = [removal](std::string const& session, Seq head) {
            return (*removal)(session, head);
        };
    }
    return context.programs.archives.archive(options);
}

Outcome<int> list_archived(Context const& context, SessionsArgs const& args) {
    auto const all =
        context.programs.archives.list({args.archive, args.key_env}, context.global.project);
    if (!all) return failure(status::failed, all.error());
    std::size_t const shown =
        args.all ? all->size() : std::min(all->size(), static_cast<std::size_t>(args.limit));
    json::Writer out;
    out.begin_object().key("items").begin_array();
    for (std::size_t i = 0; i < shown; ++i) out.raw((*all)[i]);
    auto const page = out.end_array().end_object().json();
    context.show(page, sessions_table(json::View(page)["items"], context.now(), context.style,
                                      context.columns, 0));
    if (shown < all->size() && !context.global.json) context.out << "there are more: --all\n";
    return status::done;
}

Outcome<int> show_archived(Context const& context, ShowArgs const& args) {
    if (args.id.empty())
        return failure(status::usage, "name the session", std::string(how_to_look));
    auto const found = context.programs.archives.show({args.archive, args.key_env}, args.id);
    if (!found) return failure(status::failed, found.error(), std::string(how_to_look));
    auto const session = json::check(found->session);
    if (!session) return failure(status::failed, session.error().detail);
    context.show(*session, session_text(json::View(*session), context.now(), context.style));
    json::Writer out;
    out.begin_object().key("items").begin_array();
    for (std::string const& message : found->messages) out.raw(message);
    auto const page = out.end_array().end_object().json();
    std::string text;
    json::View(page)["items"].elements(
        [&](json::View message) { text += "\n" + message_text(message, context.style); });
    context.show(page, text);
    return status::done;
}

}  // namespace dormouse::cli
