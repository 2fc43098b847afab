// Written by `dormouse hook install opencode`; `dormouse hook uninstall opencode` removes it.
// Asks people through Dormouse whether opencode may run a tool. Without their decision nothing is
// replied, and the question stays in the terminal.
import { spawn } from "node:child_process";

const command = {{&command}};
const asking = new Map(); // id of a request -> the process that asks

function decide(request, directory) {
  return new Promise((resolve) => {
    const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] });
    asking.set(request.id, child);
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stdin.on("error", () => {});
    child.on("error", () => resolve(undefined));
    child.on("close", (status) => {
      try {
        resolve(status === 0 && output ? JSON.parse(output).reply : undefined);
      } catch {
        resolve(undefined);
      }
    });
    child.stdin.end(JSON.stringify({ directory, request }));
  }).finally(() => asking.delete(request.id));
}

export const Dormouse = async ({ client, directory }) => ({
  event: async ({ event }) => {
    const request = event.properties ?? {};
    if (event.type === "permission.replied") {
      // Answered in the terminal: the question is cancelled.
      asking.get(request.requestID ?? request.permissionID)?.kill("SIGTERM");
      return;
    }
    if (event.type !== "permission.asked" && event.type !== "permission.updated") return;
    if (asking.has(request.id)) return;
    decide(request, directory)
      .then((response) => {
        if (response !== "once" && response !== "reject") return;
        return client.postSessionIdPermissionsPermissionId({
          path: { id: request.sessionID, permissionID: request.id },
          body: { response },
        });
      })
      .catch(() => {});
  },
});
