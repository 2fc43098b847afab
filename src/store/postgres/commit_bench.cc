// Appends a second, by batch. The server is the tests' own, without fsync: what is measured is CPU
// and round trips. DORMOUSE_BENCH_URL: another server.
#include "store/postgres/postgres_store.h"
#include "store/postgres/testing/test_server.h"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>

namespace dormouse::store::postgres {
namespace {

std::string frame_bytes() { return R"([["note",1,{"text":")" + std::string(400, 'x') + R"("}]])"; }

port::Append next_append(std::uint64_t number, Seq after) {
    port::Append one;
    one.session = SessionId::make(number, Bits128{1});
    one.epoch = 1;
    one.after = after;
    one.frame = {after + 1, 1, frame_bytes()};
    one.wake_changed = false;
    if (after > 0) return one;
    one.row = port::SessionRow{.id = one.session,
                               .project = "acme",
                               .agent = "ops",
                               .alias = "",
                               .title = "",
                               .status = "active"};
    return one;
}

// Batches of appends to as many sessions: their creation and four more.
void appends(benchmark::State& state) {
    char const* const url = std::getenv("DORMOUSE_BENCH_URL");
    auto* const server = url == nullptr ? TestServer::instance() : nullptr;
    if (url == nullptr && server == nullptr) return state.SkipWithError("no PostgreSQL");
    auto opened =
        PostgresStore::open(url != nullptr ? url : server->fresh_url(), {.relaxed = true});
    if (!opened) return state.SkipWithError(opened.error().detail.c_str());
    auto& store = **opened;
    // Apart from those of another process that measures at the same time, and of earlier runs.
    static std::uint64_t number = static_cast<std::uint64_t>(::getpid() % 1'000) * 100'000'000 +
                                  store.next_session_number() % 100'000'000;
    auto const size = static_cast<std::uint64_t>(state.range(0));
    Seq after = 0;
    for (auto _ : state) {
        std::vector<port::Append> batch;
        for (std::uint64_t i = 0; i < size; ++i) batch.push_back(next_append(number + i, after));
        for (auto const& result : store.commit(batch))
            if (!result) return state.SkipWithError(result.error().detail.c_str());
        after = (after + 1) % 5;
        if (after == 0) number += size;
    }
    number += size;
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(appends)->Arg(1)->Arg(8)->Arg(32)->Arg(128)->UseRealTime();

}  // namespace
}  // namespace dormouse::store::postgres
