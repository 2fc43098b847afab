// Tests every key of the table with valid and invalid values derived from its row: a key that is
// not read, or not checked, fails without a test of its own.

#include "config/keys.h"

#include "config/read.h"
#include "config/test_world.h"
#include "config/values.h"

#include "base/text/duration.h"
#include "base/text/text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace dormouse::config {

void PrintTo(Key const& key, std::ostream* out);  // found by argument-dependent lookup
void PrintTo(Key const& key, std::ostream* out) { *out << key.section << "." << key.name; }

namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;  // key, value as TOML

// A valid file that ends with the section of the key.
struct Sample {
    std::string before;
    std::string title;
    Lines lines;
};

constexpr char const* model_section =
    "[[model]]\nid = \"m\"\nkind = \"openai-chat\"\nmodel = \"gpt\"\n";
constexpr char const* tool_section =
    "[[tool]]\nname = \"t\"\nkind = \"http\"\nurl = \"http://x/y\"\n";
constexpr char const* scripted_section = "[[model]]\nid = \"a\"\nkind = \"scripted\"\n";
constexpr char const* agent_section = "[[agent]]\nid = \"a\"\nmodel = \"m\"\n";
constexpr char const* mail_and_user =
    "[email]\nserver = \"127.0.0.1:25\"\nfrom = \"d@x.org\"\n"
    "[[user]]\nname = \"a\"\nemail = \"a@x.org\"\n";
constexpr char const* user_section = "[[user]]\nname = \"ann\"\nemail = \"ann@x.org\"\n";
constexpr char const* oidc_section =
    "[oidc]\nissuer = \"https://x.org\"\nclient_id = \"me\"\n"
    "roles = { g = \"read\" }\n";

// Names what a sample is for: a section, or some of its keys.
std::string_view subject_of(Key const& key) {
    if (key.section == "budget") return key.section;
    if (key.kind == Kind::price || key.name == "currency") return "cost";
    return key.name == "oidc_subject" ? key.name : key.section;
}

struct SampleRow {
    std::string_view subject;
    std::string_view only;  // the beginning of Key::only; empty: any
    std::vector<char const*> before;
    char const* title;
    Lines lines;
};

// The first row that fits is the sample of a key.
std::vector<SampleRow> const samples{
    {"project", "", {}, "[[project]]", {{"id", "\"p\""}}},
    {"budget",
     "",
     {model_section, agent_section},
     "[[budget]]",
     {{"per", "\"turn\""}, {"tokens", "5"}, {"cost", "1"}, {"timeout", "\"1h\""}}},
    {"cost",
     "",
     {model_section},
     "[[model]]",
     {{"id", "\"n\""}, {"kind", "\"scripted\""}, {"input_price", "1"}, {"output_price", "2"}}},
    {"model",
     "",
     {},
     "[[model]]",
     {{"id", "\"m\""}, {"kind", "\"openai-chat\""}, {"model", "\"gpt\""}}},
    {"agent", "acp", {}, "[[agent]]", {{"id", "\"a\""}, {"acp", "[\"node\"]"}}},
    {"agent",
     "",
     {model_section, scripted_section},
     "[[agent]]",
     {{"id", "\"a\""}, {"model", "\"m\""}}},
    {"tool",
     "command",
     {},
     "[[tool]]",
     {{"name", "\"t\""}, {"kind", "\"command\""}, {"command", "[\"node\"]"}}},
    {"tool",
     "",
     {},
     "[[tool]]",
     {{"name", "\"t\""}, {"kind", "\"http\""}, {"url", "\"http://x/y\""}}},
    {"mcp",
     "url",
     {},
     "[[mcp]]",
     {{"name", "\"s\""},
      {"url", "\"http://x/y\""},
      {"issuer", "\"https://i.example\""},
      {"client_id", "\"c\""},
      {"client_secret_env", "\"KEY\""}}},
    {"mcp", "", {}, "[[mcp]]", {{"name", "\"s\""}, {"command", "[\"node\"]"}}},
    {"tool.poll",
     "",
     {tool_section},
     "[tool.poll]",
     {{"url", "\"http://x/{input.n}\""}, {"done", "\"/done\""}}},
    {"tool.validator", "", {tool_section}, "[tool.validator]", {{"command", "[\"node\"]"}}},
    {"gate", "", {tool_section}, "[[gate]]", {{"tools", "[\"t\"]"}, {"ask", "\"Go?\""}}},
    {"source",
     "",
     {},
     "[[source]]",
     {{"id", "\"s\""}, {"kind", "\"hmac\""}, {"secrets_env", "[\"KEY\"]"}}},
    {"webhook",
     "",
     {},
     "[[webhook]]",
     {{"url", "\"https://x/y\""}, {"secret_env", "\"KEY\""}, {"events", "[\"expired\"]"}}},
    {"notify", "command", {}, "[[notify]]", {{"kind", "\"command\""}, {"command", "[\"node\"]"}}},
    {"notify",
     "slack-bot",
     {},
     "[[notify]]",
     {{"kind", "\"slack-bot\""}, {"token_env", "\"KEY\""}, {"channel", "\"5\""}}},
    {"notify", "email", {mail_and_user}, "[[notify]]", {{"kind", "\"email\""}}},
    {"email", "", {}, "[email]", {{"server", "\"127.0.0.1:25\""}, {"from", "\"d@example.org\""}}},
    {"oidc_subject", "", {oidc_section}, "[[user]]", {{"name", "\"ann\""}}},
    {"oidc",
     "",
     {user_section},
     "[oidc]",
     {{"issuer", "\"https://x.org\""}, {"client_id", "\"me\""}}},
    {"user", "", {}, "[[user]]", {{"name", "\"ann\""}}},
    {"notify", "", {}, "[[notify]]", {{"kind", "\"slack\""}, {"url_env", "\"KEY\""}}},
};

