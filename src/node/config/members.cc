#include "config/members.h"

#include "config/parts.h"
#include "config/values.h"

#include "base/check.h"
#include "base/enum_words.h"
#include "base/text/duration.h"
#include "base/text/text.h"
#include "json/json.h"
#include "json/schema/pattern.h"
#include "json/schema/schema.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace dormouse::config {

namespace {

// A token of RFC 9110.
bool header_name(std::string_view name) {
    return !name.empty() && name.size() <= 128 && std::ranges::all_of(name, [](char c) {
        return std::string_view(
                   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                   "!#$%&'*+-.^_`|~")
            .contains(c);
    });
}

bool header_value(std::string_view value) {
    return value.size() <= 8'192 && std::ranges::all_of(value, [](unsigned char c) {
               return c == '\t' || (c >= 0x20 && c != 0x7F);
           });
}

// Headers about framing and routing, which the sender sets.
bool header_taken(std::string_view name) {
    constexpr std::string_view taken[] = {"host",       "content-length", "transfer-encoding",
                                          "connection", "upgrade",        "te",
                                          "trailer",    "expect"};
    return std::ranges::find(taken, lower_case(name)) != std::end(taken);
}

std::expected<Header, std::string> header_of(std::string const& name, Node const& node,
                                             Environment const& environment) {
    if (auto const* const constant = node.get<std::string>()) return Header{name, *constant, {}};
    auto const* const table = node.get<Node::Table>();
    if (table == nullptr) return std::unexpected("is " + std::string(node.kind()));
    Header out{name, {}, {}};
    std::string prefix;
    for (Member const& member : *table) {
        auto const* const text = member.node.get<std::string>();
        if (text == nullptr || (member.name != "env" && member.name != "prefix")) {
            return std::unexpected("must not have " + shown(member.name) + " like that");
        }
        (member.name == "env" ? out.env : prefix) = *text;
    }
    if (out.env.empty()) return std::unexpected(std::string("names no variable"));
    auto const value = environment.variable(out.env);
    if (!value) {
        return std::unexpected("needs a variable of the environment that is not set" +
                               shown_variable(out.env));
    }
    out.value = prefix + *value;
    return out;
}

void write_json(json::Writer& out, Node const& node);

struct WriteJson {
    json::Writer& out;
    void operator()(bool value) const { out.value(value); }
    void operator()(std::int64_t value) const { out.value(value); }
    void operator()(double value) const { out.value(value); }
    void operator()(std::string const& value) const { out.value(value); }
    void operator()(Node::Array const& list) const {
        out.begin_array();
        for (Node const& element : list) write_json(out, element);
        out.end_array();
    }
    void operator()(Node::Table const& table) const {
        out.begin_object();
        for (Member const& member : table) {
            out.key(member.name);
            write_json(out, member.node);
        }
        out.end_object();
    }
    void operator()(Node::Other const& /*other*/) const { out.null(); }
};

void write_json(json::Writer& out, Node const& node) { std::visit(WriteJson{out}, node.value); }

// Returns the value that JSON cannot express; empty: none.
std::string not_json(Node const& node) {
    if (node.get<Node::Other>()) return "holds " + std::string(node.kind());
    auto const* const number = node.get<double>();
    if (number && !std::isfinite(*number)) return "holds a number that is not finite";
    if (auto const* const list = node.get<Node::Array>()) {
        for (Node const& element : *list) {
            if (auto found = not_json(element); !found.empty()) return found;
        }
    }
    if (auto const* const table = node.get<Node::Table>()) {
        for (Member const& member : *table) {
            if (auto found = not_json(member.node); !found.empty()) return found;
        }
    }
    return {};
}

Json read_schema(Value const& value) {
    auto const& [section, key, node] = value;
    auto const path = (std::filesystem::path(section.reading().folder) / *node.get<std::string>());
    auto const text = section.reading().environment.read_file(path.string());
    if (!text) {
        section.report(key.name, "cannot be read: " + path.string() + ": " + text.error().detail,
                       "name a file, as seen from the folder of this one");
        return {};
    }
    auto const schema = json::check(*text);
    if (!schema) {
        section.report(key.name, "is not JSON: " + path.string() + ": " + schema.error().detail,
                       "correct that file");
        return {};
    }
    auto const broken = json::violations(*schema, Json::trusted("null"));
    bool const usable = json::View(*schema).kind() == json::Kind::object &&
                        (broken.empty() || broken.front().pointer != "#");
    if (usable) return json::compact(*schema);
    section.report(key.name,
                   "is not a JSON Schema: " + path.string() +
                       (broken.empty() ? "" : ": " + broken.front().message),
                   "correct that file (draft 7)");
    return {};
}

