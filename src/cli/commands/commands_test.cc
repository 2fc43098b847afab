#include "cli/commands/commands.h"

#include "cli/client/test_server.h"

#include "json/json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace dormouse::cli {
namespace {

std::string const session = "ses_AAAAAAEAAAAAAAAAAAAAAA";
std::string const pending = "pnd_AAAAAAEAAAAAAAAAAAAAAA_1_1_AAAAAAAAAAAAAAAAAAAAAA";

// Runs command lines against a server with prepared replies and checks the exit status.
class Commands : public testing::Test {
protected:
    Commands() { std::filesystem::create_directories(folder_); }
    ~Commands() override { std::filesystem::remove_all(folder_); }

    int run(std::vector<std::string> words, bool may_ask = false) {
        for (auto const& word :
             {std::string("--server"), server_.url(), std::string("--data"), folder_}) {
            words.push_back(word);
        }
        auto const parsed = parse(words, "");
        if (!parsed) return parsed.error().exit;
        Programs const programs{
            .serve = [this](ServeOptions const& options) { return served_ = options, 0; },
            .verify = [](VerifyOptions const& options) { return options.json ? 1 : 0; },
            .config = [this](ConfigOptions const& options) { return configured_ = options, 0; },
            .version = ""};
        Environment const env;
        out_.str("");
        err_.str("");
        Context const context{.global = parsed->global,
                              .env = env,
                              .programs = programs,
                              .in = in_,
                              .out = out_,
                              .err = err_,
                              .may_ask = may_ask};
        return execute(context, parsed->command);
    }

    // watch reads again at once, so that a test can prepare what it sees.
    int watch(bool json, std::function<Screen()> screen = {}) {
        Programs const programs{};
        Environment const env;
        Global const global{.server = server_.url(), .data = folder_, .json = json};
        out_.str("");
        err_.str("");
        Context const context{.global = global,
                              .env = env,
                              .programs = programs,
                              .in = in_,
                              .out = out_,
                              .err = err_,
                              .screen = std::move(screen)};
        return execute(context, Command(WatchArgs{.interval = Duration(1)}));
    }

