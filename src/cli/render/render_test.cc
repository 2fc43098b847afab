#include "cli/render/render.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

constexpr Time now = from_ms(1'795'290'000'000);

TEST(Table, Columns_AreAlignedButTheLast) {
    Table table({"ID", "WHAT"});
    table.add({"1", "ä"});
    table.add({"1234", "b"});
    EXPECT_EQ(table.text({}), "ID    WHAT\n1     ä\n1234  b\n");
}

TEST(Table, ControlCharacters_AreEscaped) {
    Table table({"TITLE"});
    table.add({"a\x1b[2Jb\u202Ec"});
    auto const text = table.text({});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find("\u202E"), std::string::npos);
}

TEST(Style, Colours_OnlyIfRequested) {
    EXPECT_EQ(Style{false}(Paint::red, "x"), "x");
    EXPECT_EQ(Style{true}(Paint::red, "x"), "\x1b[31mx\x1b[0m");
}

TEST(Words, Durations_AreWords) {
    EXPECT_EQ(in_words(Duration(40)), "40 ms");
    EXPECT_EQ(in_words(Duration(3'000)), "3 s");
    EXPECT_EQ(in_words(Duration(3'600'000)), "1 h");
    EXPECT_EQ(in_words(Duration(18'600'000)), "5 h 10 min");
    EXPECT_EQ(in_words(Duration(273'600'000)), "3 d 4 h");
    EXPECT_EQ(ago(to_ms(now) - 120'000, now), "2 min ago");
    EXPECT_EQ(ahead(to_ms(now) + 60'000, now), "in 1 min");
    EXPECT_EQ(ahead(to_ms(now) - 60'000, now), "1 min overdue");
    EXPECT_EQ(ahead(0, now), "none");
}

TEST(Table, WideAndJoiningCharacters_StayAligned) {
    Table table({"WHO", "WHAT"});
    table.add({"漢字", "a"});
    table.add({"e\u0301e\u0301", "b"});
    EXPECT_EQ(table.text({}), "WHO   WHAT\n漢字  a\ne\u0301e\u0301    b\n");
}

TEST(Table, NarrowTerminal_ShortensIdsFirst) {
    Table table({{"ID", Narrow::id}, "STATUS", {"TITLE", Narrow::words}});
    table.add({"ses_AAAAAAAAAAA1xxxxxxxxxx", "active", "a title of many words 漢字漢字"});
    table.add({"ses_AAAAAAAAAAA2xxxxxxxxxx", "active", "short"});
    auto const whole = table.text({});
    EXPECT_EQ(table.text({}, 200), whole);
    EXPECT_EQ(table.text({}, 56),
              "ID                STATUS  TITLE\n"
              "ses_AAAAAAAAAAA1  active  a title of many words 漢字漢字\n"
              "ses_AAAAAAAAAAA2  active  short\n");
    EXPECT_EQ(table.text({}, 40),
              "ID                STATUS  TITLE\n"
              "ses_AAAAAAAAAAA1  active  a title of ma…\n"
              "ses_AAAAAAAAAAA2  active  short\n");
}

TEST(Table, Lines_AreNoWiderThanTheTerminal) {
    Table table({{"ID", Narrow::id}, "STATUS", {"TITLE", Narrow::words}});
    table.add({"ses_AAAAAAAAAAA1", "漢字漢字漢字", "e\u0301漢🐭\x1b漢字漢字漢字"});
    for (std::size_t columns = 1; columns < 60; ++columns) {
        auto const text = table.text({}, columns);
        for (std::size_t at = 0; at < text.size();) {
            auto const end = text.find('\n', at);
            EXPECT_LE(width(std::string_view(text).substr(at, end - at)), columns) << text;
            at = end + 1;
        }
    }
}

TEST(Json, Terminal_EscapesAndKeepsTheValue) {
    EXPECT_EQ(json_for_terminal("{\"a\":\n\"ä漢\"}"), "{\"a\":\n\"ä漢\"}");
    EXPECT_EQ(json_for_terminal("\"\u202E\u200B\u009B\x7F\""), R"("\u202e\u200b\u009b\u007f")");
    EXPECT_EQ(json_for_terminal("\"\U000E0041\""), R"("\udb40\udc41")");
    std::string const evil = "\"x\u2066\U000E0041y\"";
    EXPECT_EQ(json::View(json_for_terminal(evil)).string(), json::View(evil).string());
}

constexpr char const* waiting_call =
    R"({"id":"pnd_1","tool":"deploy","input":{"target":"A"},"reason":"tool_result",)"
    R"("status":"waiting","timeout":1795293600000,"time":{"created":1795289940000},)"
    R"("message":null,"inDoubt":false,"receipt":null})";

TEST(Pending, List_IsATableOfWhatWaits) {
    auto const items = "[" + std::string(waiting_call) + "]";
    EXPECT_EQ(pending_table(json::View(items), now, {}),
              "PENDING  CALL                   REASON       SINCE      DEADLINE\n"
              "pnd_1    deploy {\"target\":\"A\"}  tool_result  1 min ago  in 1 h\n");
    EXPECT_EQ(pending_table(json::View("[]"), now, {}), "nothing waits\n");
}

std::string approval_of(std::string const& id, std::string const& more = "") {
    return R"({"id":")" + id +
           R"(","tool":"deploy","input":{"target":"the-shop"},"reason":"approval",)" +
           R"("status":"waiting","timeout":1795293600000,"time":{"created":1795289940000})" + more +
           "}";
}

TEST(Pending, Table_80Columns_ShowsTheCallAndUniqueEndings) {
    std::string const session = "pnd_AAAAAAEXinbjDe5WMEYhEA_";
    auto const items = "[" + approval_of(session + "1_1_KGoT7YAtRkJgFqZeEhOjiw") + "," +
                       approval_of(session + "2_1_aGoT7YAtRkJgFqZeEhOxiw") + "]";
    EXPECT_EQ(pending_table(json::View(items), now, {}, 80),
              "PENDING  CALL                          REASON    SINCE      DEADLINE\n"
              "…hOjiw   deploy {\"target\":\"the-shop\"}  approval  1 min ago  in 1 h\n"
              "…hOxiw   deploy {\"target\":\"the-shop\"}  approval  1 min ago  in 1 h\n");
}

TEST(Pending, Reason_OfTimerAndInDoubt_HasItsOwnWord) {
    EXPECT_EQ(reason_word(json::View(R"({"reason":"handoff"})")), "timer");
    EXPECT_EQ(reason_word(json::View(R"({"reason":"tool_result","inDoubt":true})")), "in doubt");
    EXPECT_EQ(reason_word(json::View(R"({"reason":"approval","inDoubt":false})")), "approval");
}

TEST(Pending, Question_OfSeveralLines_IsShownOnSeveralLines) {
    auto const call = approval_of("pnd_1", R"(,"message":"Which?\n- a\n- b","receipt":null)");
    EXPECT_NE(pending_text(json::View(call), now, {})
                  .find("asks      Which?\n          - a\n          - b\n"),
              std::string::npos);
    EXPECT_NE(how_to_settle(json::View(call), now, "", {})
                  .find("  asks: Which?\n        - a\n        - b\n"),
              std::string::npos);
}

TEST(Pending, Question_WithMarkdown_IsRendered) {
    json::View const call(R"({"reason":"user_input","id":"pnd_1","status":"waiting","message":)"
                          R"("Which **region**?\n\n- `eu`\n- us\n\nAnswer \u001b[2J soon."})");
    EXPECT_NE(pending_text(call, now, {})
                  .find("asks      Which **region**?\n          - `eu`\n          - us\n\n"
                        "          Answer \\u{1b}[2J soon.\n"),
              std::string::npos)
        << pending_text(call, now, {});
    auto const colored = how_to_settle(call, now, "", Style{true});
    EXPECT_TRUE(colored.contains("Which \x1b[1mregion\x1b[22m?")) << colored;
    EXPECT_TRUE(colored.contains("- \x1b[36meu\x1b[39m\n")) << colored;
}

TEST(Explain, EditedArguments_ShowsBothAndWhatDiffers) {
    auto const text = explain_text(
        json::View(R"({"session":{"id":"ses_1"},"calls":[{"attempts":1,"pending":{"id":"pnd_1",)"
                   R"("status":"completed","tool":"deploy","input":{"target":"B","at":{"n":1}},)"
                   R"("modelInput":{"target":"A","at":{"n":1},"force":true}}}]})"),
        now, {});
    EXPECT_NE(text.find("call      deploy {\"target\":\"B\",\"at\":{\"n\":1}}\n"
                        "asked for deploy {\"target\":\"A\",\"at\":{\"n\":1},\"force\":true}\n"
                        "          - target: \"A\"\n          + target: \"B\"\n"
                        "          - force: true\n"),
              std::string::npos)
        << text;
}

TEST(Pending, Expired_SaysThatNobodyAnsweredAndThatTheServerSettledIt) {
    std::string const call =
        R"({"id":"pnd_1","tool":"deploy","input":{},"status":"expired",)"
        R"("error":"denied: nobody answered in time","receipt":{"at":5,"kind":"expiry",)"
        R"("digest":"sha256:1","by":{"type":"runtime","name":null},"consumed":null}})";
    auto const text = pending_text(json::View(call), now, {});
    EXPECT_TRUE(text.contains("\nexpired   denied: nobody answered in time\n")) << text;
    EXPECT_TRUE(text.contains(" by the server, at its deadline, sha256:1\n")) << text;
    auto const line = pending_line(json::View(call), now, {});
    EXPECT_TRUE(line.ends_with("  by the server, at its deadline\n")) << line;
}

TEST(Pending, Change_IsOneLine) {
    auto const text = pending_line(json::View(waiting_call), now, {});
    EXPECT_TRUE(
        text.ends_with("  waiting     pnd_1  deploy {\"target\":\"A\"}  "
                       "tool_result, deadline in 1 h\n"))
        << text;
    auto const settled = R"({"id":"pnd_1","tool":"deploy","input":{"target":"A"},)"
                         R"("status":"completed","receipt":{"at":5,"by":{"name":"ann"}}})";
    EXPECT_TRUE(pending_line(json::View(settled), now, {})
                    .ends_with("  completed   pnd_1  deploy {\"target\":\"A\"}  by ann\n"));
    auto const progress = R"({"id":"pnd_1","tool":"t\u001b","input":1,"status":"waiting",)"
                          R"("progressCount":2,"progress":[{"at":1,"payload":"1\n"},)"
                          R"({"at":2,"payload":{"percent":50}}]})";
    auto const line = pending_line(json::View(progress), now, {});
    EXPECT_TRUE(line.ends_with("progress {\"percent\":50}\n")) << line;
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

TEST(Lists, Tasks_AreListed) {
    auto const tasks = R"([{"taskID":"tsk_A_1","status":"completed","queued":false,"error":null,)"
                       R"("agentID":"demo","sessionID":"ses_B","description":"look"},)"
                       R"({"taskID":"tsk_A_2","status":"running","queued":true,"error":null,)"
                       R"("agentID":"demo","sessionID":"ses_C","description":"\u001b[2Jx"}])";
    std::string const table = tasks_table(json::View(tasks), {});
    EXPECT_TRUE(table.contains("tsk_A_1")) << table;
    EXPECT_TRUE(table.contains("running, waits for a place")) << table;
    EXPECT_FALSE(table.contains("\033")) << table;
    EXPECT_EQ(tasks_table(json::View("[]"), {}), "no tasks\n");
}

TEST(Lists, AgentsAndTools_AreListed) {
    auto const agents = R"([{"id":"demo","kind":"model","available":true,"reason":null,)"
                        R"("model":"scripted","tools":["a","b"]},)"
                        R"({"id":"coder","kind":"acp","available":false,"reason":"not found",)"
                        R"("model":null,"tools":[]}])";
    EXPECT_EQ(agents_table(json::View(agents), {}),
              "AGENT  KIND   MODEL     STATE      TOOLS\n"
              "demo   model  scripted  available  a, b\n"
              "coder  acp    -         not found  -\n");
    auto const tools = R"([{"name":"deploy","agents":["demo","ops"],"inputSchema":{"properties":)"
                       R"({"target":{},"branch":{}},"required":["target"]}},)"
                       R"({"name":"fail","agents":[],"inputSchema":null}])";
    EXPECT_EQ(tools_table(json::View(tools), {}),
              "TOOL    TAKES            AGENTS\n"
              "deploy  target, branch?  demo, ops\n"
              "fail    -                -\n");
    EXPECT_EQ(tools_table(json::View("[]"), {}), "no tools\n");
}

TEST(Pending, Result_SaysHowToSettleIt) {
    EXPECT_EQ(how_to_settle(json::View(waiting_call), now, " --data d", {}),
              "sleeps: deploy {\"target\":\"A\"} waits for its result, deadline in 1 h\n"
              "  dormouse result pnd_1 'TEXT' --data d\n"
              "  dormouse error pnd_1 'WHAT WENT WRONG' --data d\n"
              "  dormouse cancel pnd_1 --data d\n");
}

TEST(Pending, Approval_SaysHowToSettleIt) {
    auto const call = R"({"id":"pnd_2","tool":"dangerous","input":{"action":"X"},)"
                      R"("reason":"approval","timeout":null,)"
                      R"("message":"Really?"})";
    auto const text = how_to_settle(json::View(call), now, "", {});
    EXPECT_NE(text.find("waits for approval\n  asks: Really?\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  dormouse approve pnd_2\n  dormouse deny pnd_2 --reason 'WHY'\n"),
              std::string::npos)
        << text;
}

TEST(Pending, Settled_ShowsWhoAndWhichStepUsedIt) {
    auto const call =
        R"({"id":"pnd_1","status":"completed","tool":"deploy","input":{},"time":{"created":1},)"
        R"("receipt":{"digest":"sha256:1","at":1795290000000,"by":{"type":"token","name":"ann"},)"
        R"("consumed":{"turnID":"trn_1","step":2}}})";
    auto const text = pending_text(json::View(call), now, {});
    EXPECT_NE(text.find("by token ann, sha256:1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("used      by trn_1, step 2\n"), std::string::npos) << text;
}

TEST(Sessions, List_ShowsWhatEachOneDoes) {
    auto const items =
        R"([{"id":"ses_1","agentID":"demo","status":"active","title":null,"alias":"ops",)"
        R"("activity":{"type":"waiting_async","tool":"deploy","pendingIDs":["pnd_1","pnd_2"]},)"
        R"("time":{"updated":1795289997000}}])";
    auto const text = sessions_table(json::View(items), now, {});
    EXPECT_NE(text.find("ses_1    demo   active  waits for deploy and 1 more  3 s ago  ops\n"),
              std::string::npos)
        << text;
}

TEST(Sessions, FailedTurn_IsShownInListAndSession) {
    std::string const one =
        R"({"id":"ses_1","agentID":"demo","status":"active","title":null,"alias":null,)"
        R"("activity":{"type":"idle"},"lastTurn":{"id":"trn_1","failed":true,)"
        R"("error":{"code":"model_failed","message":"no\nkey"}},"error":null,)"
        R"("time":{"updated":1795289997000,"created":1795289997000}})";
    std::string const list = "[" + one + "]";
    EXPECT_NE(sessions_table(json::View(list), now, {}).find("active  failed    3 s ago"),
              std::string::npos);
    EXPECT_NE(session_text(json::View(one), now, {})
                  .find("failed    no\n          key (model_failed)\n"
                        "          try again: dormouse retry ses_1\n"),
              std::string::npos);
}

TEST(Messages, LongOutput_ShowsWhereToReadAllOfIt) {
    json::View const cut(
        R"({"truncated":true,"head":"one\ntwo","tail":"z","bytes":9,"artifactID":"art_1"})");
    EXPECT_EQ(output_words(cut), "one\ntwo (9 bytes; all of it: dormouse artifact art_1)");
    EXPECT_EQ(output_words(json::View(R"({"truncated":true})")), R"({"truncated":true})");
    EXPECT_EQ(output_words(json::View(R"("live")")), "live");
}

TEST(Messages, List_ShowsTextAndTools) {
    auto const message = R"({"role":"assistant","time":{"created":0},"parts":[)"
                         R"({"type":"text","text":"On it.\nNow."},)"
                         R"({"type":"tool","tool":"deploy","state":{"status":"completed",)"
                         R"("input":{"target":"A"},"output":"live"}}]})";
    auto const text = message_text(json::View(message), {});
    EXPECT_NE(text.find("  On it.\nNow.\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  deploy {\"target\":\"A\"}  completed: live\n"), std::string::npos)
        << text;
}

TEST(Submissions, Receipt_SaysAppliedOrDuplicate) {
    auto const applied = R"({"outcome":"applied","receipt":{"id":"rcp_1","kind":"result",)"
                         R"("status":"completed","digest":"sha256:1"}})";
    EXPECT_EQ(submission_text(json::View(applied)),
              "applied\n  result, completed, sha256:1, receipt rcp_1\n");
    auto const by_webhook =
        R"({"outcome":"applied","receipt":{"status":"completed","digest":"d"}})";
    EXPECT_EQ(submission_text(json::View(by_webhook)), "applied\n  completed, d\n");
    auto const again = R"({"outcome":"duplicate","duplicate":true,"receipt":null})";
    EXPECT_EQ(submission_text(json::View(again)).substr(0, 10), "duplicate:");
}

TEST(Doctor, StuckSessions_AreNamed) {
    auto const text = doctor_text(json::View(R"({"ok":false,"stuck":[{"sessionID":"ses_1",)"
                                             R"("why":"lost","next":"repair"}],)"
                                             R"("blocked":[{"sessionID":"ses_2","why":"a gate",)"
                                             R"("next":"bring it"}]})"),
                                  now, {});
    EXPECT_EQ(text,
              "1 stuck\n  ses_1: lost\n    next: repair\n"
              "1 blocked\n  ses_2: a gate\n    next: bring it\n");
}

TEST(Doctor, MemoryClockAndQueues_AreOnLines) {
    auto const next = std::to_string(to_ms(now) + 300'000);
    auto const report =
        R"({"ok":true,"stuck":[],"blocked":[],"nodes":[{"resident":1,"clockGuarded":true}],)"
        R"("queues":{"outstanding":2,"nextWakeAt":)" +
        next + R"(,"models":[{"model":"main","running":1,"waiting":7}]}})";
    EXPECT_EQ(doctor_text(json::View(report), now, {}),
              "ok: no session is stuck\n"
              "node      1 session in memory; the clock jumped ahead, so deadlines wait for a "
              "minute\n"
              "at work   2 sessions; the next one wakes in 5 min\n"
              "model     main: 1 request on the way, 7 waiting\n");
}

TEST(Doctor, Database_SaysWhatItGuarantees) {
    auto const text = [](std::string const& database) {
        return doctor_text(json::View(R"({"ok":true,"database":)" + database + "}"), now, {});
    };
    EXPECT_EQ(text("null"), "ok: no session is stuck\n");
    EXPECT_EQ(text(R"({"version":"15.4","primary":true,"guarantee":"one disk","standbyCount":0})"),
              "ok: no session is stuck\n"
              "database  PostgreSQL 15.4, primary; no standby\n"
              "          one disk\n");
    EXPECT_EQ(text(R"({"version":"15.4","primary":true,"guarantee":"safe","standbyCount":2,)"
                   R"("standbys":[{"name":"pg2","sync":"sync","state":"streaming",)"
                   R"("behindBytes":1},{"name":"pg3","sync":"async","state":"catchup",)"
                   R"("behindBytes":null}]})"),
              "ok: no session is stuck\n"
              "database  PostgreSQL 15.4, primary; 2 standbys\n"
              "          pg2: sync, streaming, 1 byte behind\n"
              "          pg3: async, catchup, how far behind is unknown\n"
              "          safe\n");
    EXPECT_EQ(text(R"({"version":"15.4","primary":true,"guarantee":"safe","standbyCount":1,)"
                   R"("standbysHidden":"grant it"})"),
              "ok: no session is stuck\n"
              "database  PostgreSQL 15.4, primary; 1 standby\n"
              "          standbys are not shown: grant it\n"
              "          safe\n");
}

TEST(Doctor, SessionsOfGoneServers_AreNamed) {
    auto const text = [](std::string const& report) {
        return doctor_text(json::View(report), now, {});
    };
    EXPECT_EQ(text(R"({"ok":true,"ofGoneServers":{"count":0,"sessions":[]}})"),
              "ok: no session is stuck\n");
    EXPECT_EQ(text(R"({"ok":true,"ofGoneServers":{"count":3,"sessions":["ses_1","ses_2"]}})"),
              "ok: no session is stuck\n"
              "gone      3 sessions at work on servers that are gone; the others take over within "
              "seconds: ses_1 ses_2 ...\n");
    auto const held =
        text(R"({"ok":true,"held":true,"ofGoneServers":{"count":1,"sessions":["ses_1"]}})");
    EXPECT_NE(held.find("they continue after dormouse release: ses_1\n"), std::string::npos);
}

TEST(Doctor, Traces_SayWhetherTheCollectorTakesThem) {
    auto const text = [](std::string const& traces) {
        return doctor_text(json::View(R"({"ok":true,"traces":)" + traces + "}"), now, {});
    };
    EXPECT_EQ(text("null"), "ok: no session is stuck\n");
    EXPECT_EQ(text(R"({"endpoint":"http://c/v1/traces","ok":true,"exported":7,"dropped":0})"),
              "ok: no session is stuck\ntraces    http://c/v1/traces: ok; 0 spans dropped\n");
    EXPECT_EQ(text(R"({"endpoint":"http://c/v1/traces","ok":true,"exported":0,"dropped":0})"),
              "ok: no session is stuck\n"
              "traces    http://c/v1/traces: nothing was sent yet; 0 spans dropped\n");
    EXPECT_EQ(text(R"({"endpoint":"http://c/v1/traces","ok":false,"why":"refused","dropped":1})"),
              "ok: no session is stuck\ntraces    http://c/v1/traces: refused; 1 span dropped\n");
}

TEST(Doctor, Copy_SaysHowOldItsNewestStateIs) {
    auto const text = [](std::string const& copy) {
        return doctor_text(json::View(R"({"ok":true,"copy":)" + copy + "}"), now, {});
    };
    EXPECT_EQ(text("null"), "ok: no session is stuck\n");
    EXPECT_EQ(text(R"({"target":"s3://b/x","ok":false,"why":"refused","copiedAt":null})"),
              "ok: no session is stuck\ncopy      s3://b/x: refused; its newest state is not "
              "complete yet\n");
}

TEST(Explain, EachCall_ShowsHowItEnded) {
    auto const text = explain_text(
        json::View(R"({"session":{"id":"ses_1"},"calls":[{"attempts":1,"pending":{"id":"pnd_1",)"
                   R"("status":"waiting","time":{"created":1}}}]})"),
        now, {});
    EXPECT_NE(text.find("\npnd_1  waiting\n"), std::string::npos) << text;
    EXPECT_NE(text.find("attempts  1\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace dormouse::cli
