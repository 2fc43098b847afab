// Requests of agents for files and terminals.
#include "acp/client/client_files.h"
#include "acp/client/client_terminals.h"

#include "acp/testing/fakes.h"

#include <gtest/gtest.h>

namespace dormouse::acp {
namespace {

using testing::FakeProcesses;

class FakeFolders final : public port::Folders {
public:
    void read(std::string folder, std::string path, std::size_t,
              port::Fn<void(Result<std::string>)> done) override {
        requests += "read " + folder + " " + path + "\n";
        reads.push_back(std::move(done));
    }
    void write(std::string folder, std::string path, std::string content,
               port::Fn<void(Result<void>)> done) override {
        requests += "write " + folder + " " + path + " " + content + "\n";
        done({});
    }
    std::string requests;
    std::vector<port::Fn<void(Result<std::string>)>> reads;
};

class ClientTest : public ::testing::Test {
protected:
    ClientTest() {
        settings.reads_files = settings.writes_files = settings.terminals = true;
        settings.files = &folders;
        settings.folder = [](std::string const& cwd) -> Result<std::string> { return cwd; };
    }
    // Returns what came back at once.
    std::string ask(std::string const& method, std::string const& params) {
        answer.clear();
        Json const id = Json::trusted("1");
        bool const taken = files.request(method, id, json::View(params), "/srv") ||
                           terminals.request(method, id, json::View(params), "/srv");
        return taken ? answer : "not taken";
    }
    std::string outcome() {
        json::View const message{std::string_view(answer)};
        json::View const error = message["error"]["message"];
        return error.exists() ? error.string_or("") : std::string(message["result"].raw());
    }

