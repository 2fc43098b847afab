// The schema of a type, its reader and its writer agree on every value and text.
#include <dormouse/schema.h>

#include "json/json.h"
#include "json/schema/schema.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace dormouse {
namespace {

enum class Colour { red, green, blue };

struct Inner {
    std::int16_t small = 7;
    std::optional<std::string> note = {};
};
struct Point {
    static constexpr std::string_view tag = "point";
    double x;
};
struct Line {
    static constexpr std::string_view tag = "line";
    std::vector<double> points;
};

struct Sample {
    std::string name;
    bool flag;
    std::uint8_t byte;
    std::int64_t big;
    double number;
    Colour colour;
    std::optional<Colour> other;
    std::vector<Inner> list;
    std::array<std::int32_t, 2> pair;
    std::map<std::string, std::optional<int>> map;
    std::variant<std::string, Point, Line> shape;
    std::chrono::seconds wait{5};
    std::optional<Inner> inner;
    Json any;

    static constexpr Doc doc[] = {
        {"name", "", {.max_size = 5}},
        {"byte", "", {.min = 3}},
        {"list", "", {.max_size = 3}},
    };
};

template <class T> rc::Gen<std::optional<T>> maybe(rc::Gen<T> gen) {
    return rc::gen::apply(
        [](bool there, T value) {
            return there ? std::optional<T>(std::move(value)) : std::nullopt;
        },
        rc::gen::arbitrary<bool>(), std::move(gen));
}

// Valid UTF-8, with characters that must be escaped.
std::string any_text(std::size_t most) {
    std::string const characters[] = {"a", "Z", "\"", "\\", "\n", "/", "~", "é", "😀", "\x01", " "};
    std::string out;
    auto const picks =
        *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 11));
    for (std::size_t i = 0; i < std::min(picks.size(), most); ++i) out += characters[picks[i]];
    return out;
}

Inner any_inner() {
    Inner inner{*rc::gen::arbitrary<std::int16_t>(), {}};
    if (*rc::gen::arbitrary<bool>()) inner.note = any_text(10);
    return inner;
}

std::variant<std::string, Point, Line> any_shape() {
    switch (*rc::gen::inRange(0, 3)) {
        case 0: return any_text(4);
        case 1: return Point{*rc::gen::arbitrary<double>()};
        default: return Line{*rc::gen::arbitrary<std::vector<double>>()};
    }
}

Sample any_sample() {
    auto const colour = rc::gen::element(Colour::red, Colour::green, Colour::blue);
    Sample out{};
    out.name = any_text(5);
    out.flag = *rc::gen::arbitrary<bool>();
    out.byte = *rc::gen::inRange<std::uint8_t>(3, 255);
    out.big = *rc::gen::arbitrary<std::int64_t>();
    out.number = *rc::gen::arbitrary<double>();
    out.colour = *colour;
    out.other = *maybe(colour);
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) out.list.push_back(any_inner());
    out.pair = {*rc::gen::arbitrary<std::int32_t>(), *rc::gen::arbitrary<std::int32_t>()};
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
        out.map[any_text(6)] = *maybe(rc::gen::arbitrary<int>());
    out.shape = any_shape();
    out.wait = std::chrono::seconds(*rc::gen::inRange(0, 1'000'000));
    if (*rc::gen::arbitrary<bool>()) out.inner = any_inner();
    out.any = Json::trusted(*rc::gen::element<std::string>("null", "[1,{}]", "\"x\"", "1e5"));
    return out;
}

RC_GTEST_PROP(Typed, WrittenValue_FitsTheSchemaAndReadsBack, ()) {
    static json::Schema const schema(schema_of<Sample>());
    Sample const sample = any_sample();
    auto const json = to_json(sample);
    RC_ASSERT(json.has_value());
    auto const checked = json::check(json->text());
    RC_ASSERT(checked.has_value());
    RC_ASSERT(schema.violations(*checked).empty());
    auto const back = from_json<Sample>(*checked);
    RC_ASSERT(back.has_value());
    RC_ASSERT(back->big == sample.big);
    RC_ASSERT(back->number == sample.number);
    auto const again = to_json(*back);
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == *json);
}

// A member of an object that is mostly valid.
std::string any_member(std::string const& name, std::string const& right) {
    std::string const others[] = {"null",
                                  "true",
                                  "0",
                                  "-1",
                                  "2.5",
                                  "300",
                                  "1e2",
                                  "1.0",
                                  "\"\"",
                                  "\"red\"",
                                  "\"5s\"",
                                  "\"toolong\"",
                                  "[]",
                                  "[1]",
                                  "[1,2]",
                                  "[1,2,3]",
                                  "{}",
                                  R"({"small":1})",
                                  R"({"small":"x"})",
                                  R"({"type":"point","x":1})",
                                  R"({"type":"line","points":[1,2]})",
                                  R"({"type":"line","points":[1,""]})",
                                  R"([{},{"note":null}])",
                                  R"([{},{},{},{}])",
                                  R"({"a":1,"b":null})",
                                  R"({"type":"dot"})"};
    bool const is_right = *rc::gen::inRange(0, 12) != 0;
    std::string const value =
        is_right ? right : others[*rc::gen::inRange<std::size_t>(0, std::size(others))];
    return "\"" + name + "\":" + value;
}

RC_GTEST_PROP(Typed, SchemaAndReader_AcceptTheSame, ()) {
    static json::Schema const schema(schema_of<Sample>());
    std::pair<std::string, std::string> const members[] = {{"name", "\"ab\""},
                                                           {"flag", "true"},
                                                           {"byte", "200"},
                                                           {"big", "5"},
                                                           {"number", "1.5"},
                                                           {"colour", "\"red\""},
                                                           {"other", "null"},
                                                           {"list", "[{}]"},
                                                           {"pair", "[1,2]"},
                                                           {"map", "{}"},
                                                           {"shape", "\"x\""},
                                                           {"wait", "\"5s\""},
                                                           {"inner", R"({"note":"n"})"},
                                                           {"any", "[]"}};
    std::string text;
    for (auto const& [name, right] : members) {
        if (*rc::gen::inRange(0, 60) == 0) continue;
        text += (text.empty() ? "" : ",") + any_member(name, right);
    }
    if (*rc::gen::inRange(0, 30) == 0) text += (text.empty() ? "" : ",") + any_member("more", "1");
    auto const json = json::check("{" + text + "}");
    RC_ASSERT(json.has_value());
    bool const fits = schema.violations(*json).empty();
    bool const reads = from_json<Sample>(*json).has_value();
    RC_CLASSIFY(reads, "accepted");
    RC_ASSERT(fits == reads);
}

}  // namespace
}  // namespace dormouse