Json read_json(Value const& value) {
    auto const body = json::check(*value.node.get<std::string>());
    if (body) return json::compact(*body);
    value.section.report(value.key.name, "is not JSON: " + body.error().detail,
                         "write JSON between three single quotes: '''{ … }'''");
    return {};
}

Json read_table(Value const& value) {
    auto json = to_json(value.node);
    if (json) return *std::move(json);
    value.section.report(value.key.name, json.error(), "write only what JSON has");
    return {};
}

std::optional<session::Join> join_of(Node const& node) {
    constexpr std::uint32_t quorum_max = 1'000;
    if (auto const* const word = node.get<std::string>()) {
        if (*word == "all") return session::Join{};
        if (*word == "each") return session::Join{.n = 1, .cancel_rest = false};
        if (*word == "any") return session::Join{.n = 1, .cancel_rest = true};
        return std::nullopt;
    }
    auto const* const table = node.get<Node::Table>();
    if (table == nullptr || table->size() != 1 || table->front().name != "quorum") {
        return std::nullopt;
    }
    auto const* const n = table->front().node.get<std::int64_t>();
    if (n == nullptr || *n < 1 || *n > quorum_max) return std::nullopt;
    return session::Join{.n = static_cast<std::uint32_t>(*n), .cancel_rest = false};
}

// Integers and booleans count as their text.
std::optional<std::string> text_of(Node const& node) {
    if (auto const* const text = node.get<std::string>()) return *text;
    if (auto const* const number = node.get<std::int64_t>()) return std::to_string(*number);
    if (auto const* const flag = node.get<bool>()) return *flag ? "true" : "false";
    return std::nullopt;
}

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

template <class T, class Text>
std::string list_of(std::vector<T> const& values, Text const& text_of_one) {
    std::string out;
    for (T const& value : values) out += (out.empty() ? "" : ", ") + in_quotes(text_of_one(value));
    return "[" + out + "]";
}

}  // namespace

std::expected<Json, std::string> to_json(Node const& node) {
    if (auto found = not_json(node); !found.empty()) return std::unexpected(std::move(found));
    json::Writer out;
    write_json(out, node);
    auto checked = json::check(out.take());
    if (!checked) return std::unexpected("cannot be JSON: " + checked.error().detail);
    return *checked;
}

std::size_t place_of(Value const& value) {
    auto const words = split_words(value.key.words);
    auto const at = std::ranges::find(words, *value.node.get<std::string>());
    return static_cast<std::size_t>(at - words.begin());
}

std::string word_at(Key const& key, std::size_t place) {
    return in_quotes(split_words(key.words).at(place));
}

void take(Value const& value, bool& out) {
    auto const* const flag = value.node.get<bool>();
    out = flag ? *flag : place_of(value) == 1;
}

void take(Value const& value, std::uint32_t& out) {
    out = static_cast<std::uint32_t>(*value.node.get<std::int64_t>());
}

std::optional<Price> price_of(double number) {
    CHECK(number >= 0 && number <= 1e6);
    constexpr double unit = 1e6;
    constexpr double tolerance = 1e-3;  // a decimal fraction is not exact as a double
    double const micros = std::round(number * unit);
    if (std::abs(number * unit - micros) > tolerance) return std::nullopt;
    return Price{static_cast<std::int64_t>(micros)};
}

void take(Value const& value, Price& out) {
    auto const* const whole = value.node.get<std::int64_t>();
    double const number = whole ? static_cast<double>(*whole) : *value.node.get<double>();
    out = price_of(number).value_or(out);
}

void take(Value const& value, Duration& out) {
    out = parse_duration(*value.node.get<std::string>()).value_or(out);
}

void take(Value const& value, std::optional<Duration>& out) {
    out = parse_duration(*value.node.get<std::string>());
}

