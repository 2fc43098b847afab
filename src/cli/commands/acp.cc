// acp: runs Dormouse as an agent of an editor.

#include "acp_agent/agent.h"
#include "cli/commands/commands.h"

#include <unistd.h>

namespace dormouse::cli {
namespace {

constexpr std::size_t acp_line_bytes_max = std::size_t{16} << 20;  // for a prompt with its images

}  // namespace

Outcome<int> execute(Context const& context, AcpArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    Stdio stdio(STDIN_FILENO, context.out, acp_line_bytes_max);
    acp_agent::AcpAgent agent({.project = context.global.project,
                               .agent = args.agent,
                               .version = context.programs.version},
                              *client, stdio, context.err);
    agent.run();
    return status::done;
}

}  // namespace dormouse::cli