    FakeServer server_;
    std::istringstream in_;
    std::ostringstream out_;
    std::ostringstream err_;
    ServeOptions served_;
    ConfigOptions configured_;
    std::string const folder_ =
        (std::filesystem::temp_directory_path() /
         ("dormouse-commands-" + std::to_string(reinterpret_cast<std::uintptr_t>(this))))
            .string();
};

std::string event(int seq, std::string const& type, std::string const& data) {
    return "id: " + std::to_string(seq) + "\nevent: " + type +
           "\ndata: {\"seq\":" + std::to_string(seq) + ",\"type\":\"" + type +
           "\",\"turnID\":\"trn_1\",\"at\":0,\"data\":" + data + "}\n\n";
}

std::string const sleeping =
    R"({"id":")" + session + R"(","seq":5,"activity":{"type":"waiting_async"}})";
std::string const busy = R"({"id":")" + session + R"(","seq":3,"activity":{"type":"busy"}})";

TEST_F(Commands, Prompt_PrintsItsTurnAndEndsWithIt) {
    server_.answer("POST /api/projects/default/sessions", 201, R"({"id":")" + session + R"("})");
    server_.answer("POST /api/sessions/" + session + "/prompt", 202,
                   R"({"turnID":"trn_1","messageID":"m","seq":2})");
    server_.answer("GET /api/sessions/" + session, 200, busy);
    server_.answer("GET /api/sessions/" + session + "/events", 200,
                   event(2, "input_received", "{}") +
                       event(4, "model_replied",
                             R"({"parts":[{"type":"text","text":"You said: hi"}],"calls":[]})") +
                       event(5, "turn_ended", R"({"finishReason":"stop"})"));
    EXPECT_EQ(run({"prompt", "hi"}), status::done) << err_.str();
    EXPECT_EQ(out_.str(), session + "\nYou said: hi\n");
    EXPECT_EQ(server_.body_of("POST /api/projects/default/sessions"), R"({"agentID":"demo"})");
    EXPECT_EQ(server_.body_of("POST /api/sessions/" + session + "/prompt"), R"({"text":"hi"})");
}

TEST_F(Commands, LinkOfThisMachine_QrCode_SaysThatOthersCannotOpenIt) {
    constexpr std::string_view warning = "Another device cannot open this address.";
    for (auto const& [address, local] : {std::pair<std::string, bool>{"http://localhost:1", true},
                                         {"http://127.0.0.1:1", true},
                                         {"http://[::1]:1", true},
                                         {"http://localhost.example.org", false},
                                         {"http://127.0.0.1.example.org", false},
                                         {"https://dm.example.org", false}}) {
        server_.always("POST /api/links", 201,
                       R"({"url":")" + address + R"(/sign-in#dml_A","expires":0})");
        EXPECT_EQ(run({"link", "bob", "--qr"}), status::done) << err_.str();
        EXPECT_EQ(err_.str().contains(warning), local) << address;
        EXPECT_EQ(out_.str(), address + "/sign-in#dml_A\n");
    }
}

TEST_F(Commands, Prompt_SessionSleeps_SaysHowToSettle) {
    server_.answer("POST /api/sessions/" + session + "/prompt", 202,
                   R"({"turnID":"trn_1","messageID":"m","seq":2})");
    server_.answer("GET /api/sessions/" + session, 200, busy);
    server_.answer("GET /api/sessions/" + session, 200, sleeping);
    server_.answer("GET /api/sessions/" + session + "/events", 200,
                   event(4, "model_replied",
                         R"({"parts":[],"calls":[{"callID":"c","tool":"deploy","input":{}}]})") +
                       event(5, "call_paused", "{}"));
    server_.answer("GET /async-tool/pending?limit=200&sessionID=" + session, 200,
                   R"({"items":[{"id":")" + pending +
                       R"(","tool":"deploy","input":{},"reason":"tool_result"}],"next":null})");
    EXPECT_EQ(run({"prompt", "-s", session, "deploy A"}), status::sleeps) << err_.str();
    auto const text = out_.str();
    EXPECT_NE(text.find("→ deploy {}\nsleeps: deploy {} waits for its result\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("dormouse result " + pending + " 'TEXT' --server "), std::string::npos)
        << text;
}

TEST_F(Commands, Prompt_BehindASleepingTurn_SaysSoAtOnce) {
    server_.answer("POST /api/sessions/" + session + "/prompt", 202,
                   R"({"turnID":"trn_2","messageID":"m","seq":6})");
    server_.answer("GET /api/sessions/" + session, 200,
                   R"({"seq":6,"activity":{"type":"waiting_async"}})");
    server_.answer("GET /api/sessions/" + session + "/events", 200,
                   event(6, "input_received", "{}"));
    server_.answer("GET /async-tool/pending?limit=200&sessionID=" + session, 200,
                   R"({"items":[{"id":")" + pending +
                       R"(","tool":"deploy","input":{},"reason":"tool_result"}],"next":null})");
    EXPECT_EQ(run({"prompt", "-s", session, "and B"}), status::sleeps) << err_.str();
}

TEST_F(Commands, PromptContinue_UsesTheLastSession) {
    server_.answer("POST /api/sessions/" + session + "/prompt", 202,
                   R"({"turnID":"trn_1","messageID":"m","seq":2})");
    EXPECT_EQ(run({"prompt", "-c", "--no-follow", "x"}), status::not_found);
    EXPECT_EQ(run({"prompt", "-s", session, "--no-follow", "x"}), status::done) << err_.str();
    in_.str("from a pipe\n");
    EXPECT_EQ(run({"prompt", "-c", "--no-follow", "--json", "-"}), status::done) << err_.str();
    EXPECT_EQ(out_.str(), R"({"turnID":"trn_1","messageID":"m","seq":2})"
                          "\n");
    EXPECT_EQ(server_.seen().back().body, R"({"text":"from a pipe"})");
}

TEST_F(Commands, Prompt_InvalidText_CreatesNoSession) {
    EXPECT_EQ(run({"prompt", ""}), status::usage);
    EXPECT_EQ(run({"prompt", "\xff"}), status::usage);
    in_.str("\n");
    EXPECT_EQ(run({"prompt", "-"}), status::usage);
    EXPECT_TRUE(server_.seen().empty());
}

TEST_F(Commands, PromptContinue_StoredTextIsNoId_IsNotSent) {
    remember_session(folder_, server_.url(), "../x");
    EXPECT_EQ(run({"prompt", "-c", "x"}), status::not_found);
    EXPECT_TRUE(server_.seen().empty());
}

