// [oidc] and the people who sign in with it.

#include "config/read.h"

#include "config/effective.h"
#include "config/test_world.h"

#include <gtest/gtest.h>

namespace dormouse::config {
namespace {

std::string const good = "[oidc]\nissuer = \"https://id.example.org/realm\"\nclient_id = \"me\"\n";
std::string const roles = "[oidc.roles]\napprovers = \"answer\"\n";

std::expected<Config, std::vector<Problem>> read_oidc(std::string const& text) {
    TestEnvironment const environment;
    return read_config("d.toml", text, environment.environment());
}

std::string refusal(std::string const& text) {
    auto const config = read_oidc(text);
    return config ? "" : config.error().front().text;
}

TEST(OidcConfig, Roles_AreWordsOrTables) {
    auto const config =
        read_oidc(good + "client_secret_env = \"KEY\"\nsession_length = \"1h\"\n" + roles +
                  "\"/team a\" = { role = \"operate\", projects = [\"a\", \"b\"] }\n");
    ASSERT_TRUE(config) << config.error().front().text;
    Oidc const& oidc = config->oidc;
    EXPECT_EQ(oidc.issuer, "https://id.example.org/realm");
    EXPECT_EQ(oidc.client_secret->value, "s3cr3t-value");
    EXPECT_EQ(oidc.session_length, Duration(3'600'000));
    std::vector<OidcRole> expected = {{"approvers", "answer", {}},
                                      {"/team a", "operate", {"a", "b"}}};
    std::ranges::sort(expected, {}, &OidcRole::group);
    auto got = oidc.roles;
    std::ranges::sort(got, {}, &OidcRole::group);
    EXPECT_EQ(got, expected);
}

TEST(OidcConfig, Effective_ShowsTheVariableAndNotItsValue) {
    auto const config = read_oidc(good + "client_secret_env = \"KEY\"\n" + roles);
    ASSERT_TRUE(config);
    std::string const text = effective_text(*config);
    EXPECT_NE(text.find("client_secret_env = \"KEY\""), std::string::npos) << text;
    EXPECT_NE(text.find("approvers: answer"), std::string::npos) << text;
    EXPECT_EQ(text.find("s3cr3t"), std::string::npos);
}

TEST(EffectiveConfig, Email_IsShownWithoutItsPassword) {
    TestEnvironment const environment;
    auto const config = read_config("d.toml",
                                    "[email]\nserver = \"127.0.0.1:25\"\nfrom = \"d@x.org\"\n"
                                    "user = \"me\"\npassword_env = \"KEY\"\n",
                                    environment.environment());
    ASSERT_TRUE(config) << config.error().front().text;
    ASSERT_FALSE(config->email.password->value.empty());
    std::string const text = effective_text(*config);
    EXPECT_NE(text.find("[email]\nserver = \"127.0.0.1:25\""), std::string::npos) << text;
    EXPECT_NE(text.find("password_env = \"KEY\""), std::string::npos) << text;
    EXPECT_EQ(text.find(config->email.password->value), std::string::npos);
}

TEST(OidcConfig, WrongRoles_AreRefused) {
    for (auto const& [line, why] :
         {std::pair{"x = \"boss\"", "whose role must be one of read, answer, operate, admin"},
          {"x = 7", "whose role must be"},
          {"x = {}", "which has no role"},
          {"x = { projects = [\"a\"] }", "which has no role"},
          {"x = { role = \"read\", project = \"a\" }", "must not have"},
          {"x = { role = \"read\", projects = [] }", "must be a list of names"},
          {"x = { role = \"read\", projects = \"a\" }", "must be a list of names"},
          {"x = { role = \"read\", projects = [\"a b\"] }", "must be names of letters"},
          {"x = { role = \"read\", projects = [7] }", "must be names of letters"},
          {"\"\" = \"read\"", "must have 1 to 256 bytes"}}) {
        std::string const text = refusal(good + "[oidc.roles]\n" + line + "\n");
        EXPECT_NE(text.find(why), std::string::npos) << line << ": " << text;
    }
}

TEST(OidcConfig, Issuer_MustBeHttpsExceptOnThisMachine) {
    auto const with = [](std::string const& issuer) {
        return refusal("[oidc]\nissuer = \"" + issuer + "\"\nclient_id = \"me\"\n" + roles);
    };
    EXPECT_EQ(with("https://id.example.org/"), "");
    EXPECT_EQ(with("http://127.0.0.1:3000"), "");
    EXPECT_EQ(with("http://localhost:3000/x"), "");
    EXPECT_NE(with("http://id.example.org").find("http only on this machine"), std::string::npos);
    EXPECT_NE(with("https://id.example.org?x=y").find("without a query"), std::string::npos);
    EXPECT_NE(with("id.example.org"), "");
    EXPECT_NE(with("ftp://id.example.org"), "");
}

TEST(OidcConfig, MissingAndWrongKeys_AreReported) {
    EXPECT_NE(refusal("[oidc]\nclient_id = \"me\"\n").find("has no issuer"), std::string::npos)
        << refusal("[oidc]\nclient_id = \"me\"\n");
    EXPECT_NE(refusal("[oidc]\nissuer = \"https://x.org\"\n" + roles).find("has no client_id"),
              std::string::npos);
    EXPECT_NE(refusal(good + "client_secret_env = \"NOT_SET\"\n" + roles), "");
    EXPECT_NE(refusal(good + "scopes = [\"profile\"]\n" + roles).find("has no \"openid\""),
              std::string::npos);
    EXPECT_NE(refusal(good + "scopes = [\"openid profile\", \"openid\"]\n" + roles)
                  .find("is not one scope"),
              std::string::npos);
    EXPECT_NE(refusal(good + "groups_claim = \"/a~\"\n" + roles).find("is not a JSON pointer"),
              std::string::npos);
    EXPECT_NE(refusal(good + "session_length = \"31d\"\n" + roles), "");
    EXPECT_EQ(refusal(good + "groups_claim = \"https://x.org/groups\"\n" + roles), "");
}

TEST(OidcConfig, NobodyWhoCouldSignIn_IsAMistake) {
    EXPECT_NE(refusal(good).find("nobody could"), std::string::npos);
    EXPECT_NE(refusal(good + "[oidc.roles]\n").find("nobody could"), std::string::npos);
    EXPECT_EQ(refusal(good + "[[user]]\nname = \"a\"\noidc_subject = \"1\"\n"), "");
    EXPECT_EQ(refusal(good + "[[user]]\nname = \"a\"\nemail = \"a@x.org\"\n"), "");
    EXPECT_NE(refusal(good + "[[user]]\nname = \"a\"\n"), "");
}

TEST(OidcConfig, Subjects_AreUniqueAndNeedAProvider) {
    std::string const user = "[[user]]\nname = \"a\"\noidc_subject = \"1\"\n";
    EXPECT_NE(refusal(user).find("there is no provider"), std::string::npos);
    EXPECT_NE(refusal(good + user + "[[user]]\nname = \"b\"\noidc_subject = \"1\"\n"), "");
}

}  // namespace
}  // namespace dormouse::config
