// dormouse reload: the server reads its configuration again.
#include "cli/commands/commands.h"

#include "base/text/text.h"

#include <ostream>

namespace dormouse::cli {

namespace {

std::string listed(std::string_view title, json::View items) {
    std::string out;
    items.elements(
        [&](json::View one) { out += "  " + escape_for_terminal(one.string_or("")) + "\n"; });
    return out.empty() ? out : std::string(title) + "\n" + out;
}

}  // namespace

Outcome<int> execute(Context const& context, ReloadArgs const& /*args*/) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const reply = client->post("/api/reload", Json::trusted("{}"));
    if (!reply) return std::unexpected(reply.error());
    json::View const report(reply->body);
    std::string const changes =
        listed("applied:", report["applied"]) + listed("needs a restart:", report["needsRestart"]);
    context.show(reply->body, changes.empty() ? "nothing has changed\n" : changes);
    report["warnings"].elements([&](json::View one) {
        context.err << escape_for_terminal(one.string_or("")) << " (warning)\n";
    });
    return status::done;
}

}  // namespace dormouse::cli