TEST_F(Commands, Prompt_TurnFailed_ExitsWithOne) {
    server_.answer("POST /api/sessions/" + session + "/prompt", 202,
                   R"({"turnID":"trn_1","messageID":"m","seq":2})");
    server_.answer("GET /api/sessions/" + session, 200, busy);
    server_.answer("GET /api/sessions/" + session + "/events", 200,
                   event(5, "turn_ended", R"({"finishReason":"error","error":{"message":"no"}})"));
    EXPECT_EQ(run({"prompt", "-s", session, "x"}), status::failed);
}

struct Submission {
    std::vector<std::string> words;
    std::string line;
    std::string body;
};

TEST_F(Commands, Submissions_SendTheArguments) {
    std::string const id = R"({"pendingID":")" + pending + "\",";
    std::vector<Submission> const table{
        {{"result", pending, "live"},
         "POST /async-tool/result",
         id + R"("result":{"output":"live"}})"},
        {{"result", pending, "--json-value", "{\"n\": 1}", "--title", "T", "--metadata", "{}"},
         "POST /async-tool/result",
         id + R"("result":{"title":"T","output":{"n": 1},"metadata":{}}})"},
        {{"error", pending, "no such branch"},
         "POST /async-tool/error",
         id + R"("error":"no such branch"})"},
        {{"progress", pending, "--json-value", "50", "--key", "k"},
         "POST /async-tool/progress",
         id + R"("payload":50,"key":"k"})"},
    };
    for (auto const& row : table) {
        server_.answer(row.line, 200, R"({"outcome":"applied","duplicate":false,"receipt":null})");
        EXPECT_EQ(run(row.words), status::done) << err_.str();
        EXPECT_EQ(server_.seen().back().line, row.line);
        EXPECT_EQ(server_.seen().back().body, row.body);
    }
}

TEST_F(Commands, Result_FromFileOrStandardInput_IsSent) {
    server_.answer("POST /async-tool/result", 200, R"({"outcome":"applied"})");
    std::ofstream(folder_ + "/out.json") << "[1,\n2]";
    EXPECT_EQ(run({"result", pending, "--file", folder_ + "/out.json"}), status::done)
        << err_.str();
    EXPECT_NE(server_.seen().back().body.find("\"output\":[1,\n2]"), std::string::npos);
    in_.str("two\nlines\n");
    EXPECT_EQ(run({"result", pending, "-"}), status::done) << err_.str();
    EXPECT_NE(server_.seen().back().body.find(R"("output":"two\nlines")"), std::string::npos);
    EXPECT_EQ(run({"result", pending, "--file", folder_ + "/none"}), status::usage);
}

TEST_F(Commands, InvalidJson_IsNotSent) {
    EXPECT_EQ(run({"result", pending, "--json-value", "{live}"}), status::usage);
    EXPECT_TRUE(server_.seen().empty());
    EXPECT_NE(err_.str().find("--json-value is not JSON"), std::string::npos);
}

TEST_F(Commands, EveryServerError_HasItsExitStatus) {
    for (CodeInfo const& row : codes()) {
        auto const problem =
            R"({"title":"T","code":")" + std::string(row.text) + R"(","next":"stop"})";
        server_.always("POST /async-tool/error", row.http, problem);
        EXPECT_EQ(run({"error", pending, "x"}), row.exit) << row.text;
    }
}

TEST_F(Commands, Json_ProblemIsPrintedUnchanged) {
    auto const problem = R"({"title":"T","code":"conflict","digest":"sha256:1"})";
    server_.answer("POST /async-tool/error", 409, problem);
    EXPECT_EQ(run({"error", pending, "x", "--json"}), status::conflict);
    EXPECT_EQ(err_.str(), std::string(problem) + "\n");
}