Sample sample(Key const& key) {
    for (SampleRow const& row : samples) {
        if (row.subject != subject_of(key) || !key.only.starts_with(row.only)) continue;
        Sample out{"", row.title, row.lines};
        for (char const* const text : row.before) out.before += text;
        return out;
    }
    return {"", heading(key.section), {}};
}

struct File {
    std::string text;
    std::uint32_t line = 0;          // of the key
    std::uint32_t heading_line = 0;  // of its section
};

// The sample with `value` for the key; nullopt: without the key.
File file_with(Key const& key, std::optional<std::string> const& value) {
    Sample const from = sample(key);
    File out{from.before + from.title + "\n"};
    out.heading_line = static_cast<std::uint32_t>(std::ranges::count(out.text, '\n'));
    for (auto const& [name, own] : from.lines) {
        if (name != key.name) out.text += name + " = " + own + "\n";
    }
    out.line = static_cast<std::uint32_t>(std::ranges::count(out.text, '\n')) + 1;
    if (value) out.text += std::string(key.name) + " = " + *value + "\n";
    return out;
}

std::string in_quotes(std::string const& text) { return "\"" + text + "\""; }

// A valid value that is no key's default.
std::string good_text(Form form) {
    switch (form) {
        case Form::id: return "a";
        case Form::tool: return "other_tool";
        case Form::pattern: return "ask_*";
        case Form::address: return "127.0.0.1:1";
        case Form::store: return "postgres://ann@db.example.org/work?schema=ops";
        case Form::index: return "files";
        case Form::redis: return "redis://db.example.org:6380/1";
        case Form::url: return "https://dm.example.org/under";
        case Form::issuer: return "https://id.example.org/realm/";
        case Form::template_url: return "https://example.org/jobs/{input.id}?x={input.y}";
        case Form::origin: return "https://app.example.org";
        case Form::host: return "dm.example.org:8443";
        case Form::pointer: return "/a~1b/0";
        case Form::variable: return "KEY";
        case Form::variables: return "LANG";
        case Form::network: return "10.0.0.0/8";
        case Form::file: return "schema.json";
        case Form::email: return "ann@example.org";
        case Form::currency: return "EUR";
        case Form::contact: return "mailto:ops@example.org";
        case Form::any: return "something";
    }
    return "";
}

// A value other than the default; for a tool's kind, the one whose other keys its sample has.
std::string other_word(Key const& key) {
    auto const words = split_words(key.words);
    if (key.section == "notify" && key.name == "kind") return "\"slack\"";
    bool const has_kinds = key.section == "tool" || key.section == "notify";
    if (has_kinds && key.name == "kind") return in_quotes(words.front());
    return in_quotes(words.back()) == default_of(key) ? in_quotes(words.front())
                                                      : in_quotes(words.back());
}

