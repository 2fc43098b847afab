// A gate asks a person before a tool runs. If approved, the tool runs once. If denied, it does not
// run, and the model sees the reason. The gate needs no code for being asked again after a crash.
//
// Prints:
//   asked: Delete 3 rows of customers?
//   denied: 0 rows are gone
//   asked: Delete 3 rows of customers?
//   approved: 3 rows are gone
#include <dormouse/dormouse.h>

#include <atomic>
#include <iostream>

struct Deletion {
    std::string table;
    int rows = 0;
};

int main() {
    std::atomic<int> gone = 0;
    auto const remove = dormouse::tool("delete_rows", [&gone](Deletion const& what) {
        gone += what.rows;
        return dormouse::Nothing{};
    });
    dormouse::Gate const guard{.name = "production",
                               .decide = [](dormouse::Call const& call) -> dormouse::GateDecision {
                                   auto const what = call.input<Deletion>();
                                   if (!what) return dormouse::Deny{what.error().detail};
                                   return dormouse::Ask{"Delete " + std::to_string(what->rows) +
                                                        " rows of " + what->table + "?"};
                               },
                               .tools = {"delete_*"}};

    dormouse::Script script;
    script.on("clean").calls("delete_rows", dormouse::to_json(Deletion{"customers", 3}).value());
    script.otherwise().says("Done.");
    auto runtime = dormouse::Runtime::open({
        .store = ":memory:",
        .agents = {{.name = "janitor", .model = script.model(), .tools = {"delete_rows"}}},
        .tools = {remove},
        .gates = {guard},
    });
    if (!runtime) return std::cerr << runtime.error().detail << '\n', 1;

    for (bool const approved : {false, true}) {
        auto const session = runtime->create({.agent = "janitor", .prompt = "clean up"});
        auto const call = runtime->wait_idle(*session)->pending.at(0);
        std::cout << "asked: " << call.message << '\n';
        auto const receipt = runtime->decide(
            call.id, {.approved = approved, .reason = "not today", .digest = call.input_digest});
        if (!receipt || !runtime->wait_idle(*session)) return 1;
        std::cout << (approved ? "approved: " : "denied: ") << gone << " rows are gone\n";
    }
}
