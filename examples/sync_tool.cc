// The smallest program: a tool that answers at once, a scripted model, and nothing on disk.
//
// Prints:
//   It is 12 degrees in Oslo.
#include <dormouse/dormouse.h>

#include <iostream>

struct Where {
    std::string city;

    static constexpr dormouse::Doc doc[] = {{"city", "A city's name in English"}};
};
struct Weather {
    int degrees = 0;
};

Weather weather_in(Where const& where) { return {where.city == "Oslo" ? 12 : 30}; }

int main() {
    dormouse::Script script;
    script.on("Oslo").calls("weather", dormouse::to_json(Where{"Oslo"}).value());
    script.when_answered("weather").says("It is 12 degrees in Oslo.");

    auto runtime = dormouse::Runtime::open({
        .store = ":memory:",
        .agents = {{.name = "guide", .model = script.model(), .tools = {"weather"}}},
        .tools = {dormouse::tool("weather", weather_in, {.description = "The weather now."})},
    });
    if (!runtime) return std::cerr << runtime.error().detail << '\n', 1;

    auto const session = runtime->create({.agent = "guide", .prompt = "How is it in Oslo?"});
    if (!session || !runtime->wait_idle(*session)) return 1;
    std::cout << runtime->last_reply(*session).value_or("nothing") << '\n';
}
