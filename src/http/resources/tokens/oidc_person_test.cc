#include "http/resources/tokens/oidc_person.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

OidcRules const rules{.groups_claim = "groups",
                      .name_claim = "preferred_username",
                      .roles = {{"readers", Role::read, {}},
                                {"a", Role::operate, {"a", "c"}},
                                {"b", Role::operate, {"b", "c"}},
                                {"every", Role::operate, {}},
                                {"admins", Role::admin, {"x"}}}};

People some_people() {
    People out;
    out.persons = {{.name = "alice", .role = Role::admin, .subject = "sub-a"},
                   {.name = "bob", .role = Role::read, .projects = {"p"}, .email = "Bob@x.org"},
                   {.name = "eve", .email = "eve@x.org", .subject = "sub-e"}};
    return out;
}

std::expected<Admitted, std::string> admitted(std::string const& claims,
                                              OidcRules const& by = rules,
                                              std::string const& subject = "sub-x") {
    return admit({subject, Json::trusted(claims)}, by, some_people());
}

std::string as(std::string const& name, std::string const& groups) {
    return R"({"preferred_username":")" + name + R"(","groups":)" + groups + "}";
}

TEST(OidcPerson, HighestRole_InTheProjectsOfItsGroups) {
    auto const got = [](std::string const& groups) {
        auto const one = admitted(as("tom", groups));
        EXPECT_TRUE(one) << groups;
        std::string out = one ? std::string(text(one->role)) : "nobody";
        if (one)
            for (std::string const& project : one->projects) out += " " + project;
        return out;
    };
    EXPECT_EQ(got(R"(["readers"])"), "read");
    EXPECT_EQ(got(R"("readers")"), "read");
    EXPECT_EQ(got(R"(["a","readers"])"), "operate a c");
    EXPECT_EQ(got(R"(["b","a"])"), "operate a c b");
    EXPECT_EQ(got(R"(["a","every"])"), "operate");
    EXPECT_EQ(got(R"(["every","b"])"), "operate");
    EXPECT_EQ(got(R"(["every","admins","x"])"), "admin x");
}

TEST(OidcPerson, WithoutAGroupOfTheList_NobodyIsAdmitted) {
    for (std::string const groups :
         {"[]", "null", "7", "{}", R"([["readers"]])", R"(["Readers"])", R"({"readers":true})",
          R"(["readers "])", "\"\"", R"("readers,a")"})
        EXPECT_FALSE(admitted(as("tom", groups))) << groups;
    EXPECT_FALSE(admitted("{}"));
    EXPECT_EQ(admitted(as("tom", R"(["u","v"])")).error(),
              "None of your groups may use this server: u, v. Ask the administrator to add one of "
              "them to roles in [oidc].");
}

TEST(OidcPerson, ManyGroups_AreShownInPart) {
    std::string list;
    for (int n = 0; n < 1'000; ++n)
        list += (n == 0 ? "\"" : ",\"") + std::to_string(n) + std::string(1'000, 'g') + "\"";
    EXPECT_LT(admitted(as("tom", "[" + list + "]")).error().size(), 1'000U);
}

TEST(OidcPerson, Claims_MayBePointers) {
    OidcRules nested = rules;
    nested.groups_claim = "/realm/roles";
    nested.name_claim = "/who/0";
    auto const one = admitted(R"({"realm":{"roles":["a"]},"who":["tom"]})", nested);
    ASSERT_TRUE(one);
    EXPECT_EQ(one->name, "tom");
    EXPECT_EQ(one->role, Role::operate);
}

TEST(OidcPerson, Name_MustBeOneOfATokenAndFree) {
    for (std::string const name : {"", "a b", "a/b", "ä", "<b>"})
        EXPECT_FALSE(admitted(as(name, R"(["readers"])"))) << name;
    EXPECT_FALSE(admitted(as(std::string(65, 'x'), R"(["readers"])")));
    EXPECT_FALSE(admitted(R"({"groups":["readers"]})"));
    EXPECT_FALSE(admitted(R"({"groups":["readers"],"preferred_username":7})"));
    for (std::string const taken : {"alice", "ALICE", "bob", "eve", "first", "env", "Env"})
        EXPECT_NE(admitted(as(taken, R"(["readers"])")).error().find("somebody else"),
                  std::string::npos)
            << taken;
    EXPECT_TRUE(admitted(as("tom@x.org", R"(["readers"])")));
}

TEST(OidcPerson, User_IsKnownBySubjectOrVerifiedAddress) {
    auto const alice = admitted(as("other", R"(["readers"])"), rules, "sub-a");
    ASSERT_TRUE(alice);
    EXPECT_EQ(alice->name, "alice");
    EXPECT_EQ(alice->role, Role::admin);
    auto const bob = admitted(R"({"email":"bob@X.org","email_verified":true})");
    ASSERT_TRUE(bob);
    EXPECT_EQ(bob->name, "bob");
    EXPECT_EQ(bob->role, Role::read);
    EXPECT_EQ(bob->projects, std::vector<std::string>{"p"});
}

TEST(OidcPerson, AddressThatIsNotVerified_DoesNotCount) {
    for (std::string const verified : {"false", "\"true\"", "null", "1", "[true]"})
        EXPECT_FALSE(admitted(R"({"email":"bob@x.org","email_verified":)" + verified + "}"))
            << verified;
    EXPECT_FALSE(admitted(R"({"email":"bob@x.org"})"));
    EXPECT_FALSE(admitted(R"({"email":"","email_verified":true})"));
    EXPECT_FALSE(admitted(R"({"email":"eve@x.org","email_verified":true})"))
        << "her entry names another subject";
}

}  // namespace
}  // namespace dormouse::http
