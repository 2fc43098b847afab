#include "cli/commands/demo/demo_nodes.h"

#include "cli/client/child.h"
#include "cli/commands/demo/demo_story.h"

#include <unistd.h>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <utility>
#include <vector>

namespace dormouse::cli {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds taken_over_limit{60};

// A schema that no other demo has.
std::string schema_name() {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    return "dormouse_demo_" + std::to_string(ms) + "_" + std::to_string(getpid());
}

class NodesDemo {
public:
    NodesDemo(Context const& context, DemoArgs const& args, std::string folder)
        : story_(context),
          count_(*args.nodes),
          store_(args.store + (args.store.contains('?') ? "&" : "?") + "schema=" + schema_),
          folder_(std::move(folder)) {}
    [[nodiscard]] Outcome<void> run();
    [[nodiscard]] std::string const& schema() const { return schema_; }
    // Returns true if a server may have made the schema.
    [[nodiscard]] bool began() const { return !nodes_.empty(); }

private:
    struct Node {
        ChildServer server;
        Client client;
    };

    [[nodiscard]] Outcome<void> start_all();
    [[nodiscard]] Outcome<void> start_one();
    [[nodiscard]] Outcome<void> give_work();
    [[nodiscard]] Outcome<void> kill_first();
    [[nodiscard]] Outcome<void> take_over();
    [[nodiscard]] Outcome<void> stop_all();
    // From now on another server is asked.
    void ask(std::size_t node) { story_.ask(nodes_[node].client); }
    void say(std::size_t node, std::string const& what) {
        story_.print_line("server " + std::to_string(node + 1) + what);
    }

    DemoStory story_;
    std::size_t const count_;
    std::string const schema_ = schema_name();
    std::string const store_;
    std::string const folder_;
    std::vector<Node> nodes_;
    std::string busy_;  // the session whose tool runs
};

Outcome<void> NodesDemo::start_one() {
    ChildServer::Options options;
    options.data = folder_ + "/" + std::to_string(nodes_.size() + 1);
    options.more = {"--store", store_};
    std::error_code error;
    std::filesystem::create_directory(options.data, error);
    if (error) return failure(status::failed, "cannot make " + options.data);
    auto server = ChildServer::start(options);
    if (!server) return std::unexpected(server.error());
    auto client = server->client();
    if (!client) return std::unexpected(client.error());
    nodes_.push_back({*std::move(server), *std::move(client)});
    Node const& made = nodes_.back();
    say(nodes_.size() - 1,
        ", process " + std::to_string(made.server.pid()) + ", is ready: " + made.server.url());
    return {};
}

Outcome<void> NodesDemo::start_all() {
    nodes_.reserve(count_);
    for (std::size_t i = 0; i < count_; ++i)
        if (auto const up = start_one(); !up) return up;
    ask(0);
    return {};
}

// A tool that takes so long that its server is killed while it runs.
Outcome<void> NodesDemo::give_work() {
    auto const body = Json::trusted(R"({"agentID":"demo","prompt":{"text":"sleepy 5s"}})");
    auto const made =
        nodes_[0].client.post("/api/projects/default/sessions?wait=0", body, Keyed::yes);
    if (!made) return std::unexpected(made.error());
    busy_ = json::View(made->body)["id"].string_or("");
    say(0, " was also asked to run a tool for 5 s");
    return {};
}

Outcome<void> NodesDemo::kill_first() {
    auto const pid = std::to_string(nodes_[0].server.pid());
    nodes_[0].server.kill();
    say(0, " is killed (SIGKILL, process " + pid + "): the others are asked now");
    ask(1);
    return story_.still_waits();
}

// A server that sends no heartbeat for 5 s is replaced; then the tool runs again.
Outcome<void> NodesDemo::take_over() {
    auto const until = Steady::now() + taken_over_limit;
    while (Steady::now() < until) {
        auto const session = story_.get("/api/sessions/" + busy_ + "?wait=2");
        if (!session) return std::unexpected(session.error());
        if ((*session)["activity"]["type"].string_or("") != "idle") continue;
        auto const nodes = story_.get("/api/nodes");
        if (!nodes) return std::unexpected(nodes.error());
        if ((*nodes)["items"].size() != count_ - 1)
            return broken("the killed server is still listed");
        story_.print_line("another server finished what it was asked for; " +
                          std::to_string(count_ - 1) + " servers are listed");
        return {};
    }
    return broken("no server continued the session of the killed one within 60 s");
}

Outcome<void> NodesDemo::stop_all() {
    for (std::size_t i = 1; i < nodes_.size(); ++i)
        if (auto const done = nodes_[i].server.stop(); !done) return done;
    story_.print_line("the others stopped gracefully (SIGTERM)");
    return {};
}

Outcome<void> NodesDemo::run() {
    std::size_t const last = count_ - 1;
    auto step = start_all();
    if (step) step = story_.fall_asleep();
    if (step) step = give_work();
    if (step) step = kill_first();
    if (step) step = story_.apply();
    if (step) ask(last);
    if (step) step = story_.woke();
    if (step) step = story_.repeat();
    if (step) step = story_.contradict();
    if (step) step = story_.count();
    if (step) step = take_over();
    if (step) step = stop_all();
    return step;
}

}  // namespace

Outcome<void> check_demo(DemoArgs const& args) {
    constexpr std::string_view example = "dormouse demo --nodes 3 --store postgres://USER@HOST/DB";
    if (!args.nodes && args.store.empty()) return {};
    if (!args.nodes || args.store.empty())
        return failure(status::usage, "--nodes and --store belong together", std::string(example));
    if (!args.store.starts_with("postgres://") && !args.store.starts_with("postgresql://"))
        return failure(status::usage, "--store: several servers need a PostgreSQL database",
                       std::string(example));
    if (args.store.contains("?schema=") || args.store.contains("&schema="))
        return failure(status::usage, "--store: the demo makes a schema of its own",
                       "Leave schema= out of the URL.");
    return {};
}

// The schema stays: only the servers know the way to the database.
Outcome<int> demo_of_nodes(Context const& context, DemoArgs const& args,
                           std::string const& folder) {
    auto const started = Steady::now();
    NodesDemo demo(context, args, folder);
    auto const ran = demo.run();
    if (ran) {
        auto const took = std::chrono::duration_cast<Duration>(Steady::now() - started);
        context.out << context.style(Paint::green, "One of " + std::to_string(*args.nodes) +
                                                       " servers was killed, and nothing was lost.")
                    << " (" << in_words(took) << ")\n";
    }
    if (demo.began())
        context.out << "The database still has the demo's schema. To remove it: psql '"
                    << args.store << "' -c 'DROP SCHEMA \"" << demo.schema() << "\" CASCADE'\n";
    if (!ran) return std::unexpected(ran.error());
    if (args.keep) context.out << "data: " << folder << '\n';
    return status::done;
}

}  // namespace dormouse::cli
