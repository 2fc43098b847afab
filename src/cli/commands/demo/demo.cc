// demo: shows the main use on its own server. Checks every fact before it prints it.

#include "cli/client/child.h"
#include "cli/commands/commands.h"
#include "cli/commands/demo/demo_nodes.h"
#include "cli/commands/demo/demo_story.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <ostream>

namespace dormouse::cli {
namespace {

class Demo {
public:
    Demo(Context const& context, std::string data) : story_(context), data_(std::move(data)) {}
    [[nodiscard]] Outcome<void> run();

private:
    [[nodiscard]] Outcome<void> start();
    [[nodiscard]] Outcome<void> crash_and_return();

    DemoStory story_;
    std::string data_;
    std::optional<ChildServer> server_;
    std::optional<Client> client_;
};

Outcome<void> Demo::start() {
    ChildServer::Options options;
    options.data = data_;
    auto server = ChildServer::start(options);
    if (!server) return std::unexpected(server.error());
    server_.emplace(*std::move(server));
    auto client = server_->client();
    if (!client) return std::unexpected(client.error());
    client_.emplace(*std::move(client));
    story_.ask(*client_);
    return {};
}

Outcome<void> Demo::crash_and_return() {
    auto const pid = std::to_string(server_->pid());
    server_->kill();
    story_.print_line("killed the server while it slept (SIGKILL, process " + pid + ")");
    if (auto const up = start(); !up) return up;
    story_.print_line("started it again on the same data: " + server_->url());
    return story_.still_waits();
}

Outcome<void> Demo::run() {
    auto step = start();
    if (step) story_.print_line("a server on a new data directory is ready: " + server_->url());
    if (step) step = story_.fall_asleep();
    if (step) step = crash_and_return();
    if (step) step = story_.apply();
    if (step) step = story_.woke();
    if (step) step = story_.repeat();
    if (step) step = story_.contradict();
    if (step) step = story_.count();
    if (step) step = server_->stop();
    if (step) story_.print_line("the server stopped gracefully (SIGTERM)");
    return step;
}

}  // namespace

Outcome<int> execute(Context const& context, DemoArgs const& args) {
    if (auto const fit = check_demo(args); !fit) return std::unexpected(fit.error());
    std::error_code error;
    auto const parent = context.global.data.empty()
                            ? std::filesystem::temp_directory_path(error).string()
                            : context.global.data;
    if (parent.empty())
        return failure(status::failed, "no folder for temporary files", "Set $TMPDIR.");
    auto folder = TemporaryFolder::make(parent);
    if (!folder) return std::unexpected(folder.error());
    if (args.keep) folder->keep();
    if (args.nodes) return demo_of_nodes(context, args, folder->path());
    auto const started = std::chrono::steady_clock::now();
    if (auto const ran = Demo(context, folder->path()).run(); !ran)
        return std::unexpected(ran.error());
    auto const took =
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - started);
    context.out << context.style(Paint::green, "It slept through a SIGKILL and woke exactly once.")
                << " (" << in_words(took) << ")\n";
    if (args.keep) context.out << "data: " << folder->path() << '\n';
    return status::done;
}

}  // namespace dormouse::cli
