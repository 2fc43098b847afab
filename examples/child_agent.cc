// An agent as a tool: each call of `agent:builder` has its own session, which may sleep for days
// while its own tool waits. The calling session sleeps too, and wakes once, with the child's last
// text.
//
// Prints:
//   lead waits for agent:builder
//   builder waits for build
//   a result from outside for agent:builder: refused, not_an_answerer
//   lead: Shipped.
//   the builder was asked twice, the lead twice
#include <dormouse/dormouse.h>

#include <iostream>
#include <thread>

struct Build {
    std::string what;
};
struct Built {
    std::string file;
};
struct Ask {
    std::string prompt;
};

int main() {
    // Another machine builds and sends the result later.
    auto const build =
        dormouse::tool("build", [](Build const&) -> dormouse::Outcome<Built, dormouse::Pending> {
            return dormouse::Pending<Built>{{.file = "not yet"}};
        });

    dormouse::Script lead_script;
    lead_script.on("Ship").calls("agent:builder", dormouse::to_json(Ask{"Build it."}).value());
    lead_script.when_answered("agent:builder").says("Shipped.");
    dormouse::Script builder_script;
    builder_script.on("Build").calls("build", dormouse::to_json(Build{"shop"}).value());
    builder_script.when_answered("build").says("It is built.");
    auto runtime = dormouse::Runtime::open({
        .store = ":memory:",
        .agents = {{.name = "lead", .model = lead_script.model(), .tools = {"agent:builder"}},
                   {.name = "builder", .model = builder_script.model(), .tools = {"build"}}},
        .tools = {build},
    });
    if (!runtime) return std::cerr << runtime.error().detail << '\n', 1;

    auto const lead = runtime->create({.agent = "lead", .prompt = "Ship the shop."}).value();
    auto const asked = runtime->wait_idle(lead).value();
    std::cout << asked.agent << " waits for " << asked.pending.at(0).tool << '\n';

    // The child starts asynchronously.
    std::vector<dormouse::PendingCall> calls;
    while (calls.empty()) calls = runtime->waiting({.tool = "build"}).value().calls;
    auto const& call = calls.front();
    auto const& child = asked.children.at(0);
    std::cout << child.agent << " waits for " << call.tool << '\n';
    if (call.id.session != child.session) return 1;

    // Only the child can answer this call.
    auto const forged = runtime->submit(asked.pending.at(0).id, dormouse::Json());
    if (!forged) {
        std::cout << "a result from outside for agent:builder: refused, "
                  << dormouse::info(forged.error().code).text << '\n';
    }

    if (!runtime->submit(call.id, dormouse::to_json(Built{"shop.tar"}).value())) return 1;
    // The builder finishes, which wakes the lead.
    while (runtime->wait_idle(lead).value().activity != dormouse::Activity::idle)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::cout << "lead: " << runtime->last_reply(lead).value() << '\n';
    bool const twice = builder_script.asked() == 2 && lead_script.asked() == 2;
    if (twice) std::cout << "the builder was asked twice, the lead twice\n";
}
