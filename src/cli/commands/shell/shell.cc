// Commands for shells: completion, man, and candidates, which completion asks for ids.

#include "base/text/text.h"
#include "base/url.h"
#include "cli/client/saved/contexts.h"
#include "cli/commands/commands.h"
#include "cli/commands/shell/shell_texts.h"

#include <ostream>

namespace dormouse::cli {
namespace {

// The user has pressed a key and waits.
constexpr Duration patience{1000};

struct List {
    std::string target;
    std::string_view id;  // the member that is offered
};

List list_of(std::string const& kind, std::string const& project) {
    if (kind == "agent") return {"/api/agents", "id"};
    if (kind == "tool") return {"/api/tools", "name"};
    if (kind == "call")
        return {"/async-tool/pending?limit=200&project=" + percent_encode(project), "id"};
    return {"/api/projects/" + percent_encode(project) + "/sessions?limit=200", "id"};
}

std::string about(std::string const& kind, json::View item) {
    std::string text;
    if (kind == "call") text = plain(item["tool"]) + " " + plain(item["input"]);
    if (kind == "session") text = item["title"].string_or(activity_text(item["activity"]));
    if (kind == "agent") text = plain(item["model"]);
    if (kind == "tool") text = tool_arguments(item);
    return shortened(escape_for_terminal(text), 60);
}

// Prints lines "ID<tab>description". Prints no error: it would appear in the prompt.
void offer(Context const& context, Client& client, std::string const& kind,
           std::string const& beginning) {
    auto const list = list_of(kind, context.global.project);
    auto const reply = client.get(list.target);
    if (!reply) return;
    json::View(reply->body)["items"].elements([&](json::View item) {
        auto const id = item[list.id].string_or("");
        if (!id.starts_with(beginning)) return;
        context.out << escape_for_terminal(id) << '\t' << about(kind, item) << '\n';
    });
}

void offer_contexts(Context const& context, std::string const& beginning) {
    auto const contexts = read_contexts(context.env);
    if (!contexts) return;
    for (Login const& login : contexts->logins)
        if (login.name.starts_with(beginning))
            context.out << login.name << '\t' << escape_for_terminal(login.url) << '\n';
    context.out.flush();
}

}  // namespace

Outcome<int> execute(Context const& context, CandidatesArgs const& args) {
    if (args.kind == "context") {
        offer_contexts(context, args.beginning);
        return status::done;
    }
    auto client = context.connect(-1, patience);
    if (!client) return status::failed;
    auto const& kind = args.kind;
    if (kind != "id") {
        offer(context, *client, kind, args.beginning);
    } else {
        offer(context, *client, "call", args.beginning);
        offer(context, *client, "session", args.beginning);
    }
    context.out.flush();
    return status::done;
}

Outcome<int> execute(Context const& context, CompletionArgs const& args) {
    context.out << completion(args.shell, command_table()) << std::flush;
    return status::done;
}

Outcome<int> execute(Context const& context, ManArgs const&) {
    context.out << manual(command_table(), context.programs.version) << std::flush;
    return status::done;
}

}  // namespace dormouse::cli