TEST_F(Commands, Approve_SendsTheDigestOfTheShownArguments) {
    server_.answer(
        "GET /async-tool/pending/" + pending, 200,
        R"({"id":"x","tool":"dangerous","input":{"action":"X"},"inputDigest":"sha256:in"})");
    server_.answer("POST /async-tool/decision", 200, R"({"outcome":"applied","receipt":null})");
    EXPECT_EQ(run({"approve", pending, "--reason", "ok", "--arguments", "{\"action\":\"Y\"}"}),
              status::done);
    EXPECT_EQ(server_.seen().back().body, R"({"pendingID":")" + pending +
                                              R"(","approved":true,"inputDigest":"sha256:in",)"
                                              R"("reason":"ok","arguments":{"action":"Y"}})");
    EXPECT_EQ(out_.str(),
              "approve dangerous {\"action\":\"Y\"} instead of {\"action\":\"X\"}: applied\n");
    EXPECT_EQ(run({"deny", pending}), status::done);
    EXPECT_NE(server_.seen().back().body.find(R"("approved":false)"), std::string::npos);
}

TEST_F(Commands, Cancel_AcceptsCallsAndSessions) {
    server_.answer("DELETE /async-tool/pending/" + pending, 200,
                   R"({"outcome":"applied","receipt":null})");
    server_.answer("POST /api/sessions/" + session + "/cancel", 200, busy);
    EXPECT_EQ(run({"cancel", pending}), status::done) << err_.str();
    EXPECT_EQ(run({"cancel", session}), status::done) << err_.str();
    EXPECT_EQ(server_.seen().back().body, R"({"turn":true})");
    EXPECT_EQ(run({"cancel", session, "--all"}), status::done) << err_.str();
    EXPECT_EQ(server_.seen().back().body, R"({"all":true})");
    EXPECT_EQ(run({"cancel", pending, "--all"}), status::usage);
}

TEST_F(Commands, Fork_WithoutPosition_IsAtTheEnd) {
    server_.answer("GET /api/sessions/" + session, 200, sleeping);
    server_.answer("POST /api/sessions/" + session + "/fork", 201, busy);
    EXPECT_EQ(run({"fork", session}), status::done) << err_.str();
    EXPECT_EQ(server_.seen().back().body, R"({"seq":5})");
    EXPECT_EQ(run({"fork", session, "--seq", "3", "--title", "try"}), status::done) << err_.str();
    EXPECT_EQ(server_.seen().back().body, R"({"seq":3,"title":"try"})");
}

TEST_F(Commands, Json_ListsPrintTheObjectsUnchanged) {
    std::string const page = R"({"items":[ ],"next":null})";
    server_.answer("GET /async-tool/pending?limit=50&project=default&tool=a%20b", 200, page);
    EXPECT_EQ(run({"pending", "--tool", "a b", "--json"}), status::done) << err_.str();
    EXPECT_EQ(out_.str(), page + "\n");
}

TEST_F(Commands, Sessions_All_ReadsEveryPage) {
    server_.answer("GET /api/projects/default/sessions?limit=200", 200,
                   R"({"items":[],"next":"n"})");
    server_.answer("GET /api/projects/default/sessions?limit=200&cursor=n", 200,
                   R"({"items":[],"next":null})");
    EXPECT_EQ(run({"sessions", "--all", "--json"}), status::done) << err_.str();
    EXPECT_EQ(server_.seen().size(), 2U);
}

TEST_F(Commands, Tail_WithoutFollow_PrintsStoredEvents) {
    server_.answer("GET /api/sessions/" + session + "/events?limit=200&after=3", 200,
                   R"({"items":[{"seq":4,"type":"note","at":0,"data":{}}],"next":null})");
    EXPECT_EQ(run({"tail", session, "--after", "3", "--no-follow", "--json"}), status::done)
        << err_.str();
    EXPECT_EQ(out_.str(), "{\"seq\":4,\"type\":\"note\",\"at\":0,\"data\":{}}\n");
}

TEST_F(Commands, Timeline_AfterRetention_BeginsWithTheKeptHistory) {
    server_.answer("GET /api/sessions/" + session, 200, R"({"title":null,"historyAfter":7})");
    server_.answer("GET /api/sessions/" + session + "/events?limit=200&after=7", 200,
                   R"({"items":[{"seq":8,"type":"turn_started","at":5000,"turnID":"trn_a_3",)"
                   R"("data":{}},{"seq":9,"type":"turn_ended","at":6000,"data":{}}],"next":null})");
    EXPECT_EQ(run({"timeline", session}), status::done) << err_.str();
    EXPECT_TRUE(out_.str().starts_with(session + "\n1 turn, 0 calls")) << out_.str();
    EXPECT_NE(out_.str().find("├"), std::string::npos) << out_.str();
}

