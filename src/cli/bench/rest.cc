#include "cli/bench/rest.h"

#include "cli/bench/measure.h"

#include "base/url.h"
#include "cli/render/render.h"

#include <poll.h>
#include <chrono>

namespace dormouse::cli {
namespace {

constexpr std::size_t load_connections = 64;
constexpr int asleep_ms = 5000;
constexpr int load_before_kill_ms = 2000;
constexpr std::size_t sample_max = 200;
constexpr int doctor_samples = 21;
constexpr int growth_turns = 100;
constexpr std::size_t growth_result_bytes = 1024;

// Puts sessions to sleep and keeps a sample of them.
Outcome<std::vector<Sleeper>> load(JobTarget const& target, std::int64_t sessions,
                                   DormantFigures& figures, Progress const& progress) {
    auto client = LoadClient::open(target.servers, load_connections);
    if (!client) return std::unexpected(client.error());
    RequestWriter const writer(target.servers, target.token);
    PauseScript script(writer, sessions, sample_max);
    auto const start = std::chrono::steady_clock::now();
    script.on_done = [&](std::int64_t done) {
        if (done % 50'000 != 0) return;
        auto const rate =
            static_cast<std::int64_t>(static_cast<double>(done) / seconds_since(start));
        progress(std::to_string(done) + " of " + std::to_string(sessions) + " asleep, " +
                 std::to_string(rate) + "/s");
    };
    if (auto const ran = client->run(script); !ran) return std::unexpected(ran.error());
    if (!script.wrong.empty()) return failure(status::failed, script.wrong);
    figures.load_per_s = static_cast<double>(sessions) / seconds_since(start);
    return std::move(script.kept);
}

// Measures how long the server needs to find the next expiry among all sleeping sessions.
Outcome<void> ask_doctor(ChildServer const& server, DormantFigures& figures) {
    auto client = server.client();
    if (!client) return std::unexpected(client.error());
    Samples samples;
    for (int i = 0; i < doctor_samples; ++i) {
        auto const start = std::chrono::steady_clock::now();
        auto const reply = client->get("/api/doctor?calls=1");
        if (!reply) return std::unexpected(reply.error());
        samples.add(seconds_since(start) * 1e6);
        if (!json::View(reply->body)["queues"]["nextWakeAt"].integer()) {
            return failure(status::failed, "doctor names no next deadline, though sessions sleep");
        }
    }
    figures.next_expiry_us = samples.p50();
    return {};
}

// Creates sessions as fast as the server accepts them and kills the server meanwhile.
Outcome<void> kill_under_load(ChildServer& server, DormantFigures& figures) {
    auto const target = target_of(server);
    if (!target) return std::unexpected(target.error());
    auto client = LoadClient::open(target->servers, load_connections);
    if (!client) return std::unexpected(client.error());
    RequestWriter const writer(target->servers, target->token);
    PauseScript script(writer, INT64_MAX, 0);
    auto const start = std::chrono::steady_clock::now();
    script.on_done = [&](std::int64_t) {
        if (seconds_since(start) * 1000 > load_before_kill_ms) server.kill();
    };
    auto const ran = client->run(script);
    figures.jobs_before_kill = script.done;
    if (!ran && ran.error().exit == status::unreachable) return {};
    return failure(status::failed,
                   script.wrong.empty() ? "the server outlived SIGKILL" : script.wrong);
}

Outcome<void> all_asleep(ChildServer const& server, std::vector<Sleeper> const& sleepers,
                         DormantFigures& figures) {
    auto const target = target_of(server);
    if (!target) return std::unexpected(target.error());
    auto client = LoadClient::open(target->servers, 8);
    if (!client) return std::unexpected(client.error());
    std::vector<std::string> sessions;
    for (auto const& sleeper : sleepers) sessions.push_back(sleeper.session);
    RequestWriter const writer(target->servers, target->token);
    ReadBackScript script(writer, std::move(sessions), "waiting_async");
    if (auto const ran = client->run(script); !ran) return ran;
    figures.checked = script.as_expected;
    if (script.as_expected == sleepers.size()) return {};
    return failure(status::failed, "a sleeping session was lost: " + script.first_other);
}

// Runs one turn of the growing session: a prompt, and a result of 1 KB that the reply repeats.
Outcome<void> grow(Client& client, std::string const& session, int turn) {
    auto const path = "/api/sessions/" + session;
    auto const prompt = "{\"text\":\"deploy T" + std::to_string(turn) + "\"}";
    auto const prompted = client.post(path + "/prompt?wait=10", Json::trusted(prompt), Keyed::yes);
    if (!prompted) return std::unexpected(prompted.error());
    auto const asleep = client.get(path + "?wait=10");
    if (!asleep) return std::unexpected(asleep.error());
    auto const pending = json::View(asleep->body)["activity"]["pendingID"].string_or("");
    std::string text;
    while (text.size() < growth_result_bytes) text += random_key();
    auto const result = "{\"pendingID\":" + json::quote(pending) +
                        ",\"result\":{\"output\":" + json::quote(text) + "}}";
    auto const taken = client.post("/async-tool/result", Json::trusted(result));
    if (!taken) return std::unexpected(taken.error());
    auto const idle = client.get(path + "?wait=10");
    if (!idle) return std::unexpected(idle.error());
    if (json::View(idle->body)["activity"]["type"].string_or("") == "idle") return {};
    return failure(status::failed, "the session is not idle after turn " + std::to_string(turn));
}

Outcome<std::uint64_t> content_of(Client& client, std::string const& session) {
    std::uint64_t total = 0;
    std::string cursor;
    do {
        auto const target = "/api/sessions/" + session + "/messages?limit=200" +
                            (cursor.empty() ? "" : "&cursor=" + percent_encode(cursor));
        auto const page = client.get(target);
        if (!page) return std::unexpected(page.error());
        total += content_bytes(json::View(page->body)["items"]);
        cursor = json::View(page->body)["next"].string_or("");
    } while (!cursor.empty());
    return total;
}

}  // namespace

Outcome<JobTarget> target_of(ChildServer const& server) {
    auto address = parse_url(server.url());
    if (!address) return std::unexpected(address.error());
    return JobTarget{{*std::move(address)}, server.token(), server.pid()};
}

Outcome<ChildServer> start_server(std::string const& folder) {
    ChildServer::Options options;
    options.data = folder;
    return ChildServer::start(options);
}

std::uint64_t content_bytes(json::View messages) {
    std::uint64_t total = 0;
    messages.elements([&](json::View message) {
        message["parts"].elements([&](json::View part) {
            total += part["text"].string_or("").size();
            auto const output = part["state"]["output"];
            if (output.exists() && !output.is_null()) total += plain(output).size();
        });
    });
    return total;
}

Outcome<DormantFigures> measure_dormant(std::string const& folder, std::int64_t sessions,
                                        Progress const& progress) {
    DormantFigures figures{.sessions = sessions};
    auto server = start_server(folder);
    if (!server) return std::unexpected(server.error());
    auto const target = target_of(*server);
    if (!target) return std::unexpected(target.error());
    auto const sleepers = load(*target, sessions, figures, progress);
    if (!sleepers) return std::unexpected(sleepers.error());
    if (auto const stopped = server->stop(); !stopped) return std::unexpected(stopped.error());
    figures.bytes = data_bytes(folder);
    figures.bytes_each = static_cast<double>(figures.bytes) / static_cast<double>(sessions);

    drop_from_cache(folder);
    server = start_server(folder);
    if (!server) return std::unexpected(server.error());
    figures.ready_ms = server->start_ms();
    figures.rss_mib = check_process(server->pid()).rss_mib;
    progress("started again; watching it sleep for 5 s");
    auto const before = check_process(server->pid()).cpu_ms;
    ::poll(nullptr, 0, asleep_ms);
    figures.asleep_cpu_ms = check_process(server->pid()).cpu_ms - before;
    figures.asleep_s = asleep_ms / 1000.0;
    if (auto const answered = ask_doctor(*server, figures); !answered)
        return std::unexpected(answered.error());

    progress("SIGKILL under load");
    if (auto const killed = kill_under_load(*server, figures); !killed)
        return std::unexpected(killed.error());
    server = start_server(folder);
    if (!server) return std::unexpected(server.error());
    figures.killed_ready_ms = server->start_ms();
    if (auto const asleep = all_asleep(*server, *sleepers, figures); !asleep)
        return std::unexpected(asleep.error());
    if (auto const stopped = server->stop(); !stopped) return std::unexpected(stopped.error());
    return figures;
}

Outcome<GrowthFigures> measure_growth(std::string const& folder) {
    auto server = start_server(folder);
    if (!server) return std::unexpected(server.error());
    auto client = server->client();
    if (!client) return std::unexpected(client.error());
    auto const created = client->post("/api/projects/default/sessions",
                                      Json::trusted(R"({"agentID":"demo"})"), Keyed::yes);
    if (!created) return std::unexpected(created.error());
    auto const session = json::View(created->body)["id"].string_or("");
    GrowthFigures figures{.turns = growth_turns};
    for (int turn = 1; turn <= growth_turns; ++turn) {
        if (auto const grown = grow(*client, session, turn); !grown)
            return std::unexpected(grown.error());
    }
    auto const content = content_of(*client, session);
    if (!content) return std::unexpected(content.error());
    figures.content_bytes = *content;
    if (auto const stopped = server->stop(); !stopped) return std::unexpected(stopped.error());
    figures.file_bytes = data_bytes(folder);
    return figures;
}

}  // namespace dormouse::cli
