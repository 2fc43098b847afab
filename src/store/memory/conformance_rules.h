#pragma once
// Conformance: standing rules. Included by conformance.h.

#include "store/memory/conformance_tokens.h"

#include <array>

namespace dormouse::store {

inline port::RuleRow rule(std::string id, std::optional<SessionId> session = {}) {
    return {.id = std::move(id), .body = R"({"tool":"déploy"})", .session = session};
}

TEST_P(StoreConformance, Rules_AreMadeAndCountedByAppends) {
    auto first = create(1, "acme");
    first.rules = {rule("rul_b"), rule("rul_a", first.session)};
    commit_one(first);
    auto second = append(1, 1);
    second.rule_uses = {{"rul_b", at(5)}, {"rul_b", at(6)}, {"rul_none", at(6)}};
    commit_one(second);
    reopen();
    auto used = rule("rul_b");
    used.uses = 2;
    used.used = at(6);
    EXPECT_EQ(store().rules().value(), (std::vector{rule("rul_a", first.session), used}));
}

TEST_P(StoreConformance, RefusedAppend_MakesAndCountsNoRule) {
    auto first = create(1, "acme");
    first.rules = {rule("rul_a")};
    commit_one(first);
    auto late = append(1, 7);
    late.rules = {rule("rul_b")};
    late.rule_uses = {{"rul_a", at(5)}};
    EXPECT_TRUE(moved(store().commit(std::array{late}).front()));
    EXPECT_EQ(store().rules().value(), std::vector{rule("rul_a")});
}

TEST_P(StoreConformance, Rule_IsDroppedOnceWithItsLine) {
    auto first = create(1, "acme");
    first.rules = {rule("rul_a")};
    commit_one(first);
    ASSERT_TRUE(store().drop_rule({"rul_a", "revoked"}));
    EXPECT_EQ(code(store().drop_rule({"rul_a", "again"})), Code::conflict);
    reopen();
    EXPECT_TRUE(store().rules().value().empty());
    EXPECT_EQ(audited(store()), "revoked");
}

TEST_P(StoreConformance, DeletedSession_TakesItsOwnRulesOnly) {
    auto first = create(1, "acme");
    first.rules = {rule("rul_a", first.session), rule("rul_b")};
    commit_one(first);
    auto second = create(2, "acme");
    second.rules = {rule("rul_c", second.session)};
    commit_one(second);
    auto last = append(1, 1);
    last.erase = true;
    commit_one(last);
    reopen();
    EXPECT_EQ(store().rules().value(), (std::vector{rule("rul_b"), rule("rul_c", second.session)}));
}

}  // namespace dormouse::store
