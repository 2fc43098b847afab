// mcp: serves the tools of a session, of foreign servers, or tools that ask people, on standard
// input and output.

#include "cli/client/resolve.h"
#include "cli/commands/commands.h"
#include "cli/commands/mcp/stdio.h"

#include <unistd.h>

namespace dormouse::cli {
namespace {

constexpr std::size_t mcp_line_bytes_max = std::size_t{8} << 20;

Outcome<int> serve_stdio(Context const& context, Client& client, std::string session,
                         std::vector<std::string> const& servers) {
    auto const address = parse_url(server_url(context.global, context.env));
    auto patient = context.connect(STDIN_FILENO);
    if (!address || !patient) return std::unexpected(address ? patient.error() : address.error());
    Stdio stdio(STDIN_FILENO, context.out, mcp_line_bytes_max);
    McpStdio({.session = std::move(session),
              .project = context.global.project,
              .servers = servers,
              .version = context.programs.version,
              .elicits = {.client = {}, .base_url = address->url()}},
             client, *patient, stdio)
        .run();
    return status::done;
}

}  // namespace

Outcome<int> execute(Context const& context, McpArgs const& args) {
    if (args.session.empty()) {
        auto client = context.connect();
        if (!client) return std::unexpected(client.error());
        return serve_stdio(context, *client, "", args.serve);
    }
    auto found = connect_to_session(context, args.session);
    if (!found) return std::unexpected(found.error());
    auto& [client, session] = *found;
    return serve_stdio(context, client, session, {});
}

}  // namespace dormouse::cli