std::string good_value(Key const& key) {
    switch (key.kind) {
        case Kind::flag: return default_of(key) == "true" ? "false" : "true";
        case Kind::number: {
            auto const by_default = parse_number(default_of(key));
            if (!by_default) return std::to_string(key.min);
            auto const number = static_cast<std::int64_t>(*by_default);
            return std::to_string(number > key.min ? number - 1 : number + 1);
        }
        case Kind::price: return "0.000001";
        case Kind::duration: return in_quotes(duration_text(Duration(key.min)));
        case Kind::word: return other_word(key);
        case Kind::table:
            if (key.name == "poll") return R"({ url = "http://x/y", done = "/done" })";
            if (key.name == "validator") return R"({ command = ["node"] })";
            if (key.section == "gate" && key.name == "when") return R"({ "/a" = { min = 1 } })";
            if (key.name == "roles") return R"({ g = "read" })";
            if (key.name == "when") return R"({ "/a" = "b" })";
            return R"({ Name = "value" })";
        case Kind::mixed: return "\"any\"";
        case Kind::texts:
            if (key.name == "command") return R"(["node", "x"])";
            if (key.name == "events" || key.name == "on") return R"(["expired"])";
            if (key.name == "scopes") return R"(["openid"])";
            if (key.name == "roots") return R"(["work"])";
            if (key.name == "reasons") return R"(["approval"])";
            return "[" + in_quotes(good_text(key.form)) + "]";
        case Kind::text:
            if (key.name == "body") return R"('''{"a": 1}''')";
            if (key.name == "cwd") return in_quotes("work");
            if (key.name == "on_expiry") return in_quotes("tell");
            return in_quotes(good_text(key.form));
    }
    return "";
}

void expect_one_problem(Key const& key, std::string const& value) {
    File const file = file_with(key, value);
    auto const config = read_text(file.text);
    ASSERT_FALSE(config) << file.text;
    ASSERT_EQ(config.error().size(), 1U) << file.text << "\n" << line_of("f", config.error()[1]);
    Problem const& problem = config.error().front();
    EXPECT_EQ(problem.line, file.line) << file.text << "\n" << problem.text;
    EXPECT_NE(problem.text.find(key.name), std::string::npos) << problem.text;
    auto const advice = problem.text.find("; ");
    ASSERT_NE(advice, std::string::npos) << problem.text;
    EXPECT_GT(problem.text.size(), advice + 8) << problem.text;
    EXPECT_EQ(problem.text.find('\n'), std::string::npos) << problem.text;
}

class EveryKey : public testing::TestWithParam<Key> {};

std::string name_of(testing::TestParamInfo<Key> const& info) {
    std::string out = std::string(info.param.section) + "_" + std::string(info.param.name);
    std::ranges::replace(out, '.', '_');
    return out;
}

INSTANTIATE_TEST_SUITE_P(Keys, EveryKey, testing::ValuesIn(keys().begin(), keys().end()), name_of);

// Keys that are invalid without another one.
std::string other_half(Key const& key) {
    if (key.name == "tls_cert") return "tls_key = \"key.pem\"\n";
    return key.name == "tls_key" ? "tls_cert = \"cert.pem\"\n" : "";
}

TEST_P(EveryKey, Key_IsReadAndChangesTheConfiguration) {
    auto file = file_with(GetParam(), good_value(GetParam()));
    file.text += other_half(GetParam());
    auto const with = read_text(file.text);
    ASSERT_TRUE(with) << file.text << line_of("f", with.error().front());
    if (GetParam().required) return;
    // The kind requires a model's name and a tool's command: there is no default to compare.
    auto const without = read_text(file_with(GetParam(), std::nullopt).text);
    if (without) {
        EXPECT_NE(*with, *without) << file.text;
    }
}

TEST_P(EveryKey, Key_HasTheDefaultOfTheTable) {
    std::string const by_default = default_of(GetParam());
    if (by_default.empty()) return;
    auto const with = read_text(file_with(GetParam(), by_default).text);
    auto const without = read_text(file_with(GetParam(), std::nullopt).text);
    ASSERT_TRUE(with) << line_of("f", with.error().front());
    ASSERT_TRUE(without);
    // "24h" is the default of the reason, which applies if a tool has no timeout.
    if (GetParam().section == "tool" && GetParam().name == "timeout") return;
    EXPECT_EQ(*with, *without);
}

TEST_P(EveryKey, WrongType_IsOneProblem) {
    std::vector<std::pair<Kind, std::string>> const types{
        {Kind::flag, "true"},        {Kind::number, "5"},           {Kind::text, "\"x\""},
        {Kind::texts, "[[\"x\"]]"},  {Kind::table, "{ \"\" = 1 }"}, {Kind::mixed, "1.5"},
        {Kind::mixed, "2026-01-01"},
    };
    for (auto const& [kind, value] : types) {
        bool const string =
            kind == Kind::text && (GetParam().kind == Kind::text || GetParam().kind == Kind::word ||
                                   GetParam().kind == Kind::duration);
        if (string || (kind == GetParam().kind && kind != Kind::texts && kind != Kind::mixed &&
                       kind != Kind::table)) {
            continue;
        }
        if (kind == Kind::table && GetParam().kind == Kind::table) continue;
        if (GetParam().kind == Kind::price && (kind == Kind::number || value == "1.5")) continue;
        expect_one_problem(GetParam(), value);
    }
}

