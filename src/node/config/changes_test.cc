#include "config/changes.h"

#include <gtest/gtest.h>

namespace dormouse::config {

namespace {

std::vector<std::string> texts(Config const& was, Config const& is, Applies applies) {
    std::vector<std::string> out;
    for (Change const& one : changes(was, is))
        if (one.applies == applies) out.push_back(text(one));
    return out;
}
std::vector<std::string> applied(Config const& was, Config const& is) {
    return texts(was, is, Applies::reload);
}
std::vector<std::string> at_restart(Config const& was, Config const& is) {
    return texts(was, is, Applies::restart);
}
using Texts = std::vector<std::string>;

Config some() {
    Config out;
    out.models.push_back({.id = "main", .api_key = Secret{"KEY", "one"}});
    out.agents.push_back({.id = "ops", .model = "main", .tools = {"lint"}});
    out.tools.push_back({.name = "lint", .line = 7});
    out.gates.push_back({.id = "careful", .tools = {"lint"}, .ask = "Lint?"});
    return out;
}

}  // namespace

TEST(ConfigChanges, SameConfig_HasNone) { EXPECT_TRUE(changes(some(), some()).empty()); }

TEST(ConfigChanges, MovedLine_IsNoChange) {
    Config next = some();
    next.tools[0].line = 99;
    next.gates[0].line = 3;
    EXPECT_TRUE(changes(some(), next).empty());
}

TEST(ConfigChanges, Elements_AreAddedRemovedAndChanged) {
    Config next = some();
    next.agents[0].instructions = "Be brief.";
    next.agents[0].step_limit = 3;
    next.agents.push_back({.id = "more", .model = "main"});
    next.tools.clear();
    next.gates[0].need = 2;
    EXPECT_EQ(applied(some(), next), (Texts{"[[agent]] ops: instructions",
                                            "[[agent]] ops: step_limit", "[[agent]] more (added)",
                                            "[[tool]] lint (removed)", "[[gate]] careful: need"}));
    EXPECT_EQ(at_restart(some(), next), Texts{});
}

TEST(ConfigChanges, Order_IsNoChange) {
    Config was = some(), next = some();
    was.tools.push_back({.name = "other"});
    next.tools.insert(next.tools.begin(), {.name = "other"});
    EXPECT_TRUE(changes(was, next).empty());
}

TEST(ConfigChanges, NewSecretOfTheSameVariable_IsAChange) {
    Config next = some();
    next.models[0].api_key->value = "two";
    EXPECT_EQ(applied(some(), next), Texts{"[[model]] main: api_key_env"});
}

// `on_expiry` is read by the section, not by a row.
TEST(ConfigChanges, ValueWithoutARow_NamesTheElement) {
    Config next = some();
    next.gates[0].on_expiry = OnExpiry::tell;
    EXPECT_EQ(applied(some(), next), Texts{"[[gate]] careful"});
}

TEST(ConfigChanges, WhatNeedsARestart_IsNamedByKey) {
    Config next = some();
    next.server.listen = "127.0.0.1:1";
    next.server.demo = true;
    next.store.url = "memory";
    next.limits.heartbeat = Duration(1'000);
    next.limits.waiting_calls = 2;
    next.oidc.issuer = "https://id.example";
    EXPECT_EQ(at_restart(some(), next), (Texts{"[server] listen", "[store] url", "[oidc] issuer"}));
    EXPECT_EQ(applied(some(), next),
              (Texts{"[server] demo", "[limits] heartbeat", "[limits] waiting_calls"}));
}

TEST(ConfigChanges, TelemetryAndBackupNeedARestart_OthersDoNot) {
    Config const was = some();
    Config next = some();
    next.telemetry.endpoint = "http://127.0.0.1:4318";
    next.backup.to = "/copies";
    next.archive.to = "/archive";
    next.budgets.push_back({.per = session::BudgetPer::agent_day, .tokens = 1'000});
    EXPECT_EQ(at_restart(was, next), (Texts{"[telemetry] endpoint", "[backup] to"}));
    EXPECT_EQ(applied(was, next), (Texts{"[archive] to", "[[budget]] agent_day (added)"}));
    Config const made = applicable(was, next);
    EXPECT_EQ(made.telemetry, was.telemetry);
    EXPECT_EQ(made.backup, was.backup);
    EXPECT_EQ(made.budgets, next.budgets);
}

TEST(ConfigChanges, Applicable_KeepsWhatNeedsARestart) {
    Config const was = some();
    Config next = some();
    next.server.listen = "127.0.0.1:1";
    next.store.url = "memory";
    next.limits.waiting_calls = 2;
    next.email.server = "mail.example:25";
    next.tools.clear();
    Config const made = applicable(was, next);
    EXPECT_EQ(at_restart(was, made), Texts{});
    EXPECT_EQ(made.server, was.server);
    EXPECT_EQ(made.store, was.store);
    EXPECT_EQ(made.email, was.email);
    EXPECT_EQ(applied(was, made), (Texts{"[limits] waiting_calls", "[[tool]] lint (removed)"}));
    EXPECT_EQ(at_restart(made, next), at_restart(was, next)) << "they are named again";
}

// A key that needs a restart can be kept: it has a member, or its whole section is kept.
TEST(ConfigChanges, KeysThatNeedARestart_CanBeKept) {
    for (Key const& key : keys()) {
        if (key.applies == Applies::reload || key.copy || key.section.empty()) continue;
        for (Key const* const other : keys_of(key.section))
            EXPECT_EQ(other->applies, Applies::restart) << key.section << "." << key.name;
    }
    EXPECT_EQ(find_key("server", "listen")->applies, Applies::restart);
    EXPECT_EQ(find_key("model", "api_key_env")->applies, Applies::reload);
}

TEST(ConfigChanges, ElementsWithoutAName_AreCompared) {
    Config was, next;
    was.webhooks = {{.url = "https://a.example"}, {.url = "https://b.example"}};
    next.webhooks = {{.url = "https://b.example", .events = {"turn_ended"}}};
    was.notifies = {{.kind = NotifyKind::slack, .channel = "1"},
                    {.kind = NotifyKind::slack, .channel = "2"}};
    next.notifies = {{.kind = NotifyKind::slack, .channel = "1"},
                     {.kind = NotifyKind::slack, .channel = "3"}};
    EXPECT_EQ(applied(was, next),
              (Texts{"[[webhook]] https://b.example: events",
                     "[[webhook]] https://a.example (removed)", "[[notify]] slack: channel"}));
    Config const made = applicable(was, next);
    EXPECT_EQ(made.webhooks, next.webhooks);
    EXPECT_EQ(made.notifies, next.notifies);
}

// Without what a start makes for them they would give their messages up.
TEST(ConfigChanges, FirstEmailAndWebPush_NeedARestart_LaterOnesDoNot) {
    Config was, next;
    next.email.server = "mail.example:25";
    next.notifies = {{.kind = NotifyKind::email},
                     {.kind = NotifyKind::web_push},
                     {.kind = NotifyKind::command, .command = {"say"}}};
    EXPECT_EQ(at_restart(was, next),
              (Texts{"[email] server", "[[notify]] email (added)", "[[notify]] web-push (added)"}));
    EXPECT_EQ(applied(was, next), Texts{"[[notify]] command (added)"});
    Config const made = applicable(was, next);
    EXPECT_EQ(made.notifies, std::vector{next.notifies[2]});
    EXPECT_EQ(at_restart(made, next), at_restart(was, next)) << "they are named again";
    was = next;
    next.notifies.push_back({.kind = NotifyKind::email, .to = {"ann"}});
    EXPECT_EQ(applied(was, next), Texts{"[[notify]] email (added)"});
    EXPECT_EQ(applicable(was, next).notifies, next.notifies);
}

}  // namespace dormouse::config
