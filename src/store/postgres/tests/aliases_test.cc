// Aliases in a redaction (aliases_9.cc).
#include "store/postgres/testing/test_store.h"

#include <cstdint>
#include <string>
#include <thread>

namespace dormouse::store::postgres {
namespace {

using port::Append;

class AliasesTest : public SharedStores {
protected:
    static Append named(std::uint64_t number, std::string const& alias) {
        auto out = create(number, "acme");
        out.row->alias = alias;
        out.claims_alias = true;
        return out;
    }
    static Append renamed(Append const& first, Seq after, std::string const& alias) {
        auto out = append(first.session.number(), after);
        out.row = first.row;
        out.row->alias = alias;
        out.claims_alias = !alias.empty();
        return out;
    }
    // Removes the alias and all former ones.
    static Append redaction(Append const& first, Seq after) {
        auto out = renamed(first, after, "");
        out.rewrite.emplace();
        out.rewrite->frames.push_back({first.frame.first, first.frame.count, "[]"});
        return out;
    }
    [[nodiscard]] std::string rows() const {
        auto connection = in_schema();
        auto const found = connection.run(
            Call{"SELECT coalesce(string_agg(alias || ' ' || no, ', ' ORDER BY alias), '')"
                 " FROM aliases"},
            std::chrono::seconds(5));
        return found ? std::string(found->text(0, 0)) : found.error().error.detail;
    }
};

TEST_F(AliasesTest, RedactedSession_LeavesNoAlias) {
    auto const first = named(1, "secret-1");
    write(*a_, first);
    write(*a_, renamed(first, 1, "secret-2"));
    write(*a_, named(2, "ops"));
    EXPECT_EQ(rows(), "ops 2, secret-1 1, secret-2 1");
    write(*b_, redaction(first, 2));
    EXPECT_EQ(rows(), "ops 2");
    write(*a_, named(3, "secret-2"));
    EXPECT_EQ(rows(), "ops 2, secret-2 3");
}

TEST_F(AliasesTest, DeletedSession_LeavesNoAlias) {
    auto const first = named(1, "secret-1");
    write(*a_, first);
    write(*a_, renamed(first, 1, "secret-2"));
    write(*a_, named(2, "ops"));
    auto last = renamed(first, 2, "secret-2");
    last.claims_alias = false;
    last.row->status = "deleted";
    last.erase = true;
    write(*b_, last);
    EXPECT_EQ(rows(), "ops 2");
    write(*a_, named(3, "secret-2"));
    EXPECT_EQ(rows(), "ops 2, secret-2 3");
}

// A claim that is refused has the row while the session is deleted.
TEST_F(AliasesTest, DeletedDuringAClaim_LeavesNoAlias) {
    constexpr auto wait = std::chrono::seconds(5);
    auto const first = named(1, "secret");
    write(*a_, first);
    auto claim = in_schema();
    ASSERT_TRUE(claim.script("BEGIN", wait));
    ASSERT_TRUE(claim.script("SELECT FROM aliases FOR UPDATE", wait));
    auto last = renamed(first, 1, "secret");
    last.claims_alias = false;
    last.row->status = "deleted";
    last.erase = true;
    {
        std::jthread const deletion([&] { write(*b_, last); });
        auto reader = in_schema();
        auto const is_deleted = [&] {
            auto const rows =
                reader.run(Call{"SELECT count(*) FROM sessions WHERE status = 'deleted'"}, wait);
            return rows && rows->integer(0, 0) == 1;
        };
        while (!is_deleted()) std::this_thread::yield();
        ASSERT_TRUE(claim.script("ROLLBACK", wait));
    }
    EXPECT_EQ(rows(), "");
}

TEST_F(AliasesTest, FormerAliasThatAnotherSessionHas_Stays) {
    auto const first = named(1, "ops");
    write(*a_, first);
    write(*a_, renamed(first, 1, "other"));
    write(*a_, named(2, "ops"));
    write(*a_, redaction(first, 2));
    EXPECT_EQ(rows(), "ops 2");
}

TEST_F(AliasesTest, RedactionOfAnotherContent_KeepsTheAlias) {
    auto const first = named(1, "ops");
    write(*a_, first);
    auto redact = append(1, 1);
    redact.rewrite.emplace();
    redact.rewrite->frames.push_back({1, 1, "[]"});
    write(*a_, redact);
    EXPECT_EQ(rows(), "ops 1");
}

// While the row is removed, two sessions ask for the alias.
TEST_F(AliasesTest, RacingClaims_ExactlyOneHoldsIt) {
    auto const c = open_store(url_);
    for (std::uint64_t round = 0; round < 30; ++round) {
        auto const first = named(3 * round + 1, "ops");
        write(*a_, first);
        auto const redact = redaction(first, 1);
        auto const one = named(3 * round + 2, "ops"), other = named(3 * round + 3, "ops");
        port::AppendResult took_one, took_other;
        {
            std::jthread const b([&] { took_one = b_->commit({&one, 1})[0]; });
            std::jthread const d([&] { took_other = c->commit({&other, 1})[0]; });
            write(*a_, redact);
        }
        EXPECT_FALSE(took_one && took_other);
        EXPECT_LE(a_->aliases("acme", "ops", 9).value().size(), 1U);
        if (took_one) write(*a_, redaction(one, 1));
        if (took_other) write(*a_, redaction(other, 1));
    }
    EXPECT_EQ(rows(), "");
}

}  // namespace
}  // namespace dormouse::store::postgres
