#pragma once
// Conformance: tokens and the audit. Included by conformance.h.

#include "store/memory/conformance_fixture.h"

namespace dormouse::store {

inline port::TokenRow token(std::string id) {
    port::TokenRow row{.id = std::move(id), .kind = "token", .name = "alice", .role = "answer"};
    row.projects = {"acme", "other"};
    row.agents = {"ops"};
    row.secret = sha256("secret of " + row.id);
    row.created = at(1);
    row.expires = at(2);
    return row;
}

// Returns the lines in order; "damaged" for a line that is not chained to the one before.
inline std::string audited(port::Store& store) {
    std::string out;
    port::AuditRow last;
    auto const rows = store.audit(0, 1'000).value();
    for (auto const& row : rows) {
        bool const chained =
            row.n == last.n + 1 && row.hash == port::chained(last.hash, row.n, row.line);
        out += (out.empty() ? "" : " ") + (chained ? row.line : "damaged");
        last = row;
    }
    return out;
}

TEST_P(StoreConformance, Tokens_AreStoredUnchangedAndListedById) {
    auto second = token("tok_b");
    second.expires.reset();
    second.projects.clear();
    second.agents.clear();
    ASSERT_TRUE(store().change_tokens({.put = second}));
    ASSERT_TRUE(store().change_tokens({.put = token("tok_a")}));
    reopen();
    EXPECT_EQ(store().tokens().value(), (std::vector{token("tok_a"), second}));
    auto changed = token("tok_a");
    changed.name = "bob";
    ASSERT_TRUE(store().change_tokens({.put = changed}));
    EXPECT_EQ(store().tokens().value().front(), changed);
}

TEST_P(StoreConformance, Token_IsDroppedOnceTogetherWithItsChange) {
    ASSERT_TRUE(store().change_tokens({.put = token("tok_a"), .audit = "made"}));
    ASSERT_TRUE(store().change_tokens({.put = token("tok_b"), .drop = "tok_a", .audit = "spent"}));
    EXPECT_EQ(code(store().change_tokens({.put = token("tok_c"), .drop = "tok_a", .audit = "no"})),
              Code::conflict);
    EXPECT_EQ(store().tokens().value(), std::vector{token("tok_b")});
    EXPECT_EQ(audited(store()), "made spent");
    reopen();
    EXPECT_EQ(store().tokens().value(), std::vector{token("tok_b")});
    EXPECT_EQ(audited(store()), "made spent");
}

inline port::DeviceRow device(std::string id, std::string token, std::string endpoint) {
    return {.id = std::move(id),
            .token = std::move(token),
            .person = "alice",
            .role = "answer",
            .label = "Firefox on Android",
            .endpoint = std::move(endpoint),
            .p256dh = "BP4z",
            .auth = "BTBZ",
            .created = at(3)};
}

TEST_P(StoreConformance, Devices_AreStoredUnchangedAndOneForEachEndpoint) {
    ASSERT_TRUE(store().change_tokens({.put = token("tok_a")}));
    auto const one = device("dev_a", "tok_a", "https://push/1");
    auto const two = device("dev_b", "tok_a", "https://push/2");
    ASSERT_TRUE(store().change_devices({.put = two, .audit = "two"}));
    ASSERT_TRUE(store().change_devices({.put = one, .audit = "one"}));
    reopen();
    EXPECT_EQ(store().devices().value(), (std::vector{one, two}));
    auto const again = device("dev_c", "tok_a", "https://push/1");
    ASSERT_TRUE(store().change_devices({.put = again}));
    EXPECT_EQ(store().devices().value(), (std::vector{two, again}));
    ASSERT_TRUE(store().change_devices({.drop = "dev_b", .audit = "gone"}));
    EXPECT_EQ(code(store().change_devices({.drop = "dev_b", .audit = "no"})), Code::conflict);
    reopen();
    EXPECT_EQ(store().devices().value(), std::vector{again});
    EXPECT_EQ(audited(store()), "two one gone");
}

TEST_P(StoreConformance, Devices_EndWithTheirToken) {
    ASSERT_TRUE(store().change_tokens({.put = token("tok_a")}));
    ASSERT_TRUE(store().change_tokens({.put = token("tok_b")}));
    ASSERT_TRUE(store().change_devices({.put = device("dev_a", "tok_a", "https://push/1")}));
    auto const other = device("dev_b", "tok_b", "https://push/2");
    ASSERT_TRUE(store().change_devices({.put = other}));
    ASSERT_TRUE(store().change_tokens({.drop = "tok_a"}));
    reopen();
    EXPECT_EQ(store().devices().value(), std::vector{other});
    EXPECT_EQ(code(store().change_devices({.put = device("dev_c", "tok_a", "https://push/3")})),
              Code::conflict);
    EXPECT_EQ(store().devices().value(), std::vector{other});
}

TEST_P(StoreConformance, Audit_IsAChainOfAcceptedLinesOnly) {
    auto first = create(1, "acme");
    first.audit = {"1a", "1b"};
    commit_one(first);
    auto late = append(1, 7);
    late.audit = {"late"};
    auto good = append(1, 1);
    good.audit = {"2"};
    std::vector<port::Append> const both{late, good};
    auto const results = store().commit(both);
    EXPECT_FALSE(results.at(0));
    EXPECT_TRUE(results.at(1));
    reopen();
    ASSERT_TRUE(store().change_tokens({.audit = "3"}));
    EXPECT_EQ(audited(store()), "1a 1b 2 3");
    EXPECT_EQ(store().audit(1, 2).value().front().line, "1b");
    EXPECT_EQ(store().audit(1, 2).value().size(), 2u);
}

TEST_P(StoreConformance, Audit_UndoneAppend_LeavesNoLines) {
    auto first = create(1, "acme");
    first.keys = {{"k", 1}};
    first.audit = {"1"};
    commit_one(first);
    auto taken = append(1, 1);
    taken.keys = {{"k", 2}};
    taken.audit = {"undone"};
    auto other = create(2, "acme");
    other.audit = {"2"};
    std::vector<port::Append> const both{taken, other};
    auto const results = store().commit(both);
    EXPECT_FALSE(results.at(0));
    EXPECT_TRUE(results.at(1));
    EXPECT_EQ(audited(store()), "1 2");
}

TEST_P(StoreConformance, Audit_Trimmed_ChainContinues) {
    for (char const* const line : {"1", "2", "3"})
        ASSERT_TRUE(store().change_tokens({.audit = line}));
    auto const before = store().audit(0, 10).value();
    ASSERT_TRUE(store().trim_audit(2, "trimmed"));
    reopen();
    ASSERT_TRUE(store().change_tokens({.audit = "5"}));
    auto const rows = store().audit(0, 10).value();
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].n, 3U);
    EXPECT_EQ(rows[0].line, "3");
    EXPECT_EQ(rows[0].hash, before[2].hash);
    EXPECT_EQ(rows[1].line, "trimmed");
    EXPECT_EQ(rows[1].hash, port::chained(rows[0].hash, 4, "trimmed"));
    EXPECT_EQ(rows[2].hash, port::chained(rows[1].hash, 5, "5"));
}

TEST_P(StoreConformance, Audit_DeletedSession_LinesStay) {
    auto first = create(1, "acme");
    first.audit = {"made"};
    commit_one(first);
    auto gone = append(1, 1);
    gone.erase = true;
    gone.audit = {"deleted"};
    commit_one(gone);
    EXPECT_EQ(audited(store()), "made deleted");
}

}  // namespace dormouse::store