    FakeProcesses processes;
    FakeFolders folders;
    Settings settings{.agent = "fake", .argv = {"/bin/agent"}};
    std::string answer;
    rpc::Peer rpc{{[this](std::string line) { answer = std::move(line); }, {}, {}}};
    ClientFiles files{settings, rpc};
    ClientTerminals terminals{settings, processes, rpc};
};

TEST_F(ClientTest, Paths_AreRelativeToTheFolder) {
    EXPECT_EQ(ask("fs/read_text_file", R"({"path":"/srv//a/../b.txt"})"), "");
    (void)ask("fs/write_text_file", R"({"path":"/srv/c.txt","content":"text"})");
    EXPECT_EQ(outcome(), "{}");
    EXPECT_EQ(folders.requests, "read /srv a/../b.txt\nwrite /srv c.txt text\n");
    for (std::string const path : {"/srvs/a", "/srv", "/srv/", "a", "", "/srv/a\\u0000b"}) {
        (void)ask("fs/read_text_file", R"({"path":")" + path + "\"}");
        EXPECT_NE(answer.find("-32602"), std::string::npos) << path;
    }
    EXPECT_EQ(folders.reads.size(), 1U);
}

TEST_F(ClientTest, Lines_CountFromOne) {
    auto const lines = [&](std::string const& more) {
        (void)ask("fs/read_text_file", R"({"path":"/srv/a")" + more + "}");
        folders.reads.back()(std::string("1\n2\n3"));
        return outcome();
    };
    EXPECT_EQ(lines(""), R"({"content":"1\n2\n3"})");
    EXPECT_EQ(lines(R"(,"line":null,"limit":null)"), R"({"content":"1\n2\n3"})");
    EXPECT_EQ(lines(R"(,"line":2)"), R"({"content":"2\n3"})");
    EXPECT_EQ(lines(R"(,"line":2,"limit":1)"), R"({"content":"2\n"})");
    EXPECT_EQ(lines(R"(,"line":4)"), R"({"content":""})");
    (void)ask("fs/read_text_file", R"({"path":"/srv/a","line":0})");
    EXPECT_NE(answer.find("-32602"), std::string::npos);
}

TEST_F(ClientTest, FileRequests_BeyondLimit_AreRefused) {
    for (std::size_t i = 0; i < ClientFiles::open_max; ++i)
        EXPECT_EQ(ask("fs/read_text_file", R"({"path":"/srv/a"})"), "");
    (void)ask("fs/read_text_file", R"({"path":"/srv/a"})");
    EXPECT_EQ(outcome(), "Too many file requests are open.");
    folders.reads.front()(std::string("x"));
    EXPECT_EQ(ask("fs/read_text_file", R"({"path":"/srv/a"})"), "");
}

TEST_F(ClientTest, AnswerAfterClose_IsDropped) {
    (void)ask("fs/read_text_file", R"({"path":"/srv/a"})");
    files.close();
    folders.reads.back()(std::string("x"));
    EXPECT_EQ(answer, "");
}

TEST_F(ClientTest, Terminal_KeepsNewestOutputOfWholeCharacters) {
    (void)ask("terminal/create", R"({"command":"a b","outputByteLimit":5})");
    EXPECT_EQ(outcome(), R"({"terminalId":"term_1"})");
    auto const& spec = processes.newest().spec;
    EXPECT_EQ(spec.cwd, "/srv");
    EXPECT_EQ(spec.argv[2], "exec </dev/null 2>&1\na b");
    spec.on_output("aäöüb");
    (void)ask("terminal/output", R"({"terminalId":"term_1"})");
    EXPECT_EQ(outcome(), R"({"output":"öüb","truncated":true})");
    spec.on_output("\xff");
    (void)ask("terminal/output", R"({"terminalId":"term_1"})");
    EXPECT_EQ(outcome(), "{\"output\":\"üb\xef\xbf\xbd\",\"truncated\":true}");
}

TEST_F(ClientTest, WaitForExit_IsAnsweredAtTheEnd) {
    (void)ask("terminal/create", R"({"command":"sleep","args":["9"]})");
    EXPECT_EQ(processes.newest().spec.argv,
              (std::vector<std::string>{"/bin/sh", "-c", "exec </dev/null 2>&1\nexec \"$@\"", "sh",
                                        "sleep", "9"}));
    EXPECT_EQ(ask("terminal/wait_for_exit", R"({"terminalId":"term_1"})"), "");
    (void)ask("terminal/kill", R"({"terminalId":"term_1"})");
    EXPECT_TRUE(processes.newest().killed);
    processes.die();
    EXPECT_EQ(outcome(), R"({"exitCode":null,"signal":"9"})");
    (void)ask("terminal/release", R"({"terminalId":"term_1"})");
    (void)ask("terminal/output", R"({"terminalId":"term_1"})");
    EXPECT_EQ(outcome(), R"(terminal "term_1" not found)");
}

// The loader would apply LD_PRELOAD and similar variables outside the sandbox.
TEST_F(ClientTest, TerminalVariables_DoNotReachTheSandboxBuilder) {
    settings.before = [](std::string const& folder) {
        return std::vector<std::string>{"/bin/wrap", folder};
    };
    settings.environment = {"PATH=/bin", "HOME=/root"};
    (void)ask("terminal/create", R"({"command":"a","env":[{"name":"HOME","value":"/x"},)"
                                 R"({"name":"LD_PRELOAD","value":"/srv/evil.so"}]})");
    auto const& spec = processes.newest().spec;
    EXPECT_EQ(spec.sandbox, (std::vector<std::string>{"/bin/wrap", "/srv"}));
    EXPECT_EQ(spec.argv.front(), "/bin/sh");
    EXPECT_EQ(spec.environment,
              (std::vector<std::string>{"PATH=/bin", "HOME=/x", "LD_PRELOAD=/srv/evil.so"}));
    for (std::string const name : {"", "-u", "A=B", "A.B", "1A", "A B"}) {
        (void)ask("terminal/create",
                  R"({"command":"a","env":[{"name":")" + name + R"(","value":"x"}]})");
        EXPECT_EQ(outcome(), "The name of a variable is invalid: \"" + name + "\".");
    }
    EXPECT_EQ(processes.all.size(), 1U);
}

TEST_F(ClientTest, Terminals_BeyondLimitRefused_AllEndOnClose) {
    for (std::size_t i = 0; i < ClientTerminals::terminals_max; ++i)
        (void)ask("terminal/create", R"({"command":"a"})");
    (void)ask("terminal/create", R"({"command":"a"})");
    EXPECT_EQ(outcome(), "There are 16 terminals already; release one.");
    terminals.close();
    for (auto const& process : processes.all) EXPECT_TRUE(process.end_requested);
}

TEST_F(ClientTest, InvalidCommand_StartsNothing) {
    for (std::string const params : {R"({})", R"({"command":"a\u0000b"})",
                                     R"({"command":"a","env":[{"name":"A","value":"\u0000"}]})",
                                     R"({"command":"a","cwd":"/srvs/x"})"}) {
        (void)ask("terminal/create", params);
        EXPECT_NE(answer.find("-32602"), std::string::npos) << params;
    }
    (void)ask("terminal/create",
              R"({"command":")" + std::string(ClientTerminals::command_bytes_max + 1, 'x') + "\"}");
    EXPECT_NE(outcome().find("too long"), std::string::npos);
    EXPECT_TRUE(processes.all.empty());
}

TEST_F(ClientTest, ForbiddenMethods_AreNotTaken) {
    settings.writes_files = settings.terminals = false;
    EXPECT_EQ(ask("fs/write_text_file", R"({"path":"/srv/a","content":"x"})"), "not taken");
    EXPECT_EQ(ask("terminal/create", R"({"command":"a"})"), "not taken");
    json::Writer out;
    out.begin_object();
    files.offer(out);
    terminals.offer(out);
    EXPECT_EQ(out.end_object().json().text(),
              R"({"fs":{"readTextFile":true,"writeTextFile":false},"terminal":false})");
}

}  // namespace
}  // namespace dormouse::acp