TEST_F(Commands, Doctor_StuckSession_Fails) {
    server_.answer("GET /api/doctor", 200, R"({"ok":true,"stuck":[],"nodes":1,"queues":{}})");
    server_.answer("GET /api/doctor", 200,
                   R"({"ok":false,"stuck":[{"sessionID":"s","why":"w","next":"n"}]})");
    EXPECT_EQ(run({"doctor"}), status::done);
    EXPECT_EQ(run({"doctor"}), status::failed);
}

TEST_F(Commands, Doctor_ReadsEveryPageAndSaysWhatItOmits) {
    server_.answer("GET /api/doctor", 200,
                   R"({"ok":false,"unreadable":[{"sessionID":"s","why":"w","next":"n"}],)"
                   R"("counts":{"unreadable":5},"next":"ses_2"})");
    server_.answer("GET /api/doctor?cursor=ses_2", 200, R"({"ok":true,"next":null})");
    EXPECT_EQ(run({"doctor", "--all"}), status::failed);
    EXPECT_NE(out_.str().find("5 unreadable\n  s: w\n    next: n\n  and 4 more\n"),
              std::string::npos)
        << out_.str();
    EXPECT_EQ(out_.str().find("ok:"), std::string::npos) << out_.str();
}

TEST_F(Commands, Doctor_CutAnswer_SaysHowToLookAtTheRest) {
    server_.answer("GET /api/doctor", 200,
                   R"({"ok":true,"lookedAt":1000,"cut":["blocked","inDoubt"],"next":"ses_2"})");
    EXPECT_EQ(run({"doctor"}), status::done);
    EXPECT_EQ(out_.str(),
              "not all was looked at\n  1000 sessions were read; there may be more in: blocked, "
              "inDoubt\n    next: dormouse doctor --all\n");
}

TEST_F(Commands, Show_PrintsASessionWithItsMessages) {
    server_.answer("GET /api/sessions/" + session, 200, sleeping);
    server_.answer("GET /api/sessions/" + session + "/messages?limit=200", 200,
                   R"({"items":[{"role":"user","time":{"created":0},)"
                   R"("parts":[{"type":"text","text":"hello"}]}],"next":null})");
    EXPECT_EQ(run({"show", session}), status::done) << err_.str();
    EXPECT_NE(out_.str().find(session), std::string::npos);
    EXPECT_NE(out_.str().find("  hello\n"), std::string::npos);
}

std::string call(std::string const& id, std::string const& status) {
    return R"({"id":")" + id + R"(","tool":"deploy","input":{},"reason":"tool_result","status":")" +
           status + R"(","receipt":null})";
}

std::string page(std::string const& items) { return R"({"items":[)" + items + R"(],"next":null})"; }

constexpr char const* watched = "GET /async-tool/pending?limit=200&project=default";
constexpr char const* not_allowed_now = R"({"title":"T","code":"unauthenticated"})";

