// Measures what it costs to write one call beside many others. Not one of the tests.
#include "store/files/file_index.h"

#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace dormouse::store {
namespace {

port::CallDocument document(std::uint64_t number) {
    PendingId const id{SessionId::make(number, {}), 1, 1, {}};
    return {id, port::PendingStatus::waiting, {}, "{\"x\":\"" + std::string(400, 'x') + "\"}"};
}

// Writes one call, with its session, beside state.range(0) others.
void write_call(benchmark::State& state) {
    auto name = (std::filesystem::temp_directory_path() / "dormouse-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    FileIndex index(name);
    if (!index.open() || !index.begin_rebuild()) std::abort();
    port::IndexBatch all;
    for (std::uint64_t n = 1; n <= static_cast<std::uint64_t>(state.range(0)); ++n)
        all.calls.push_back(document(n));
    all.position = "0";
    if (!index.apply(all)) std::abort();
    std::uint64_t turn = 0;
    for (auto _ : state) {
        std::uint64_t const n = 1 + turn++ % static_cast<std::uint64_t>(state.range(0));
        auto const done = index.apply({.calls = {document(n)},
                                       .sessions = {{SessionId::make(n, {}), "default", "{}"}},
                                       .position = "1"});
        if (!done) std::abort();
    }
    std::filesystem::remove_all(name);
}
BENCHMARK(write_call)
    ->Arg(100)
    ->Arg(100'000)
    ->Iterations(2'000)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dormouse::store

BENCHMARK_MAIN();
