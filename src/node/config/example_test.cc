#include "config/example.h"

#include "config/keys.h"
#include "config/read.h"
#include "config/test_world.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

namespace dormouse::config {
namespace {

// The example with the # of each key removed.
std::string uncommented() {
    std::istringstream in{std::string(example())};
    std::string out;
    for (std::string line; std::getline(in, line);) {
        bool const configuration = line.size() > 1 && line[0] == '#' && line[1] != ' ';
        out += (configuration ? line.substr(1) : line) + "\n";
    }
    return out;
}

TestEnvironment environment_of_the_example() {
    TestEnvironment environment;
    for (char const* const name : {"DATABASE_URL",
                                   "REDIS_URL",
                                   "REDIS_SIGNAL_URL",
                                   "OPENAI_API_KEY",
                                   "ANTHROPIC_API_KEY",
                                   "GEMINI_API_KEY",
                                   "TEAM_KEY",
                                   "DORMOUSE_ENCRYPTION_KEY",
                                   "GH_TOKEN",
                                   "DEPLOY_SECRET",
                                   "DEPLOY_WEBHOOK_SECRET",
                                   "EVENTS_SECRET",
                                   "SLACK_URL",
                                   "SMTP_PASSWORD",
                                   "SLACK_BOT_TOKEN",
                                   "SLACK_SIGNING_SECRET",
                                   "OIDC_SECRET",
                                   "MCP_TOKEN",
                                   "MCP_SECRET",
                                   "OTLP_TOKEN",
                                   "S3_ACCESS_KEY",
                                   "S3_SECRET_KEY"}) {
        environment.variables[name] = "x";
    }
    environment.files["/etc/d/deploy.in.json"] = R"({"type":"object"})";
    environment.files["/etc/d/deploy.out.json"] = R"({"type":"object"})";
    environment.programs.emplace_back("/etc/d/lint.sh");
    environment.programs.emplace_back("/etc/d/check-deploy.py");
    environment.programs.emplace_back("/etc/d/tell.sh");
    environment.programs.emplace_back("npx");
    environment.folders.emplace_back("/etc/d/");
    environment.folders.emplace_back("/src");
    return environment;
}

TEST(Example, Example_ChangesNothingUntilEdited) {
    TestEnvironment const environment;
    auto const config = read_config("d.toml", example(), environment.environment());
    ASSERT_TRUE(config) << line_of("d.toml", config.error().front());
    Config defaults;
    defaults.file = "d.toml";
    EXPECT_EQ(*config, defaults);
}

TEST(Example, Uncommented_IsValid) {
    TestEnvironment const environment = environment_of_the_example();
    auto const config = read_config("d.toml", uncommented(), environment.environment());
    std::string problems;
    if (!config) {
        for (Problem const& problem : config.error()) problems += line_of("d", problem) + "\n";
    }
    ASSERT_TRUE(config) << problems;
    EXPECT_EQ(config->limits, Limits{}) << "the example shows the defaults";
    EXPECT_EQ(config->retention,
              (Retention{.messages_per_session = 1'000, .session_bytes = 67'108'864}))
        << "all keys except unset limits";
    EXPECT_EQ(config->projects.size(), 1U);
    EXPECT_EQ(config->tools.size(), 2U);
    EXPECT_EQ(config->mcps.size(), 2U);
    EXPECT_EQ(config->gates.size(), 1U);
    EXPECT_EQ(config->budgets.size(), 1U);
    EXPECT_EQ(config->sources.size(), 1U);
    EXPECT_EQ(config->webhooks.size(), 1U);
    EXPECT_EQ(config->notifies.size(), 5U);
}

TEST(Example, Example_HasExactlyTheKeys) {
    auto const top = parse_toml(uncommented());
    ASSERT_TRUE(top) << top.error().text;
    std::set<std::string> found;
    auto const add = [&](std::string const& section, Node const& node) {
        for (Member const& member : *node.get<Node::Table>())
            found.insert(section + "." + member.name);
    };
    for (Member const& section : *top->get<Node::Table>()) {
        auto const* const list = section.node.get<Node::Array>();
        if (list == nullptr) add(section.name, section.node);
        for (Node const& element : list ? *list : Node::Array{}) {
            add(section.name, element);
            for (std::string const part : {"poll", "validator"}) {
                Node const* const node = find(*element.get<Node::Table>(), part);
                if (node) add("tool." + part, *node);
            }
        }
    }
    std::set<std::string> expected;
    for (Key const& key : keys()) {
        expected.insert(std::string(key.section) + "." + std::string(key.name));
    }
    EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace dormouse::config