TEST_F(Commands, Watch_PrintsALineForEachChange) {
    server_.answer(watched, 200, page(call("pnd_2", "waiting") + "," + call("pnd_1", "waiting")));
    server_.answer(watched, 200, page(call("pnd_2", "waiting") + "," + call("pnd_1", "waiting")));
    server_.answer(watched, 200, page(call("pnd_2", "processing")));
    server_.answer(watched, 200, page(""));
    server_.answer(watched, 401, not_allowed_now);
    server_.answer("GET /async-tool/pending/pnd_1", 200, call("pnd_1", "completed"));
    EXPECT_EQ(watch(true), status::not_allowed);
    EXPECT_EQ(out_.str(), call("pnd_1", "waiting") + "\n" + call("pnd_2", "waiting") + "\n" +
                              call("pnd_1", "completed") + "\n" + call("pnd_2", "processing") +
                              "\n");
    server_.always(watched, 200, page(call("pnd_1", "waiting")));
    server_.answer(watched, 200, page(""));
    server_.answer(watched, 401, not_allowed_now);
    EXPECT_EQ(watch(false), status::not_allowed);
    auto const text = out_.str();
    EXPECT_NE(text.find("  waiting     pnd_1  deploy {}  tool_result"), std::string::npos) << text;
    EXPECT_NE(text.find("  completed   pnd_1  deploy {}"), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

TEST_F(Commands, Watch_SessionDeleted_ReportsItsCalls) {
    server_.answer(watched, 200, page(call("pnd_1", "waiting")));
    server_.answer(watched, 200, page(""));
    server_.answer(watched, 401, not_allowed_now);
    EXPECT_EQ(watch(false), status::not_allowed);
    EXPECT_NE(out_.str().find("deleted     pnd_1\n"), std::string::npos) << out_.str();
}

TEST_F(Commands, Watch_Terminal_DrawsWithinItsSize) {
    std::string many;
    for (int i = 0; i < 50; ++i)
        many += (i == 0 ? "" : ",") + call("pnd_" + std::to_string(i), "waiting");
    server_.answer(watched, 200, page(many));
    server_.answer(watched, 200, page(call("pnd_1", "waiting")));
    server_.answer(watched, 401, not_allowed_now);
    EXPECT_EQ(watch(false, [] { return Screen{.columns = 50, .rows = 6}; }), status::not_allowed);
    auto const text = out_.str();
    auto const second = text.rfind("\x1b[H");
    auto const first = text.substr(0, second);
    EXPECT_TRUE(first.starts_with("\x1b[2J\x1b[H50 calls waiting at ")) << text;
    EXPECT_LE(std::count(first.begin(), first.end(), '\n'), 6);
    EXPECT_TRUE(text.substr(second).starts_with("\x1b[H1 call waiting at ")) << text;
    EXPECT_TRUE(text.ends_with("\x1b[J"));
    EXPECT_NE(text.find("pnd_1"), std::string::npos);
}

TEST_F(Commands, Watch_ServerNeverReached_EndsAtOnce) {
    EXPECT_EQ(run({"watch", "--tool", "x"}), status::not_found);  // the page does not exist
    EXPECT_EQ(server_.seen().back().line, std::string(watched) + "&tool=x");
}

TEST_F(Commands, AgentsAndTools_AreListed) {
    server_.answer("GET /api/agents", 200,
                   page(R"({"id":"demo","kind":"model","available":true,"tools":["t"]})"));
    server_.answer("GET /api/tools", 200,
                   page(R"({"name":"deploy","agents":["demo"],"inputSchema":null})"));
    EXPECT_EQ(run({"agents"}), status::done) << err_.str();
    EXPECT_NE(out_.str().find("demo   model  -      available  t\n"), std::string::npos)
        << out_.str();
    EXPECT_EQ(run({"tools"}), status::done) << err_.str();
    EXPECT_NE(out_.str().find("deploy  -      demo\n"), std::string::npos) << out_.str();
}

TEST_F(Commands, Claim_PrintsForHowLong) {
    server_.answer("POST /async-tool/pending/" + pending + "/claim", 200,
                   R"({"id":"x","tool":"deploy","input":{}})");
    EXPECT_EQ(run({"claim", pending}), status::done) << err_.str();
    EXPECT_EQ(server_.seen().back().body, R"({"forMs":60000})");
    EXPECT_EQ(out_.str(), "claimed deploy {} for 60s\n");
    EXPECT_EQ(run({"claim", pending, "--for", "2h"}), status::done) << err_.str();
    EXPECT_EQ(server_.seen().back().body, R"({"forMs":7200000})");
    auto const before = server_.seen().size();
    for (std::string const wrong : {"", "1", "s", "-1s", "1 s", "1y", "99999999999999999999s"}) {
        EXPECT_EQ(run({"claim", pending, "--for=" + wrong}), status::usage) << wrong;
    }
    EXPECT_EQ(server_.seen().size(), before);
}

TEST_F(Commands, Delete_AsksAPersonOrNeedsYes) {
    auto const line = "DELETE /api/sessions/" + session;
    server_.answer(line, 204, "");
    EXPECT_EQ(run({"delete", session}), status::usage);
    in_.str("n\n");
    EXPECT_EQ(run({"delete", session}, true), status::failed);
    in_.clear();
    in_.str("");
    EXPECT_EQ(run({"delete", session}, true), status::failed);
    EXPECT_TRUE(server_.seen().empty());
    in_.clear();
    in_.str("y\n");
    EXPECT_EQ(run({"delete", session}, true), status::done) << err_.str();
    EXPECT_EQ(run({"delete", session, "--yes"}), status::done) << err_.str();
    EXPECT_EQ(out_.str(), "deleted " + session + "\n");
    EXPECT_EQ(server_.seen().size(), 2U);
}

TEST_F(Commands, Prompt_Reopen_IsSent) {
    server_.answer("POST /api/sessions/" + session + "/prompt", 202,
                   R"({"turnID":"trn_1","messageID":"m","seq":2})");
    EXPECT_EQ(run({"prompt", "-s", session, "--reopen", "--no-follow", "x"}), status::done);
    EXPECT_EQ(server_.seen().back().body, R"({"text":"x","reopen":true})");
}

TEST_F(Commands, Json_TerminalControlCharacters_AreEscaped) {
    server_.answer("GET /api/agents", 200, page("{\"id\":\"a\u202E\u200B\u009B\"}"));
    EXPECT_EQ(run({"agents", "--json"}), status::done) << err_.str();
    EXPECT_EQ(out_.str(), page(R"({"id":"a\u202e\u200b\u009b"})") + "\n");
    server_.answer("GET /api/doctor", 500, "{\"code\":\"internal\",\"title\":\"\u202E\"}");
    EXPECT_EQ(run({"doctor", "--json"}), status::failed);
    EXPECT_EQ(err_.str().find("\u202E"), std::string::npos);
}

TEST_F(Commands, Token_WithLineBreak_IsRefused) {
    std::ofstream(folder_ + "/token") << "dm_secret\x01X-Evil: 1\n";
    EXPECT_EQ(run({"sessions"}), status::usage);
    EXPECT_TRUE(server_.seen().empty());
    EXPECT_EQ(err_.str().find("secret"), std::string::npos);
}

TEST_F(Commands, Candidates_PrintsIdsOrNothing) {
    server_.answer("GET /api/projects/default/sessions?limit=200", 200,
                   page(R"({"id":"ses_A","title":"A\u001b[2J\tb"},{"id":"ses_B","title":null})"));
    EXPECT_EQ(run({"candidates", "session", "ses_A"}), status::done);
    EXPECT_EQ(out_.str(), "ses_A\tA\\u{1b}[2J\\u{9}b\n");
    EXPECT_EQ(run({"candidates", "call"}), status::done);
    EXPECT_EQ(out_.str() + err_.str(), "");
}

TEST_F(Commands, Serve_GetsTheDataDirectory) {
    EXPECT_EQ(run({"serve", "--listen", "127.0.0.1:0"}), 0);
    EXPECT_EQ(served_.data, folder_);
    EXPECT_EQ(served_.listen, "127.0.0.1:0");
    EXPECT_EQ(served_.store, std::nullopt);
}

TEST_F(Commands, Serve_GetsTheNamedConfigurationOrNone) {
    EXPECT_EQ(run({"serve", "--config", "my.toml"}), 0);
    EXPECT_EQ(served_.config, "my.toml");
    EXPECT_EQ(run({"serve", "--no-config"}), 0);
    EXPECT_EQ(served_.config, "");
    EXPECT_EQ(run({"serve", "--no-config", "--config", "my.toml"}), status::usage);
}

TEST_F(Commands, Config_GetsItsFile) {
    EXPECT_EQ(run({"config", "check", "my.toml"}), 0);
    EXPECT_EQ(configured_.what, "check");
    EXPECT_EQ(configured_.path, "my.toml");
    EXPECT_EQ(run({"config", "init"}), status::usage) << "no home is known";
    EXPECT_EQ(run({"config", "chekc"}), status::usage);
}

TEST_F(Commands, Paths_PrintsWhereFilesAre) {
    EXPECT_EQ(run({"paths", "--json"}), 0);
    auto const json = Json::trusted(out_.str());
    EXPECT_EQ(json::View(json)["data"]["path"].string_or(""), folder_);
    EXPECT_TRUE(json::View(json)["data"]["exists"].boolean_or(false));
    EXPECT_EQ(json::View(json)["token"]["path"].string_or(""), folder_ + "/token");
    EXPECT_FALSE(json::View(json)["token"]["exists"].boolean_or(true));
    EXPECT_EQ(run({"paths"}), 0);
    EXPECT_NE(out_.str().find("/etc/dormouse/dormouse.toml"), std::string::npos) << out_.str();
}

}  // namespace
}  // namespace dormouse::cli
