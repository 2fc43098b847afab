// Two pauses of one call: a person approves, then a job runs for a while. Each pause has its own
// id, so a late second click on "approve" answers the first pause, never the second.
//
// Prints:
//   asked: Deploy api?
//   now it waits for job-1
//   the second click: duplicate
//   the agent: live
#include <dormouse/dormouse.h>

#include <iostream>

struct Deploy {
    std::string service;
};
struct Deployment {
    std::string status;
};

int main() {
    auto const deploy = dormouse::tool(
        "deploy", [](Deploy const&) -> dormouse::Outcome<Deployment, dormouse::Pending> {
            return dormouse::Pending<Deployment>{{"queued"}, {.ref = "job-1"}};
        });
    dormouse::Gate const guard{
        .name = "production", .decide = [](dormouse::Call const& call) -> dormouse::GateDecision {
            return dormouse::Ask{"Deploy " + call.input<Deploy>()->service + "?"};
        }};
    dormouse::Script script;
    script.on("go").calls("deploy", dormouse::to_json(Deploy{"api"}).value());
    script.when_waiting("deploy").says("queued");
    script.when_answered("deploy").says("live");
    auto runtime = dormouse::Runtime::open({
        .store = ":memory:",
        .agents = {{.name = "ops", .model = script.model(), .tools = {"deploy"}}},
        .tools = {deploy},
        .gates = {guard},
    });
    if (!runtime) return std::cerr << runtime.error().detail << '\n', 1;

    auto const session = runtime->create({.agent = "ops", .prompt = "go"}).value();
    auto const asked = runtime->wait_idle(session)->pending.at(0);
    std::cout << "asked: " << asked.message << '\n';
    auto const yes = runtime->decide(asked.id, {.approved = true});
    auto const job = runtime->wait_idle(session)->pending.at(0);
    std::cout << "now it waits for " << job.external_ref << '\n';
    auto const again = runtime->decide(asked.id, {.approved = true});
    std::cout << "the second click: " << (yes && again && again->duplicate ? "duplicate" : "?")
              << '\n';
    if (!runtime->submit(deploy, job.id, {"live"}) || !runtime->wait_idle(session)) return 1;
    std::cout << "the agent: " << runtime->last_reply(session).value() << '\n';
}