TEST_P(EveryKey, OutOfBounds_IsOneProblem) {
    Key const& key = GetParam();
    if (key.kind == Kind::number) {
        for (std::string const& value : {std::to_string(key.min - 1), std::to_string(key.max + 1),
                                         std::string("-9223372036854775808")}) {
            expect_one_problem(key, value);
        }
    }
    if (key.kind == Kind::price) {
        for (std::string const value :
             {"-1", "-0.5", "10000.5", "10001", "0.0000001", "nan", "inf", "9223372036854775807"}) {
            expect_one_problem(key, value);
        }
    }
    if (key.kind == Kind::duration) {
        for (std::string const& value :
             {duration_text(Duration(key.min - 1)), duration_text(Duration(key.max + 1)),
              std::string("5"), std::string("24x"), std::string("h"), std::string("-1s"),
              std::string(""), std::string("1.5h"), std::string(key.none ? "never" : "none")}) {
            expect_one_problem(key, in_quotes(value));
        }
    }
    bool const list = key.kind == Kind::texts;
    if (key.kind == Kind::text || list) {
        std::string const longer(static_cast<std::size_t>(key.max) + 1, 'x');
        expect_one_problem(key, list ? "[" + in_quotes(longer) + "]" : in_quotes(longer));
    }
    if (key.kind == Kind::text && key.min > 0) expect_one_problem(key, "\"\"");
    if (list) {
        std::string many = "[";
        for (int i = 0; i < 1'001; ++i) many += "\"x\",";
        expect_one_problem(key, many + "]");
    }
}

TEST_P(EveryKey, WrongForm_IsOneProblem) {
    Key const& key = GetParam();
    if (key.kind == Kind::word) {
        expect_one_problem(key, in_quotes(split_words(key.words).front() + "x"));
        expect_one_problem(key, "\"zzzzzzzzzzzz\"");
        expect_one_problem(key, "\"\"");
    }
    if (key.form == Form::any || key.form == Form::file) return;
    std::string const value = in_quotes("no good: {} \xE2\x82\xAC");
    expect_one_problem(key, key.kind == Kind::texts ? "[" + value + "]" : value);
}

TEST_P(EveryKey, UnsetVariable_IsNamedAndShowsNoValue) {
    if (GetParam().form != Form::variable) return;
    expect_one_problem(GetParam(), "\"NOT_SET\"");
    auto const unset = read_text(file_with(GetParam(), "\"NOT_SET\"").text);
    EXPECT_NE(unset.error().front().text.find("NOT_SET"), std::string::npos);
    for (std::string const secret : {"sk-abc123def", "AIzaSyB1234abcd"}) {
        auto const pasted = read_text(file_with(GetParam(), in_quotes(secret)).text);
        ASSERT_FALSE(pasted);
        EXPECT_EQ(pasted.error().front().text.find(secret), std::string::npos);
    }
}

TEST_P(EveryKey, Required_Missing_IsNamed) {
    if (!GetParam().required) return;
    File const file = file_with(GetParam(), std::nullopt);
    auto const config = read_text(file.text);
    ASSERT_FALSE(config) << file.text;
    Problem const& problem = config.error().front();
    EXPECT_NE(problem.text.find("has no " + std::string(GetParam().name) + "; "), std::string::npos)
        << problem.text;
    EXPECT_EQ(problem.line, file.heading_line) << problem.text;
}

TEST_P(EveryKey, Mistyped_SuggestsTheNearest) {
    Key const& key = GetParam();
    if (key.name.size() < 4) return;
    Sample const from = sample(key);
    std::string text = from.before + from.title + "\n";
    for (auto const& [name, own] : from.lines) text += name + " = " + own + "\n";
    std::string const wrong = std::string(key.name) + "x";
    auto const config = read_text(text + wrong + " = 1\n");
    ASSERT_FALSE(config);
    ASSERT_EQ(config.error().size(), 1U);
    EXPECT_NE(config.error().front().text.find("has no key \"" + wrong + "\"; did you mean " +
                                               std::string(key.name) + "?"),
              std::string::npos)
        << config.error().front().text;
}

TEST(Keys, Each_OccursOnceAndIsDescribed) {
    for (Key const& key : keys()) {
        EXPECT_EQ(find_key(key.section, key.name), &key);
        EXPECT_TRUE(key.about.ends_with('.')) << key.name;
        EXPECT_FALSE(comes_later(key.section, key.name)) << key.name;
        EXPECT_NE(std::ranges::find(sections(), key.section), sections().end());
    }
}

}  // namespace
}  // namespace dormouse::config
