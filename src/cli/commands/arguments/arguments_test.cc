#include "cli/commands/arguments/arguments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace dormouse::cli {
namespace {

template <class Args> Args parsed(std::vector<std::string> const& words) {
    auto const invocation = parse(words, "1.2.3");
    if (!invocation) {
        ADD_FAILURE() << invocation.error().text;
        return {};
    }
    auto const* const args = std::get_if<Args>(&invocation->command);
    EXPECT_NE(args, nullptr);
    return args == nullptr ? Args{} : *args;
}

Notice refused(std::vector<std::string> const& words) {
    auto const invocation = parse(words, "1.2.3");
    EXPECT_FALSE(invocation);
    return invocation ? Notice{} : invocation.error();
}

TEST(Arguments, Serve_TakesItsFlags) {
    auto const args =
        parsed<ServeArgs>({"serve", "--listen", "127.0.0.1:0", "--store", "memory", "--ready-fd",
                           "5", "--insecure", "--allowed-host", "a", "--allowed-host", "b",
                           "--log-level", "debug", "--log-format", "json"});
    EXPECT_EQ(args.options.listen, "127.0.0.1:0");
    EXPECT_EQ(args.options.store, "memory");
    EXPECT_EQ(args.options.ready_fd, 5);
    EXPECT_TRUE(args.options.insecure);
    EXPECT_EQ(args.options.log_level, "debug");
    EXPECT_EQ(args.options.log_format, "json");
    EXPECT_EQ(args.options.allowed_hosts, (std::vector<std::string>{"a", "b"}));
}

TEST(Arguments, GlobalOptions_AfterTheCommand_AreAccepted) {
    auto const invocation =
        parse({"sessions", "--json", "--server", "http://h:1", "--data", "d"}, "");
    ASSERT_TRUE(invocation);
    EXPECT_TRUE(invocation->global.json);
    EXPECT_EQ(invocation->global.server, "http://h:1");
    EXPECT_EQ(invocation->global.data, "d");
}

TEST(Arguments, Jq_IsJsonWithAFilter) {
    auto const invocation = parse({"sessions", "--jq", "-.items"}, "");
    ASSERT_TRUE(invocation);
    EXPECT_TRUE(invocation->global.json);
    EXPECT_EQ(invocation->global.jq, "-.items");
    EXPECT_EQ(refused({"sessions", "--jq", ".", "-o", "yaml"}).exit, status::usage);
    EXPECT_EQ(refused({"man", "--jq", "."}).exit, status::usage);
}

TEST(Arguments, Prompt_ContinuesASessionOrCreatesOne) {
    auto const args = parsed<PromptArgs>(
        {"prompt", "-s", "ses_1", "--when", "steer", "--no-follow", "hello there"});
    EXPECT_EQ(args.session, "ses_1");
    EXPECT_EQ(args.when, "steer");
    EXPECT_EQ(args.text, "hello there");
    EXPECT_TRUE(args.no_follow);
    EXPECT_TRUE(parsed<PromptArgs>({"prompt", "-c", "-"}).last);
    EXPECT_EQ(refused({"prompt", "-c", "--new", "x"}).exit, status::usage);
    EXPECT_EQ(refused({"prompt", "-c", "-s", "ses_1", "x"}).exit, status::usage);
    EXPECT_EQ(refused({"prompt", "--when", "later", "x"}).exit, status::usage);
    EXPECT_EQ(refused({"prompt", "-s", "ses_1", "-a", "demo", "x"}).exit, status::usage);
    EXPECT_EQ(refused({"prompt", "-c", "-a", "demo", "x"}).exit, status::usage);
    EXPECT_EQ(parsed<PromptArgs>({"prompt", "--new", "-a", "ops", "x"}).agent, "ops");
    EXPECT_TRUE(parsed<PromptArgs>({"prompt", "-c", "--reopen", "x"}).reopen);
    EXPECT_EQ(parsed<PromptArgs>({"prompt", "--", "--not-an-option"}).text, "--not-an-option");
}

TEST(Arguments, Result_HasExactlyOneSource) {
    EXPECT_EQ(parsed<SubmitArgs>({"result", "pnd_1", "live"}).text, "live");
    EXPECT_EQ(parsed<SubmitArgs>({"result", "pnd_1", "-"}).text, "-");
    EXPECT_EQ(parsed<SubmitArgs>({"result", "pnd_1", "--json-value", "{\"a\":1}"}).json_value,
              "{\"a\":1}");
    EXPECT_EQ(parsed<SubmitArgs>({"result", "pnd_1", "--file", "out.json"}).file, "out.json");
    EXPECT_EQ(refused({"result", "pnd_1", "live", "--file", "f"}).exit, status::usage);
}

TEST(Arguments, ApproveAndDeny_AreOneDecision) {
    auto const yes =
        parsed<DecideArgs>({"approve", "pnd_1", "--reason", "checked", "--arguments", "{}"});
    EXPECT_TRUE(yes.approved);
    EXPECT_EQ(yes.reason, "checked");
    EXPECT_EQ(yes.arguments, "{}");
    EXPECT_FALSE(parsed<DecideArgs>({"deny", "pnd_1"}).approved);
}

TEST(Arguments, Moves_HaveTheirName) {
    for (std::string const move : {"resume", "retry", "end"}) {
        EXPECT_EQ(parsed<MoveArgs>({move, "ses_1"}).move, move);
    }
}

TEST(Arguments, Bench_TakesAListOfConnections) {
    auto const args = parsed<BenchArgs>(
        {"bench", "--connections", "1,8", "--jobs", "100", "--dormant", "5", "--growth"});
    EXPECT_EQ(args.connections, (std::vector<int>{1, 8}));
    EXPECT_EQ(args.jobs, 100);
    EXPECT_EQ(args.dormant, 5);
    EXPECT_TRUE(args.growth);
}

TEST(Arguments, BenchOnServers_StartsNoneForOtherFigures) {
    auto const args =
        parsed<BenchArgs>({"bench", "--on", "http://a:1,http://b:2", "--history", "10240"});
    EXPECT_EQ(args.on, (std::vector<std::string>{"http://a:1", "http://b:2"}));
    EXPECT_EQ(args.history, 10240);
    EXPECT_EQ(refused({"bench", "--on", "http://a:1", "--growth"}).exit, status::usage);
    EXPECT_EQ(refused({"bench", "--on", "http://a:1", "--dormant", "5"}).exit, status::usage);
}

// Returns the words of the command after the last |, without a redirection.
std::vector<std::string> words_of(std::string const& line) {
    std::vector<std::string> words;
    std::string word;
    bool quoted = false;
    bool any = false;
    for (char const c : line + " ") {
        if (c == '\'') {
            quoted = !quoted;
            any = true;
        } else if (c != ' ' || quoted) {
            word += c;
            any = true;
        } else if (any) {
            words.push_back(std::exchange(word, {}));
            any = false;
            if (words.back() == "|") words.clear();
        }
    }
    EXPECT_FALSE(quoted) << line;
    words.erase(std::find(words.begin(), words.end(), ">"), words.end());
    return words;
}

void expect_examples(CommandInfo const& command, std::vector<std::string> path) {
    path.push_back(command.name);
    std::string name = "dormouse";
    for (auto const& word : path) name += " " + word;
    auto words = path;
    words.emplace_back("--help");
    auto const help = refused(words);
    EXPECT_EQ(help.exit, status::done) << name;
    EXPECT_NE(help.text.find("Usage: " + name), std::string::npos) << help.text;
    EXPECT_NE(help.text.find("Example:\n  "), std::string::npos) << help.text;
    for (auto const& each : command.commands) expect_examples(each, path);
    if (!command.commands.empty()) return;  // its commands have their own examples
    EXPECT_FALSE(command.about.empty()) << name;
    EXPECT_FALSE(command.examples.empty()) << name;
    for (auto const& example : command.examples) {
        EXPECT_NE(example.find(name), std::string::npos) << example;
        auto line = example.find("| man") == std::string::npos
                        ? words_of(example)
                        : words_of(example.substr(0, example.find('|')));
        ASSERT_FALSE(line.empty()) << example;
        EXPECT_EQ(line.front(), "dormouse") << example;
        line.erase(line.begin());
        auto const parsed = parse(line, "");
        EXPECT_TRUE(parsed) << example << "\n" << (parsed ? "" : parsed.error().text);
    }
}

TEST(Arguments, EveryCommand_HasHelpWithAnExampleThatParses) {
    auto const table = command_table();
    EXPECT_GT(table.commands.size(), 25U);
    for (auto const& command : table.commands) expect_examples(command, {});
}

TEST(Arguments, CommandTable_MatchesTheGrammar) {
    auto const table = command_table();
    auto const prompt = std::find_if(table.commands.begin(), table.commands.end(),
                                     [](auto const& c) { return c.name == "prompt"; });
    ASSERT_NE(prompt, table.commands.end());
    auto const when = std::find_if(prompt->options.begin(), prompt->options.end(),
                                   [](auto const& o) { return o.names.back() == "--when"; });
    ASSERT_NE(when, prompt->options.end());
    EXPECT_EQ(when->value, "MODE");
    EXPECT_EQ(when->choices, (std::vector<std::string>{"queue", "steer", "interrupt", "reject"}));
    for (auto const& command : table.commands) {
        EXPECT_NE(command.name, "candidates") << "hidden";
        for (auto const& option : command.options) {
            EXPECT_FALSE(option.about.empty()) << command.name << " " << option.names.back();
            EXPECT_EQ(option.value.find_first_of(":[ "), std::string::npos) << option.value;
        }
    }
}

TEST(Arguments, UnknownWord_NamesTheNearestKnownOne) {
    std::vector<std::pair<std::vector<std::string>, std::string>> const table{
        {{"sesions"}, "unknown command 'sesions'\n  Did you mean: dormouse sessions\n"},
        {{"--json", "promt", "x"}, "Did you mean: dormouse prompt\n"},
        {{"setup"}, "unknown command 'setup'\n  Did you mean: dormouse init\n"},
        {{"link"}, "'dormouse link' needs NAME"},
        {{"token"}, "needs WHAT: create, list or revoke\n"},
        {{"sessions", "--limt", "3"},
         "unknown option --limt of 'dormouse sessions'\n  Did you mean "
         "--limit?\n"},
        {{"sessions", "--sever", "http://h"}, "Did you mean --server?\n"},
        {{"prompt", "--noo-follow", "x"}, "Did you mean --no-follow?\n"},
        {{"--verson"}, "Did you mean --version?\n"},
        {{"pending", "--status", "wating"}, "Did you mean waiting?\n"},
        {{"prompt", "--when=steeer", "x"}, "Did you mean steer?\n"},
        {{"completion", "fisch"}, "{bash,zsh,fish}"},
        {{"prompt", "deploy", "A"}, "not expected: A\n  A text of several words needs quotes"},
        {{"pending", "--status"}, "--status needs a value"},
    };
    for (auto const& [words, wanted] : table) {
        auto const notice = refused(words);
        EXPECT_EQ(notice.exit, status::usage);
        EXPECT_NE(notice.text.find(wanted), std::string::npos) << notice.text;
        EXPECT_TRUE(notice.text.starts_with("dormouse: ")) << notice.text;
    }
}

TEST(Arguments, UnknownWord_FarFromAll_NamesNone) {
    auto const notice = refused({"xyzzy-plugh\x1b[2J"});
    EXPECT_EQ(notice.text.find("Did you mean"), std::string::npos) << notice.text;
    EXPECT_EQ(notice.text.find('\x1b'), std::string::npos);
}

TEST(Arguments, HelpAndVersion_AsWords_AreAccepted) {
    EXPECT_EQ(refused({"help", "prompt"}).text, refused({"prompt", "--help"}).text);
    EXPECT_EQ(refused({"help"}).text, refused({"--help"}).text);
    EXPECT_EQ(refused({"help"}).exit, status::done);
    EXPECT_EQ(refused({"version"}).text, refused({"--version"}).text);
    EXPECT_EQ(refused({"help", "promt"}).exit, status::usage);
}

TEST(Arguments, NoArguments_PrintsHelp) {
    auto const notice = refused({});
    EXPECT_EQ(notice.exit, status::usage);
    EXPECT_NE(notice.text.find("Run a server:"), std::string::npos);
    EXPECT_EQ(notice.text.find("Subcommands:"), std::string::npos) << "a command without a group";
}

TEST(Arguments, UsageError_IsOneSentenceAndPointsToTheHelp) {
    auto const notice = refused({"fork", "ses_1", "--sequence", "3"});
    EXPECT_EQ(notice.exit, status::usage);
    EXPECT_NE(notice.text.find("--sequence"), std::string::npos);
    EXPECT_NE(notice.text.find("See: dormouse fork --help"), std::string::npos);
    EXPECT_EQ(refused({}).exit, status::usage);
    EXPECT_EQ(refused({"no-such-command"}).exit, status::usage);
}

TEST(Arguments, Version_IsThatOfTheProgram) {
    EXPECT_EQ(refused({"--version"}).text, "dormouse 1.2.3\n");
}

}  // namespace
}  // namespace dormouse::cli
