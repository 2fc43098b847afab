#include "config/schema.h"

#include "config/example.h"
#include "config/keys.h"
#include "config/node.h"
#include "config/read.h"
#include "config/test_world.h"
#include "json/json.h"
#include "json/schema/schema.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace dormouse::config {
namespace {

void write_node(json::Writer& out, Node const& node);

void write_members(json::Writer& out, Node::Table const& table) {
    out.begin_object();
    for (Member const& member : table) write_node(out.key(member.name), member.node);
    out.end_object();
}

void write_node(json::Writer& out, Node const& node) {
    if (auto const* const truth = node.get<bool>()) {
        out.value(*truth);
    } else if (auto const* const whole = node.get<std::int64_t>()) {
        out.value(*whole);
    } else if (auto const* const number = node.get<double>()) {
        out.value(*number);
    } else if (auto const* const text = node.get<std::string>()) {
        out.value(*text);
    } else if (auto const* const table = node.get<Node::Table>()) {
        write_members(out, *table);
    } else if (auto const* const array = node.get<Node::Array>()) {
        out.begin_array();
        for (Node const& element : *array) write_node(out, element);
        out.end_array();
    } else {
        out.null();  // a date, which no key takes
    }
}

// "POINTER: MESSAGE" of each violation.
std::string violations_of(std::string const& toml) {
    static Json const rules = Json::trusted(schema());
    static json::Schema const compiled(rules);
    auto const top = parse_toml(toml);
    if (!top) return "no TOML: " + top.error().text;
    json::Writer out;
    write_node(out, *top);
    std::string all;
    for (json::Violation const& one : compiled.violations(out.json()))
        all += one.pointer + ": " + one.message + "\n";
    return all;
}

bool is_valid_for_the_check(std::string const& toml) {
    TestEnvironment const environment;
    return read_config("d.toml", toml, environment.environment()).has_value();
}

// The example with the # of each key removed.
std::string uncommented_example() {
    std::istringstream in{example()};
    std::string out;
    for (std::string line; std::getline(in, line);) {
        bool const key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
        out += (key ? line.substr(1) : line) + "\n";
    }
    return out;
}

// A value of another type than the key's.
std::string wrong_type(Kind kind) {
    switch (kind) {
        case Kind::flag: return "\"yes\"";
        case Kind::number:
        case Kind::price:
        case Kind::texts:
        case Kind::table: return "\"text\"";
        case Kind::duration:
        case Kind::text:
        case Kind::word: return "7";
        case Kind::mixed: break;
    }
    return {};
}

// A value of the key's type that is out of bounds or of no known form; empty: there is none.
std::string wrong_value(Key const& key) {
    switch (key.kind) {
        case Kind::number:
        case Kind::price: return std::to_string(key.max + 1);
        case Kind::duration: return "\"soon\"";
        case Kind::word: return "\"no-such-word\"";
        case Kind::text: return '"' + std::string(static_cast<std::size_t>(key.max) + 1, 'a') + '"';
        case Kind::texts: return "[7]";
        default: return {};
    }
}

std::string in_section(std::string_view section, std::string const& line) {
    if (is_part_of_tool(section))
        return "[[tool]]\n" + std::string(section.substr(5)) + " = { " + line + " }\n";
    auto const name = std::string(section);
    return (is_list(section) ? "[[" + name + "]]\n" : "[" + name + "]\n") + line + "\n";
}

TEST(Schema, Examples_AreValid) {
    EXPECT_EQ(violations_of(""), "");
    EXPECT_EQ(violations_of(example()), "");
    EXPECT_EQ(violations_of(uncommented_example()), "");
}

TEST(Schema, EveryKey_OfAnotherType_IsFound) {
    for (Key const& key : keys()) {
        auto const value = wrong_type(key.kind);
        if (value.empty()) continue;
        auto const toml = in_section(key.section, std::string(key.name) + " = " + value);
        EXPECT_FALSE(is_valid_for_the_check(toml)) << toml;
        auto const found = violations_of(toml);
        EXPECT_NE(found.find(std::string(key.name)), std::string::npos) << toml << found;
    }
}

TEST(Schema, EveryKey_WithAWrongValue_IsFound) {
    for (Key const& key : keys()) {
        auto const value = wrong_value(key);
        if (value.empty()) continue;
        auto const toml = in_section(key.section, std::string(key.name) + " = " + value);
        EXPECT_FALSE(is_valid_for_the_check(toml)) << toml.substr(0, 200);
        auto const found = violations_of(toml);
        EXPECT_NE(found.find(std::string(key.name)), std::string::npos)
            << toml.substr(0, 200) << found.substr(0, 500);
    }
}

TEST(Schema, UnknownAndMissingKeys_AreFound) {
    for (std::string_view const section : sections()) {
        auto const toml = in_section(section, "no_such_key = 1");
        EXPECT_FALSE(is_valid_for_the_check(toml)) << toml;
        EXPECT_NE(violations_of(toml), "") << toml;
    }
    for (Key const& key : keys()) {
        if (!key.required || !key.only.empty()) continue;
        auto const found = violations_of(in_section(key.section, ""));
        EXPECT_NE(found.find(std::string(key.name)), std::string::npos) << key.section << found;
    }
    EXPECT_NE(violations_of("[sever]\n"), "");
    EXPECT_NE(violations_of("[tool]\nname = \"x\"\n"), "") << "it is written [[tool]]";
}

}  // namespace
}  // namespace dormouse::config