void take(Value const& value, std::string& out) { out = *value.node.get<std::string>(); }

void take(Value const& value, std::vector<std::string>& out) {
    out.clear();
    for (Node const& element : *value.node.get<Node::Array>())
        out.push_back(*element.get<std::string>());
}

void take(Value const& value, std::optional<Secret>& out) {
    std::string const& name = *value.node.get<std::string>();
    out = Secret{name, value.section.reading().environment.variable(name).value_or("")};
}

void take(Value const& value, std::vector<Secret>& out) {
    for (Node const& element : *value.node.get<Node::Array>()) {
        std::string const& name = *element.get<std::string>();
        if (auto secret = value.section.reading().environment.variable(name))
            out.push_back({name, *std::move(secret)});
    }
}

void take(Value const& value, std::vector<Header>& out) {
    constexpr std::string_view how =
        "write name = \"text\", or name = { env = \"VARIABLE\", prefix "
        "= \"Bearer \" } with the variable set";
    auto const& [report, environment, folder] = value.section.reading();
    for (Member const& member : *value.node.get<Node::Table>()) {
        std::string const title = value.section.label(value.key.name) + " " + shown(member.name);
        if (!header_name(member.name)) {
            report.add(member.line, title + " cannot be the name of a header",
                       "use letters, digits and -");
        } else if (header_taken(member.name)) {
            report.add(member.line, title + " is set by the sender", "leave it out");
        } else if (auto header = header_of(member.name, member.node, environment); !header) {
            report.add(member.line, title + " " + header.error(), how);
        } else if (!header_value(header->value)) {
            report.add(member.line, title + " has a value that no header can have",
                       "use up to 8192 bytes without line breaks");
        } else {
            out.push_back(std::move(*header));
        }
    }
}

void take(Value const& value, Json& out) {
    if (value.key.kind == Kind::table)
        out = read_table(value);
    else
        out = value.key.form == Form::file ? read_schema(value) : read_json(value);
}

void take(Value const& value, session::Join& out) {
    if (auto const join = join_of(value.node)) {
        out = *join;
        return;
    }
    value.section.report(value.key.name, "is not one of its values",
                         "write \"all\", \"each\", \"any\" or { quorum = 2 } with a number from "
                         "1 to 1000");
}

void take(Value const& value, std::vector<session::PauseReason>& out) {
    std::vector<std::string> words;
    take(value, words);
    if (!words.empty()) out.clear();
    for (std::string const& word : words) {
        if (auto const reason = session::parse<session::PauseReason>(word)) {
            out.push_back(*reason);
        } else {
            value.section.report(value.key.name, "names " + shown(word) + ", which is not a reason",
                                 "write " + one_of(words_of<session::PauseReason>));
        }
    }
}

void take(Value const& value, Conditions& out) {
    constexpr std::size_t conditions_max = 16;
    for (Member const& member : *value.node.get<Node::Table>()) {
        auto const text = text_of(member.node);
        if (!text || !member.name.starts_with('/') || out.size() == conditions_max) {
            value.section.report(value.key.name,
                                 "has " + shown(member.name) + ", which is not a condition",
                                 "write at most 16, like { \"/action\" = \"completed\" }");
            return;
        }
        out.emplace_back(member.name, *text);
    }
}

