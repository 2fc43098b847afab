// Whole files: valid ones, relations between sections, and all mistakes reported at once.

#include "config/read.h"

#include "config/test_world.h"

#include <gtest/gtest.h>

namespace dormouse::config {
namespace {

std::string problems(std::string const& text) {
    auto const config = read_text(text);
    std::string out;
    if (config) return out;
    for (Problem const& problem : config.error()) out += line_of("d.toml", problem) + "\n";
    return out;
}

std::string const model = "[[model]]\nid = \"m\"\nkind = \"scripted\"\n";
std::string const tool = "[[tool]]\nname = \"t\"\nkind = \"http\"\nurl = \"http://x/y\"\n";
std::string const agent = model + "[[agent]]\nid = \"a\"\nmodel = \"m\"\n";

TEST(ReadConfig, EmptyFile_HasAllDefaultsAndTheDemo) {
    auto const config = read_text("");
    ASSERT_TRUE(config);
    Config expected;
    expected.file = "d.toml";
    EXPECT_EQ(*config, expected);
    EXPECT_TRUE(config->has_demo());
}

TEST(ReadConfig, Demo_IsAddedWithoutAgentsOrOnRequest) {
    EXPECT_FALSE(read_text(agent)->has_demo());
    EXPECT_TRUE(read_text(agent + "[server]\ndemo = true\n")->has_demo());
    EXPECT_FALSE(read_text("[server]\ndemo = false\n")->has_demo());
}

TEST(ReadConfig, Escalation_NamesTheNextAnswerers) {
    auto const config = read_text(tool +
                                  "[[gate]]\ntools = [\"t\"]\nask = \"?\"\ntimeout = \"1h\"\n"
                                  "on_expiry = \"escalate:bob,role:answer\"\n");
    ASSERT_TRUE(config);
    EXPECT_EQ(config->gates.at(0).escalate_to, (std::vector<std::string>{"bob", "role:answer"}));
    EXPECT_EQ(config->gates.at(0).on_expiry, OnExpiry::deny) << "what holds after that";
}

std::string gate_when(std::string const& conditions) {
    return tool + "[[gate]]\ntools = [\"t\"]\nask = \"?\"\nwhen = " + conditions + "\n";
}

TEST(ReadConfig, GateConditions_AreReadByPointer) {
    auto const config = read_text(gate_when(
        R"({ "/env" = "prod", "/n" = { min = 10, max = 2.5e3 }, "/r/0" = { pattern = "^v" },)"
        R"( "/dry" = false, "/k" = { equals = 7 } })"));
    ASSERT_TRUE(config);
    std::vector<Condition> const expected = {{"/env", Json::trusted("\"prod\"")},
                                             {"/n", {}, {}, 10.0, 2'500.0},
                                             {"/r/0", {}, "^v"},
                                             {"/dry", Json::trusted("false")},
                                             {"/k", Json::trusted("7")}};
    EXPECT_EQ(config->gates.at(0).when, expected);
    EXPECT_FALSE(config->gates.at(0).always_ask);
}

TEST(ReadConfig, GateConditions_MistakesNameThePointer) {
    std::string const how =
        R"(; write for example { "/env" = "production", "/count" = { min = 10 } }, at most 16)";
    auto const expect = [&](std::string const& conditions, std::string const& what) {
        EXPECT_EQ(problems(gate_when(conditions)),
                  "d.toml:8: [[gate]]: when has " + what + how + "\n");
    };
    expect("{ }", "0 conditions");
    expect(R"({ env = "a" })", R"("env", which is not a JSON pointer into the arguments)");
    expect(R"({ "/a~2" = 1 })", R"("/a~2", which is not a JSON pointer into the arguments)");
    expect(R"({ "/a" = [1] })", R"("/a", which must be a string, a number, true or false)");
    expect(R"({ "/a" = nan })", R"("/a", which must be a string, a number, true or false)");
    expect(R"({ "/a" = {} })", R"("/a" without a condition)");
    expect(R"({ "/a" = { is = 1 } })", R"("/a", whose "is" must be equals, pattern, min or max)");
    expect(R"({ "/a" = { min = "1" } })", R"("/a", whose "min" must be a number)");
    expect(R"({ "/a" = { min = 2, max = 1 } })", R"("/a", whose min is greater than its max)");
    expect(R"({ "/a" = { pattern = 1 } })",
           R"("/a", whose "pattern" must be a string with a regular expression)");
    expect(R"({ "/a" = { pattern = "(" } })", R"("/a", whose "pattern" missing ): ()");
}

TEST(ReadConfig, CommandTool_MayNeverAnswerLater) {
    auto const config = read_text(
        "[[tool]]\nname = \"c\"\nkind = \"command\"\ncommand = [\"node\"]\n"
        "later = \"never\"\n");
    ASSERT_TRUE(config);
    EXPECT_FALSE(config->tools.at(0).command.later);
}

TEST(ReadConfig, WebPush_NeedsAContactForPushServices) {
    std::string const push = "[[notify]]\nkind = \"web-push\"\nto = [\"ann\"]\n";
    auto const with = [&](std::string const& key, std::string const& value) {
        return "[server]\n" + key + " = \"" + value + "\"\n" + push;
    };
    EXPECT_EQ(problems(push),
              "d.toml:2: [[notify]]: kind is \"web-push\", and push services have nobody to ask; "
              "set push_contact in [server], for example \"mailto:ops@example.org\", or a "
              "public_url with https\n");
    EXPECT_NE(problems(with("public_url", "http://dm.example.org")), "");
    auto const by_url = read_text(with("public_url", "https://dm.example.org"));
    ASSERT_TRUE(by_url);
    EXPECT_EQ(by_url->notifies.at(0).to, std::vector<std::string>{"ann"});
    EXPECT_TRUE(read_text(with("push_contact", "mailto:ops@example.org")));
    EXPECT_TRUE(read_text(with("push_contact", "https://example.org/about")));
    for (char const* const bad : {"ops@example.org", "mailto:", "http://example.org"})
        EXPECT_NE(problems(with("push_contact", bad)).find("push_contact"), std::string::npos)
            << bad;
}

// The lines of the warnings for a file with this tool, after these keys of [server].
std::string warned(std::string const& more, std::string const& server = "") {
    auto const config = read_text(server + "[[tool]]\nname = \"t\"\nkind = \"http\"\n" + more);
    if (!config) return "not right";
    std::string out;
    for (Problem const& problem : warnings(*config)) out += line_of("d.toml", problem) + "\n";
    return out;
}

TEST(Warnings, RemoteServiceWithoutPublicUrl_Warns) {
    std::string const far = "url = \"https://ci.example.org/go\"\n";
    EXPECT_EQ(warned(far),
              "d.toml:1: [[tool]] t: its service gets a callback URL that only this machine "
              "reaches; set public_url in [server], or poll, or later = \"never\"\n");
    EXPECT_EQ(warned(far, "[server]\npublic_url = \"https://dm.example.org\"\n"), "");
    EXPECT_EQ(warned(far + "later = \"never\"\n"), "");
    EXPECT_EQ(warned(far + "poll = { url = \"https://ci.example.org/j\", done = \"/done\" }\n"),
              "");
    EXPECT_EQ(warned(far + "body = '{\"id\": {\"$call\": \"pendingID\"}}'\n"), "")
        << "the service gets no callback URL";
    for (std::string const near :
         {"http://127.0.0.1:8017/", "http://localhost/x", "http://[::1]:9"})
        EXPECT_EQ(warned("url = \"" + near + "\"\n"), "") << near;
}

TEST(ReadConfig, Budget_IsRead) {
    auto const config = read_text(
        "[[budget]]\nper = \"session\"\ntokens = 4000000000\ncost = 2.5\ncurrency = \"EUR\"\n"
        "steps = 7\nwall_time = \"2h\"\nanswerers = [\"role:admin\"]\ntimeout = \"1d\"\n");
    ASSERT_TRUE(config);
    Budget const& budget = config->budgets.at(0);
    EXPECT_EQ(budget.per, session::BudgetPer::session);
    EXPECT_EQ(budget.tokens, 4'000'000'000U);
    EXPECT_EQ(budget.cost, Price{2'500'000});
    EXPECT_EQ(budget.currency, "EUR");
    EXPECT_EQ(budget.steps, 7U);
    EXPECT_EQ(budget.wall_time, Duration(7'200'000));
    EXPECT_EQ(budget.timeout, std::chrono::days(1));
}

TEST(Warnings, CostOfAModelWithoutPrices_Warns) {
    std::string const agent =
        "[[agent]]\nid = \"a\"\nmodel = \"m\"\n[[budget]]\nper = \"turn\"\ncost = 1\n";
    std::string const model = "[[model]]\nid = \"m\"\nkind = \"scripted\"\n";
    auto const warned_of = [&](std::string const& text) {
        auto const config = read_text(text);
        return config ? warnings(*config).size() : 99;
    };
    EXPECT_EQ(warned_of(model + agent), 1U);
    EXPECT_EQ(warned_of(model + "input_price = 1\noutput_price = 2\n" + agent), 0U);
    std::string const demo = "[server]\ndemo = true\n";
    std::string const budget = "[[budget]]\nper = \"session\"\ncost = 1\n";
    EXPECT_EQ(warned_of(demo + budget), 1U);
    EXPECT_EQ(warned_of(demo + budget + "agents = [\"demo\"]\n"), 1U);
    EXPECT_EQ(warned_of(budget), 1U) << "without an [[agent]] there are the demo agents";
    std::string const priced = model + "input_price = 1\noutput_price = 2\n" + agent;
    EXPECT_EQ(warned_of(demo + priced + "agents = [\"a\"]\n"), 0U) << "it is not for them";
}

TEST(ReadConfig, Retention_ReadsAges) {
    auto const by_default = read_text("");
    EXPECT_FALSE(by_default->retention.audit_after);
    EXPECT_EQ(by_default->retention.dead_deliveries_after, std::chrono::days(30));
    auto const config =
        read_text("[retention]\naudit_after = \"1000d\"\ndead_deliveries_after = \"none\"\n");
    ASSERT_TRUE(config);
    EXPECT_EQ(config->retention.audit_after, std::chrono::days(1'000));
    EXPECT_FALSE(config->retention.dead_deliveries_after);
}

constexpr auto whole_file = R"(
[server]
public_url = "https://dm.example.org"
[retention]
completed_after = "7d"
[[model]]
id = "main"
kind = "anthropic"
model = "claude"
api_key_env = "KEY"
headers = { X-Team = "ops", Authorization = { env = "KEY", prefix = "Bearer " } }
extra = { temperature = 0.5, stop = ["a"] }
[[agent]]
id = "ops"
model = "main"
tools = ["deploy*", "ask_human", "deploy_site"]
join = { quorum = 2 }
[[tool]]
name = "deploy_site"
kind = "http"
url = "https://api.example.org/{input.ref}/go?x={input.y}"
body = '{"ref": {"$input": "/ref"}}'
later = "2xx"
external_ref = "/id"
timeout = "none"
crash = "retry"
input_schema_file = "schema.json"
poll = { url = "https://api.example.org/jobs", done = "/ready" }
[[tool]]
name = "deploy_db"
kind = "command"
command = ["./run.sh", "--fast"]
cwd = "work"
timeout = "2h"
[[gate]]
tools = ["deploy_*"]
ask = "Deploy {input.ref}?"
answerers = ["alice", "role:answer"]
timeout = "24h"
on_expiry = "tell"
forbid_requester = true
)";

TEST(ReadConfig, WholeFile_BecomesValues) {
    auto const config = read_text(whole_file);
    ASSERT_TRUE(config) << line_of("f", config.error().front());
    EXPECT_EQ(config->retention.completed_after, std::chrono::days(7));
    Model const& main = config->models.at(0);
    EXPECT_EQ(main.kind, ModelKind::anthropic);
    EXPECT_EQ(main.api_key, (Secret{"KEY", "s3cr3t-value"}));
    EXPECT_EQ(main.headers, (std::vector<Header>{{"X-Team", "ops", ""},
                                                 {"Authorization", "Bearer s3cr3t-value", "KEY"}}));
    EXPECT_EQ(main.extra.text(), R"({"temperature":0.5,"stop":["a"]})");
    Agent const& ops = config->agents.at(0);
    EXPECT_EQ(ops.tools, (std::vector<std::string>{"deploy_site", "deploy_db", "ask_human"}));
    EXPECT_EQ(ops.join, (session::Join{2, false}));
    Tool const& site = config->tools.at(0);
    EXPECT_EQ(site.http.later, Later::any_2xx);
    EXPECT_EQ(site.http.body.text(), R"({"ref":{"$input":"/ref"}})");
    EXPECT_EQ(site.http.poll,
              (Poll{"https://api.example.org/jobs", Duration(30'000), "/ready", ""}));
    EXPECT_EQ(site.timeout, Duration::max());
    EXPECT_EQ(site.crash, session::CrashPolicy::retry);
    EXPECT_EQ(site.input_schema.text(), R"({"type":"object","required":["ref"]})");
    Tool const& db = config->tools.at(1);
    EXPECT_EQ(db.command.command, (std::vector<std::string>{"/etc/d/run.sh", "--fast"}));
    EXPECT_EQ(db.command.cwd, "/etc/d/work");
    Gate const& gate = config->gates.at(0);
    EXPECT_EQ(gate.id, "deploy_*");
    EXPECT_EQ(gate.on_expiry, OnExpiry::tell);
    EXPECT_TRUE(gate.forbid_requester);
}

TEST(ReadConfig, AllMistakes_AreReportedInTheOrderOfTheFile) {
    EXPECT_EQ(problems("[server]\nlisten = 5\n\n[limits]\nconections = 7\nheartbeat = \"1x\"\n"),
              "d.toml:2: [server] listen is a whole number; write a string in quotes\n"
              "d.toml:5: [limits] has no key \"conections\"; did you mean connections?\n"
              "d.toml:6: [limits] heartbeat is \"1x\"; write a duration from \"100ms\" to \"1h\", "
              "a number and ms, s, m, h or d\n");
}

// A file with one mistake, and the problem that is reported, with its line number.
struct Row {
    char const* name;
    std::string text;
    std::string problem;
};

void PrintTo(Row const& row, std::ostream* out) { *out << row.name; }

class Relation : public testing::TestWithParam<Row> {};

TEST_P(Relation, Relation_IsOneLine) {
    EXPECT_EQ(problems(GetParam().text), "d.toml:" + GetParam().problem + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Files, Relation,
    testing::Values(
        Row{"Syntax", "[server\n",
            "1: this is not TOML: Error while parsing table header: expected ']', saw '\\n'; "
            "correct the line, or look at an example: dormouse config init"},
        Row{"UnknownSection", "[servers]\n",
            "1: there is no section \"servers\"; did you mean [server]?"},
        Row{"KeyAtTheTop", "zzzzzzzz = 1\n",
            "1: there is no key \"zzzzzzzz\" at the top of the file; the sections are [server], "
            "[store], [limits], [retention], [email], [oidc], [telemetry], [backup], [archive], "
            "[[project]], "
            "[[model]], [[agent]], "
            "[[tool]], [[mcp]], [[gate]], [[budget]], [[source]], "
            "[[webhook]], [[notify]], [[user]]"},
        Row{"OneBracket", "[agent]\nid = \"a\"\n",
            "1: [[agent]] is written as [agent]; write it with two brackets: [[agent]]"},
        Row{"TwoBrackets", "[[server]]\nlisten = \"127.0.0.1:1\"\n",
            "1: [server] is a list; write it as a table with its keys below"},
        Row{"McpOfBothKinds",
            "[[mcp]]\nname = \"ci\"\ncommand = [\"run\"]\nurl = \"http://127.0.0.1:1/mcp\"\n",
            "3: [[mcp]] ci: command is for a server with command; leave it out"},
        Row{"LaterKey", "[limits]\ninbox = 1\n",
            "2: [limits]: inbox comes with a later release; leave it out until then"},
        Row{"McpToolWithoutServer", agent + "tools = [\"mcp:files/*\"]\n",
            "7: [[agent]] a: tools names \"mcp:files/*\", which is not mcp:NAME:TOOL; write for "
            "example mcp:files:* for all tools of [[mcp]] files"},
        Row{"MissingModel", agent + "[[agent]]\nid = \"b\"\nmodel = \"mm\"\n",
            "9: [[agent]] b: model is \"mm\": model not found; there are m; or add a "
            "[[model]] with that id"},
        Row{"MissingTool", tool + agent + "tools = [\"ask_humn\"]\n",
            "11: [[agent]] a: tools names \"ask_humn\": tool not found; did you mean "
            "\"ask_human\"?"},
        Row{"GateWithoutTool", tool + "[[gate]]\ntools = [\"write_*\"]\nask = \"?\"\n",
            "6: [[gate]]: tools names \"write_*\": tool not found; there are t, "
            "ask_human, wait_for, dangerous, agent:demo; or add a [[tool]] of that name"},
        Row{"GateForNothing", "[[gate]]\ntools = []\nask = \"?\"\n",
            "2: [[gate]]: tools is empty; name the tools that this gate guards"},
        Row{"SameModel", model + model,
            "5: [[model]] m: id is \"m\" again, as in line 2; choose another one"},
        Row{"SameTool", tool + tool,
            "6: [[tool]] t: name is \"t\" again, as in line 2; choose another one"},
        Row{"SameAgent", agent + "[[agent]]\nid = \"a\"\nmodel = \"m\"\n",
            "8: [[agent]] a: id is \"a\" again, as in line 5; choose another one"},
        Row{"SameGate",
            tool +
                "[[gate]]\ntools = [\"t\"]\nask = \"?\"\n[[gate]]\ntools = [\"t\"]\nask = \"?\"\n",
            "8: [[gate]]: id is \"t\" again, as in line 5; choose another one"},
        Row{"BuiltInTool",
            "[[tool]]\nname = \"ask_human\"\nkind = \"http\"\nurl = \"http://x/y\"\n",
            "2: [[tool]] ask_human: name is \"ask_human\", which is there already (built in); "
            "choose another one"},
        Row{"DemoAgentTwice",
            agent + "[[agent]]\nid = \"demo\"\nmodel = \"m\"\n[server]\ndemo = true\n",
            "8: [[agent]] demo: id is \"demo\", which is there already (built in); choose another "
            "one"},
        Row{"MoreVotesThanVoters",
            tool + "[[gate]]\ntools = [\"t\"]\nask = \"?\"\nneed = 2\nanswerers = [\"bob\"]\n",
            "8: [[gate]]: need is 2, and 1 may answer; name more answerers, or need fewer"},
        Row{"FewerAskedAtTheDeadlineThanNeeded",
            tool + "[[gate]]\ntools = [\"t\"]\nask = \"?\"\nneed = 2\ntimeout = \"1h\"\n"
                   "on_expiry = \"escalate:bob\"\n",
            "8: [[gate]]: need is 2, and 1 may answer at the deadline; name more answerers, or "
            "need fewer"},
        Row{"EscalationWithoutADeadline",
            tool + "[[gate]]\ntools = [\"t\"]\nask = \"?\"\non_expiry = \"escalate:bob\"\n",
            "8: [[gate]]: on_expiry escalates at a deadline, but none is set; set "
            "timeout, for example \"4h\""},
        Row{"EscalationToNobody",
            tool + "[[gate]]\ntools = [\"t\"]\nask = \"?\"\ntimeout = \"1h\"\n"
                   "on_expiry = \"escalate:bob,\"\n",
            "9: [[gate]]: on_expiry names no answerer after \"escalate:\"; write escalate:NAME, or "
            "escalate:NAME,NAME"},
        Row{"QuestionWithoutAName", tool + "[[gate]]\ntools = [\"t\"]\nask = \"Go {input.}?\"\n",
            "7: [[gate]]: ask has \"{input.}?\", which is not {input.NAME}; write for example "
            "{input.target}; its name is of letters, digits and _ . -"},
        Row{"QuestionWithoutAnEnd",
            tool + "[[gate]]\ntools = [\"t\"]\nask = \"{input.a} {input.b and {c}?\"\n",
            "7: [[gate]]: ask has \"{input.b and {c}?\", which is not {input.NAME}; write for "
            "example {input.target}; its name is of letters, digits and _ . -"},
        Row{"UnknownRole",
            tool + "[[gate]]\ntools = [\"t\"]\nask = \"?\"\nanswerers = [\"role:Admin\"]\n",
            "8: [[gate]]: answerers names \"role:Admin\": role not found; did you mean "
            "\"role:admin\"?"},
        Row{"NoRole", tool + "[[gate]]\ntools = [\"t\"]\nask = \"?\"\nanswerers = [\"role:\"]\n",
            "8: [[gate]]: answerers names \"role:\": role not found; write role:read, "
            "role:answer, role:operate or role:admin"},
        Row{"EscalationToAnUnknownRole",
            tool + "[[gate]]\ntools = [\"t\"]\nask = \"?\"\ntimeout = \"1h\"\n"
                   "on_expiry = \"escalate:role:king\"\n",
            "9: [[gate]]: on_expiry names \"role:king\": role not found; write "
            "role:read, role:answer, role:operate or role:admin"},
        Row{"UnknownExpiry", tool + "[[gate]]\ntools = [\"t\"]\nask = \"?\"\non_expiry = \"ask\"\n",
            "8: [[gate]]: on_expiry is \"ask\"; write \"deny\", \"tell\" or \"escalate:NAME\""},
        Row{"DemoTool", "[[tool]]\nname = \"dangerous\"\nkind = \"http\"\nurl = \"http://x/y\"\n",
            "2: [[tool]] dangerous: name is \"dangerous\", which is a tool of the demo; choose "
            "another one, or write demo = false in [server]"},
        Row{"LaterOfAProgram",
            tool + "[[tool]]\nname = \"c\"\nkind = \"command\"\ncommand = [\"node\"]\n"
                   "later = \"2xx\"\n",
            "9: [[tool]] c: later is for kind \"http\" unless it is \"never\"; leave it out: exit "
            "status 75 or descriptor 3 say \"later\""},
        Row{"CallsOverOpenCalls", "[limits]\nopen_calls = 10\ncalls_per_reply = 11\n",
            "3: [limits] calls_per_reply does not fit: 11 calls of a reply, 10 open ones; let "
            "open_calls be no less than calls_per_reply"},
        Row{"HttpToolWithoutUrl", "[[tool]]\nname = \"t\"\nkind = \"http\"\n",
            "1: [[tool]] t has no url; add the address of the web service"},
        Row{"CommandToolWithUrl",
            tool + "[[tool]]\nname = \"c\"\nkind = \"command\"\ncommand = "
                   "[\"node\"]\nurl = \"http://x/y\"\n",
            "9: [[tool]] c: url is for kind \"http\" only; leave it out"},
        Row{"NoProgram", "[[tool]]\nname = \"c\"\nkind = \"command\"\ncommand = [\"./none.sh\"]\n",
            "4: [[tool]] c: command names no program that can be run: /etc/d/none.sh; name one in "
            "$PATH, or a file (as seen from the folder of this one) that may be executed"},
        Row{"NoFolder",
            "[[tool]]\nname = \"c\"\nkind = \"command\"\ncommand = [\"node\"]\ncwd = \"none\"\n",
            "5: [[tool]] c: cwd is not a folder: /etc/d/none; make it, or name another one"},
        Row{"NoSchemaFile", tool + "input_schema_file = \"none.json\"\n",
            "5: [[tool]] t: input_schema_file cannot be read: /etc/d/none.json: there is no such "
            "file; name a file, as seen from the folder of this one"},
        Row{"ScriptedWithKey", model + "api_key_env = \"KEY\"\n",
            "4: [[model]] m: api_key_env has no meaning for kind \"scripted\", which sends no "
            "requests; "
            "leave it out"},
        Row{"KeyInTheFile",
            "[[model]]\nid = \"m\"\nkind = \"gemini\"\nmodel = \"g\"\napi_key = \"x\"\n",
            "5: [[model]] m has no key \"api_key\"; did you mean api_key_env?"},
        Row{"Quorum", agent + "join = { quorum = 0 }\n",
            "7: [[agent]] a: join is not one of its values; write \"all\", \"each\", \"any\" or { "
            "quorum = 2 } with a number from 1 to 1000"},
        Row{"HeaderWithoutVariable", tool + "headers = { A = { env = \"NOT_SET\" } }\n",
            "5: [[tool]] t: headers \"A\" needs a variable of the environment that is not set: "
            "NOT_SET; write name = \"text\", or name = { env = \"VARIABLE\", prefix = \"Bearer \" "
            "} "
            "with the variable set"},
        Row{"HeaderThatTheSenderSets", tool + "headers = { Host = \"x\" }\n",
            "5: [[tool]] t: headers \"Host\" is set by the sender; leave it out"},
        Row{"HeaderWithALineBreak", tool + "headers = { A = \"x\\r\\ny\" }\n",
            "5: [[tool]] t: headers \"A\" has a value that no header can have; use up to 8192 "
            "bytes without line breaks"},
        Row{"ExtraWithADate",
            "[[model]]\nid = \"m\"\nkind = \"gemini\"\nmodel = \"g\"\nextra = { a = [2026-01-01] "
            "}\n",
            "5: [[model]] m: extra holds a date or time; write only what JSON has"}),
    [](auto const& info) { return info.param.name; });

TEST(ReadConfig, InvalidSchemaFiles_SayWhy) {
    EXPECT_NE(problems(tool + "input_schema_file = \"list.json\"\n").find("is not a JSON Schema"),
              std::string::npos);
    EXPECT_NE(problems(tool + "input_schema_file = \"text.json\"\n").find("is not JSON"),
              std::string::npos);
    EXPECT_NE(problems(tool + "input_schema_file = \"broken.json\"\n").find("is not a JSON Schema"),
              std::string::npos);
}

TEST(ReadConfig, Validator_IsRelativeToTheFile) {
    auto const config = read_text(tool + R"([tool.validator]
command = ["./run.sh", "--check"]
cwd = "work"
env_allow = ["KEY"]
time_limit = "3s"
)");
    ASSERT_TRUE(config) << line_of("f", config.error().front());
    Validator const expected{{"/etc/d/run.sh", "--check"}, "/etc/d/work", {"KEY"}, Duration(3'000)};
    EXPECT_EQ(config->tools.at(0).validator, expected);
    EXPECT_FALSE(read_text(tool)->tools.at(0).validator);
}

TEST(ReadConfig, Validator_Missing_IsReported) {
    auto const error_of = [](std::string const& more) {
        return problems(tool + "[tool.validator]\n" + more);
    };
    EXPECT_EQ(error_of("command = [\"./run.sh\"]\n"), "");
    EXPECT_TRUE(error_of("command = [\"./gone.sh\"]\n")
                    .contains("names no program that can be run: /etc/d/gone.sh"));
    EXPECT_TRUE(error_of("command = []\n").contains("names no program"));
    EXPECT_TRUE(error_of("cwd = \"nowhere\"\ncommand = [\"node\"]\n").contains("is not a folder"));
    EXPECT_TRUE(error_of("").contains("command"));
    EXPECT_TRUE(error_of("command = [\"node\"]\ntime_limit = \"2m\"\n").contains("time_limit"));
    EXPECT_TRUE(error_of("comand = [\"node\"]\n").contains("command")) << "did you mean";
}

TEST(ReadConfig, Secrets_AreNotInProblems) {
    auto const text = problems(tool +
                               "headers = { \"a b\" = { env = \"KEY\" }, B = { env = "
                               "\"KEY\", prefix = \"\\n\" } }\nbody = \"{\"\n");
    EXPECT_NE(text, "");
    EXPECT_EQ(text.find("s3cr3t"), std::string::npos) << text;
}

TEST(ReadConfig, HugeOrDeepFile_IsRefused) {
    EXPECT_NE(problems(std::string(file_bytes_max + 1, '#')).find("write at most 1048576"),
              std::string::npos);
    EXPECT_NE(problems("a = " + std::string(100'000, '[')).find("not TOML"), std::string::npos);
}

TEST(ReadConfig, ControlCharacters_AreEscapedForTerminals) {
    auto const text = problems("[server]\n\"a\\u001B[31m\" = 1\nlisten = \"\\u202E\"\n");
    EXPECT_EQ(text.find('\x1B'), std::string::npos);
    EXPECT_EQ(text.find("\u202E"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::config
