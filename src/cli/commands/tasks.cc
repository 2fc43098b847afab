// tasks: background tasks of a session.

#include "base/text/text.h"
#include "base/url.h"
#include "cli/client/resolve.h"
#include "cli/commands/commands.h"
#include "cli/commands/pick.h"

#include <algorithm>
#include <chrono>

namespace dormouse::cli {
namespace {

// Formats "tsk_…  completed" and the output of the task.
std::string task_text(json::View task) {
    std::string out = plain(task["taskID"]) + "  " + plain(task["status"]);
    if (task["queued"].boolean_or(false)) out += ", waits for a place";
    out += "  session " + plain(task["sessionID"]) + "\n";
    bool const runs = plain(task["status"]) == "running" || plain(task["status"]) == "resumed";
    if (auto const progress = task["progress"].string(); progress && runs)
        out += "progress: " + *progress + "\n";
    for (char const* const member : {"result", "error"}) {
        if (task[member].exists() && !task[member].is_null()) out += plain(task[member]) + "\n";
    }
    return escape_for_terminal(out, true);
}

// Lists each task below the one that started it.
void add_branch(std::string& out, json::View list, std::string const& indent) {
    list.elements([&](json::View task) {
        std::string line =
            plain(task["taskID"]) + "  " + plain(task["status"]) + "  " + plain(task["agentID"]);
        if (auto const about = task["description"].string_or(""); !about.empty())
            line += "  " + about;
        if (auto const progress = task["progress"].string()) line += "  (" + *progress + ")";
        out += indent + escape_for_terminal(line) + "\n";
        add_branch(out, task["tasks"], indent + "  ");
    });
}

Outcome<int> show_tree(Context const& context, Client& client, std::string const& path) {
    auto const reply = client.get(path + "?tree=true");
    if (!reply) return std::unexpected(reply.error());
    std::string out;
    add_branch(out, json::View(reply->body)["items"], "");
    if (json::View(reply->body)["cut"].boolean_or(false))
        out +=
            "… these are the first 1000; below a task: dormouse tasks SESSION --tree, with its "
            "session (dormouse tasks --output TASK says which)\n";
    context.show(reply->body, out.empty() ? "no tasks\n" : out);
    return status::done;
}

Outcome<int> show(Context const& context, Outcome<Reply> const& reply) {
    if (!reply) return std::unexpected(reply.error());
    context.show(reply->body, task_text(json::View(reply->body)));
    return status::done;
}

// Prints the output; a failed run exits with the status of its failure.
Outcome<int> output(Context const& context, Client& client, TasksArgs const& args) {
    auto const wait_ms = milliseconds("--wait", args.wait);
    if (!wait_ms) return std::unexpected(wait_ms.error());
    auto const seconds = std::min<std::uint64_t>(*wait_ms / 1'000, 30);
    auto target =
        "/api/tasks/" + percent_encode(args.task) + "/output?wait=" + std::to_string(seconds);
    auto reply = client.get(target);
    auto const runs = [](Outcome<Reply> const& reply) {
        if (!reply) return false;
        auto const status = json::View(reply->body)["status"].string_or("");
        return status == "running" || status == "resumed";
    };
    auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(*wait_ms);
    while (runs(reply) && std::chrono::steady_clock::now() < until) reply = client.get(target);
    if (!reply) return std::unexpected(reply.error());
    context.show(reply->body, task_text(json::View(reply->body)));
    if (runs(reply)) return status::sleeps;
    return json::View(reply->body)["error"].is_null() ? status::done : status::failed;
}

Outcome<int> of_one(Context const& context, Client& client, TasksArgs const& args) {
    std::string const path = "/api/tasks/" + percent_encode(args.task);
    switch (args.what) {
        case TasksArgs::What::output: return output(context, client, args);
        case TasksArgs::What::resume: {
            json::Writer body;
            body.begin_object().member("message", args.message).end_object();
            return show(context, client.post(path + "/resume", body.json(), Keyed::yes));
        }
        case TasksArgs::What::cancel: {
            json::Writer body;
            body.begin_object();
            if (!args.reason.empty()) body.member("reason", args.reason);
            return show(context, client.post(path + "/cancel", body.end_object().json()));
        }
        case TasksArgs::What::clear: break;
    }
    auto const reply = client.remove(path);
    if (!reply) return std::unexpected(reply.error());
    context.show(reply->body, "cleared " + escape_for_terminal(args.task) + "\n");
    return status::done;
}

Outcome<int> start(Context const& context, Client& client, std::string const& path,
                   TasksArgs const& args) {
    json::Writer body;
    body.begin_object().member("agentID", args.agent).member("prompt", args.start);
    if (args.fork) body.member("fork", true);
    if (!args.description.empty()) body.member("description", args.description);
    return show(context, client.post(path, body.end_object().json(), Keyed::yes));
}

}  // namespace

Outcome<int> execute(Context const& context, TasksArgs const& args) {
    if (args.session.empty() && args.task.empty() && !context.may_ask) {
        return failure(status::usage, "whose tasks?",
                       "dormouse tasks SESSION, or --output, --resume, --cancel, --clear TASK.");
    }
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    if (!args.task.empty()) return of_one(context, *client, args);
    auto const session = args.session.empty()
                             ? pick_session(context, *client)
                             : resolve_session(*client, context.global.project, args.session);
    if (!session) return std::unexpected(session.error());
    std::string const path = "/api/sessions/" + *session + "/tasks";
    if (args.tree) return show_tree(context, *client, path);
    if (!args.start.empty()) return start(context, *client, path, args);
    auto const reply = client->get(path);  // one page of at most 200
    if (!reply) return std::unexpected(reply.error());
    auto const items = json::View(reply->body)["items"];
    context.show(reply->body, tasks_table(items, context.style, context.columns));
    return status::done;
}

}  // namespace dormouse::cli
