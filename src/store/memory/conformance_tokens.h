#pragma once
// Who may call, and the audit.

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

// The lines in order; "damaged" once one is not chained to the one before.
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

TEST_P(StoreConformance, tokens_are_kept_as_they_were_put_and_come_back_by_id) {
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

TEST_P(StoreConformance, a_token_is_dropped_once_and_what_rides_with_it_stands_or_falls_with_it) {
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

TEST_P(StoreConformance, the_audit_is_a_chain_of_what_was_taken_and_of_nothing_else) {
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

TEST_P(StoreConformance, an_append_that_is_undone_takes_its_lines_with_it) {
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

TEST_P(StoreConformance, the_beginning_of_the_audit_goes_and_its_chain_goes_on) {
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

TEST_P(StoreConformance, a_deleted_session_leaves_its_lines_in_the_audit) {
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
