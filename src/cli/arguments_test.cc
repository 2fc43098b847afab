#include "cli/arguments.h"

#include <gtest/gtest.h>

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

TEST(Arguments, serve_takes_the_flags_of_the_design) {
    auto const args =
        parsed<ServeArgs>({"serve", "--listen", "127.0.0.1:0", "--store", "memory", "--ready-fd",
                           "5", "--insecure", "--allowed-host", "a", "--allowed-host", "b"});
    EXPECT_EQ(args.options.listen, "127.0.0.1:0");
    EXPECT_EQ(args.options.store, "memory");
    EXPECT_EQ(args.options.ready_fd, 5);
    EXPECT_TRUE(args.options.insecure);
    EXPECT_EQ(args.options.allowed_hosts, (std::vector<std::string>{"a", "b"}));
}

TEST(Arguments, global_options_may_stand_after_the_command) {
    auto const invocation =
        parse({"sessions", "--json", "--server", "http://h:1", "--data", "d"}, "");
    ASSERT_TRUE(invocation);
    EXPECT_TRUE(invocation->global.json);
    EXPECT_EQ(invocation->global.server, "http://h:1");
    EXPECT_EQ(invocation->global.data, "d");
}

TEST(Arguments, prompt_goes_on_with_one_session_or_begins_one) {
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
}

TEST(Arguments, a_result_has_exactly_one_source) {
    EXPECT_EQ(parsed<SubmitArgs>({"result", "pnd_1", "live"}).text, "live");
    EXPECT_EQ(parsed<SubmitArgs>({"result", "pnd_1", "-"}).text, "-");
    EXPECT_EQ(parsed<SubmitArgs>({"result", "pnd_1", "--json-value", "{\"a\":1}"}).json_value,
              "{\"a\":1}");
    EXPECT_EQ(parsed<SubmitArgs>({"result", "pnd_1", "--file", "out.json"}).file, "out.json");
    EXPECT_EQ(refused({"result", "pnd_1"}).exit, status::usage);
    EXPECT_EQ(refused({"result", "pnd_1", "live", "--file", "f"}).exit, status::usage);
}

TEST(Arguments, approve_and_deny_are_one_decision) {
    auto const yes =
        parsed<DecideArgs>({"approve", "pnd_1", "--reason", "checked", "--arguments", "{}"});
    EXPECT_TRUE(yes.approved);
    EXPECT_EQ(yes.reason, "checked");
    EXPECT_EQ(yes.arguments, "{}");
    EXPECT_FALSE(parsed<DecideArgs>({"deny", "pnd_1"}).approved);
}

TEST(Arguments, moves_know_their_name) {
    for (std::string const move : {"resume", "retry", "end"}) {
        EXPECT_EQ(parsed<MoveArgs>({move, "ses_1"}).move, move);
    }
}

TEST(Arguments, bench_takes_a_list_of_connections) {
    auto const args = parsed<BenchArgs>(
        {"bench", "--connections", "1,8", "--jobs", "100", "--dormant", "5", "--growth"});
    EXPECT_EQ(args.connections, (std::vector<int>{1, 8}));
    EXPECT_EQ(args.jobs, 100);
    EXPECT_EQ(args.dormant, 5);
    EXPECT_TRUE(args.growth);
}

TEST(Arguments, every_command_explains_itself_with_an_example) {
    for (std::string const command :
         {"serve",  "demo",  "prompt",   "sessions", "show",   "tail",   "pending",
          "result", "error", "progress", "approve",  "deny",   "cancel", "resume",
          "retry",  "end",   "fork",     "explain",  "doctor", "verify", "bench"}) {
        auto const help = refused({command, "--help"});
        EXPECT_EQ(help.exit, status::done) << command;
        EXPECT_NE(help.text.find("Usage: dormouse " + command), std::string::npos) << help.text;
        EXPECT_NE(help.text.find("Example:\n  dormouse " + command), std::string::npos)
            << help.text;
    }
}

TEST(Arguments, a_mistake_is_one_sentence_and_points_to_the_help) {
    auto const notice = refused({"fork", "ses_1", "--sequence", "3"});
    EXPECT_EQ(notice.exit, status::usage);
    EXPECT_NE(notice.text.find("--sequence"), std::string::npos);
    EXPECT_NE(notice.text.find("See: dormouse fork --help"), std::string::npos);
    EXPECT_EQ(refused({}).exit, status::usage);
    EXPECT_EQ(refused({"no-such-command"}).exit, status::usage);
}

TEST(Arguments, the_version_is_that_of_the_program) {
    EXPECT_EQ(refused({"--version"}).text, "dormouse 1.2.3\n");
}

}  // namespace
}  // namespace dormouse::cli