namespace {

constexpr std::string_view condition_form =
    R"(write for example { "/env" = "production", "/count" = { min = 10 } }, at most 16)";

std::optional<double> number_of(Node const& node) {
    if (auto const* const whole = node.get<std::int64_t>()) return static_cast<double>(*whole);
    auto const* const number = node.get<double>();
    return number && std::isfinite(*number) ? std::optional(*number) : std::nullopt;
}

// Stores one of equals, pattern, min and max. Returns what is wrong; empty: nothing.
std::string take_part(std::string_view name, Node const& node, Condition& out) {
    if (name == "equals") {
        bool const plain = node.get<std::string>() || node.get<bool>() || number_of(node);
        if (plain) out.equals = to_json(node).value_or(Json());
        return plain ? "" : "must be a string, a number, true or false";
    }
    if (name == "pattern") {
        auto const* const text = node.get<std::string>();
        if (text == nullptr) return "must be a string with a regular expression";
        out.pattern = *text;
        return json::pattern_error(*text);
    }
    if (name != "min" && name != "max") return "must be equals, pattern, min or max";
    auto const number = number_of(node);
    (name == "min" ? out.min : out.max) = number;
    return number ? "" : "must be a number";
}

// The condition of one pointer. Returns what is wrong; empty: nothing.
std::string take_condition(Member const& member, Condition& out) {
    out.pointer = member.name;
    if (!member.name.starts_with('/') || misfit(Form::pointer, member.name)) {
        return shown(member.name) + ", which is not a JSON pointer into the arguments";
    }
    auto const* const parts = member.node.get<Node::Table>();
    if (parts == nullptr) {
        auto const wrong = take_part("equals", member.node, out);
        return wrong.empty() ? "" : shown(member.name) + ", which " + wrong;
    }
    if (parts->empty()) return shown(member.name) + " without a condition";
    for (Member const& part : *parts) {
        if (auto const wrong = take_part(part.name, part.node, out); !wrong.empty())
            return shown(member.name) + ", whose " + shown(part.name) + " " + wrong;
    }
    bool const none = out.min && out.max && *out.min > *out.max;
    return none ? shown(member.name) + ", whose min is greater than its max" : "";
}

}  // namespace

void take(Value const& value, std::vector<Condition>& out) {
    constexpr std::size_t conditions_max = 16;
    auto const& table = *value.node.get<Node::Table>();
    if (table.empty() || table.size() > conditions_max) {
        return value.section.report(
            value.key.name, "has " + std::to_string(table.size()) + " conditions", condition_form);
    }
    std::vector<Condition> all;
    for (Member const& member : table) {
        Condition one;
        if (auto const wrong = take_condition(member, one); !wrong.empty())
            return value.section.report(value.key.name, "has " + wrong, condition_form);
        all.push_back(std::move(one));
    }
    out = std::move(all);
}

namespace {

Section part_of_tool(Value const& value, std::string_view section) {
    return {value.section.reading(), section, value.node, value.section.line(value.key.name)};
}

}  // namespace

void take(Value const& value, Poll& out) {
    out = read_part<Poll>(part_of_tool(value, "tool.poll"));
}

void take(Value const& value, Validator& out) {
    out = read_part<Validator>(part_of_tool(value, "tool.validator"));
}

std::string initial(Key const& key, bool value) {
    return key.kind == Kind::word ? word_at(key, value ? 1 : 0) : value ? "true" : "false";
}

std::string initial(Key const& /*key*/, std::uint32_t value) { return std::to_string(value); }

std::string initial(Key const& /*key*/, Price value) {
    constexpr std::int64_t unit = 1'000'000;
    std::string decimals = std::to_string(unit + value.micros % unit).substr(1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    return std::to_string(value.micros / unit) + (decimals.empty() ? "" : "." + decimals);
}

std::string initial(Key const& /*key*/, Duration value) { return in_quotes(duration_text(value)); }

std::string initial(Key const& /*key*/, std::string const& value) {
    return value.empty() ? value : in_quotes(value);
}

std::string initial(Key const& /*key*/, std::vector<std::string> const& value) {
    return list_of(value, [](std::string const& each) { return each; });
}

std::string initial(Key const& /*key*/, std::vector<session::PauseReason> const& value) {
    return list_of(value, [](session::PauseReason each) { return session::text(each); });
}

std::string initial(Key const& /*key*/, Secret const& value) {
    return value.env.empty() ? std::string() : in_quotes(value.env);
}

std::string initial(Key const& /*key*/, std::vector<Secret> const& value) {
    if (value.empty()) return {};
    return list_of(value, [](Secret const& each) { return each.env; });
}

std::string initial(Key const& /*key*/, std::vector<Header> const& value) {
    if (value.empty()) return {};
    return list_of(value, [](Header const& each) {
        return each.name + (each.env.empty() ? "" : " from " + each.env);
    });
}

std::string initial(Key const& /*key*/, Json const& value) {
    return value.is_null() ? std::string() : std::string(value.text());
}

std::string initial(Key const& /*key*/, session::Join const& /*value*/) { return in_quotes("all"); }

}  // namespace dormouse::config
