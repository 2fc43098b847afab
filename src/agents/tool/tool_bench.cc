// The cost of a typed tool in addition to its function: decoding, checking and encoding a struct of
// about 200 bytes of JSON. The target is 2 microseconds.
#include <dormouse/tool.h>

#include <benchmark/benchmark.h>

namespace dormouse {
namespace {

enum class Size { small, medium, large };

struct Order {
    std::string customer;
    std::string address;
    std::int64_t number = 0;
    double price = 0;
    Size size = Size::small;
    std::optional<std::string> note;
    std::vector<int> items;
    bool express = false;

    static constexpr Doc doc[] = {
        {"customer", "", {.min_size = 1, .max_size = 40}},
        {"number", "", {.min = 1}},
        {"items", "", {.max_size = 20}},
    };
};

Order next(Order order) {
    ++order.number;
    return order;
}

Order const sample{.customer = "Ann Example",
                   .address = "12 Long Street, 10115 Berlin",
                   .number = 9007199254740993,
                   .price = 19.95,
                   .size = Size::medium,
                   .note = "leave it with the neighbour, please",
                   .items = {1, 20, 300, 4'000},
                   .express = true};

void plain_function(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(next(sample));
}
BENCHMARK(plain_function);

void typed_tool(benchmark::State& state) {
    auto const tool = dormouse::tool("next", [](Order const& order) { return next(order); });
    Call::Facts facts;
    facts.tool = "next";
    facts.input = *to_json(sample);
    Call const call(facts);
    for (auto _ : state) benchmark::DoNotOptimize(tool->execute(call));
    state.counters["bytes"] = static_cast<double>(facts.input.size());
}
BENCHMARK(typed_tool);

void decoding(benchmark::State& state) {
    Json const json = *to_json(sample);
    for (auto _ : state) benchmark::DoNotOptimize(from_json<Order>(json));
}
BENCHMARK(decoding);

void encoding(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(to_json(sample));
}
BENCHMARK(encoding);

}  // namespace
}  // namespace dormouse
