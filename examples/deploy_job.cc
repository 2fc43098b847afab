// A job that takes an hour. The tool starts it and returns at once; the session sleeps, and the
// program may end. Another process receives the service's webhook and submits the result: the
// session wakes once, however often the webhook comes.
//
// Prints:
//   first process: deploy waits for job-api
//   second process: applied
//   the webhook again: duplicate
//   another result: refused, conflict
//   the agent: It is live.
//   the cluster started 1 job
#include <dormouse/dormouse.h>

#include <unistd.h>
#include <filesystem>
#include <iostream>

using namespace std::chrono_literals;

namespace {

// An external deploy service.
int jobs_started = 0;
std::string start_job(std::string const& service, std::string const& /*idempotency_key*/) {
    ++jobs_started;
    return "job-" + service;
}

struct Deploy {
    std::string service;
    std::optional<std::string> version;

    static constexpr dormouse::Doc doc[] = {
        {"service", "What to deploy, for example \"api\""},
        {"version", "A git tag; the newest one if left out"},
    };
};
struct Deployment {
    std::string status;
    std::string url;
};

dormouse::Outcome<Deployment, dormouse::Pending> start(Deploy const& deploy,
                                                       dormouse::Call const& call) {
    auto const job = start_job(deploy.service, call.idempotency_key());
    return dormouse::Pending<Deployment>{{.status = "queued", .url = ""},
                                         {.ref = job, .within = 2h}};
}

auto const deploy = dormouse::tool("deploy", start, {.description = "Deploys a service."});

dormouse::Result<dormouse::Runtime> open(std::string const& store) {
    dormouse::Script script;
    script.on("api").calls("deploy", dormouse::to_json(Deploy{"api", {}}).value());
    script.when_waiting("deploy").says("It is on its way.");
    script.when_answered("deploy").says("It is live.");
    return dormouse::Runtime::open({
        .store = store,
        .agents = {{.name = "ops", .model = script.model(), .tools = {"deploy"}}},
        .tools = {deploy},
    });
}

dormouse::PendingId first_process(std::string const& store) {
    auto runtime = open(store).value();
    auto const session = runtime.create({.agent = "ops", .prompt = "Deploy the api."}).value();
    auto const call = runtime.wait_idle(session).value().pending.at(0);
    std::cout << "first process: " << call.tool << " waits for " << call.external_ref << '\n';
    return call.id;
}

void second_process(std::string const& store, dormouse::PendingId id) {
    auto runtime = open(store).value();
    auto const report = [](std::string const& what, auto const& receipt) {
        std::cout << what << ": ";
        if (!receipt) {
            std::cout << "refused, " << dormouse::info(receipt.error().code).text << '\n';
        } else {
            std::cout << (receipt->duplicate ? "duplicate" : "applied") << '\n';
        }
    };
    Deployment const live{.status = "live", .url = "https://api.example.org"};
    report("second process", runtime.submit(deploy, id, live));
    report("the webhook again", runtime.submit(deploy, id, live));
    report("another result", runtime.submit(deploy, id, {.status = "failed", .url = ""}));
    static_cast<void>(runtime.wait_idle(id.session));
    std::cout << "the agent: " << runtime.last_reply(id.session).value() << '\n';
}

}  // namespace

int main() {
    auto const store =
        std::filesystem::temp_directory_path() / ("dormouse-example-" + std::to_string(::getpid()));
    auto const id = first_process(store);
    second_process(store, id);
    std::cout << "the cluster started " << jobs_started << " job\n";
    std::filesystem::remove_all(store);
}
