// mcp: offers a session's tools to its external agent.

#include "cli/client/resolve.h"
#include "cli/commands/commands.h"
#include "mcp/server.h"

#include <unistd.h>

namespace dormouse::cli {
namespace {

constexpr std::size_t mcp_line_bytes_max = std::size_t{8} << 20;

}  // namespace

Outcome<int> execute(Context const& context, McpArgs const& args) {
    auto found = connect_to_session(context, args.session);
    if (!found) return std::unexpected(found.error());
    auto& [client, session] = *found;
    Stdio stdio(STDIN_FILENO, context.out, mcp_line_bytes_max);
    mcp::McpServer({.session = session, .version = context.programs.version}, client, stdio).run();
    return status::done;
}

}  // namespace dormouse::cli
