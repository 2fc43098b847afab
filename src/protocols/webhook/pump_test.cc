#include "webhook/pump.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::webhook {
namespace {

TEST(Attempts, Attempts_HaveGrowingDelaysAndEnd) {
    EXPECT_EQ(next_attempt(0, 0), Duration(0));
    EXPECT_EQ(next_attempt(1, 0), Duration(5'000));
    EXPECT_EQ(next_attempt(2, 0), Duration(300'000));
    EXPECT_EQ(next_attempt(3, 0), Duration(1'800'000));
    EXPECT_EQ(next_attempt(4, 0), Duration(7'200'000));
    EXPECT_EQ(next_attempt(5, 0), Duration(18'000'000));
    EXPECT_EQ(next_attempt(6, 0), Duration(36'000'000));
    EXPECT_EQ(next_attempt(7, 0), Duration(36'000'000));
    EXPECT_FALSE(next_attempt(8, 0));
    EXPECT_FALSE(next_attempt(UINT32_MAX, 255));
    for (std::uint32_t made = 1; made < 8; ++made) {
        EXPECT_GT(next_attempt(made, 255), next_attempt(made, 0));
        EXPECT_LE(*next_attempt(made, 255), *next_attempt(made, 0) * 11 / 10);
    }
}

TEST(UrlPolicy, WayTo_AllowsOnlyPublicHttps) {
    for (char const* const url :
         {"https://example.org", "https://example.org/hook?a=1", "https://example.org:8443/x",
          "https://8.8.8.8/", "https://[2606:4700:4700::1111]/"}) {
        UrlPolicy const policy = url_policy(url, {});
        EXPECT_EQ(policy.refusal, "") << url;
        EXPECT_TRUE(policy.public_only) << url;
    }
    for (char const* const url : {"http://example.org",
                                  "ftp://example.org",
                                  "file:///etc/passwd",
                                  "gopher://x",
                                  "",
                                  "https://",
                                  "https:///x",
                                  "https://user:pw@example.org/",
                                  "https://example.org@127.0.0.1/",
                                  "https://exa mple.org/",
                                  "https://exam%70le.org/",
                                  "https://127.0.0.1/",
                                  "https://127.0.0.1:443/x",
                                  "https://127.1",
                                  "https://0x7f.1/",
                                  "https://2130706433/",
                                  "https://017700000001",
                                  "https://[::1]/",
                                  "https://[::1]:8443/",
                                  "https://localhost",
                                  "https://LOCALHOST:1/",
                                  "https://a.localhost/",
                                  "https://[::ffff:127.0.0.1]/",
                                  "https://[64:ff9b::7f00:1]/",
                                  "https://169.254.169.254/latest/meta-data",
                                  "https://10.0.0.1",
                                  "https://192.168.1.1",
                                  "https://[fd00::1]",
                                  "https://0/",
                                  "https://127.0.0.1\\@example.org/",
                                  "https://127.0.0.1#@example.org/",
                                  "https://127.0.0.1?@example.org/",
                                  "https://100.100.100.200/",
                                  "https://[fe80::1%eth0]/",
                                  "https://[fe80::1%25eth0]/",
                                  "https://example.org:0/",
                                  "https://example.org:65536/",
                                  "https://example.org:/",
                                  "https://exam\tple.org/",
                                  "https://example.org/\r\nX: y",
                                  "https://ex\xc3\xa4mple.org/",
                                  "https://\xef\xbc\x91\x32\x37.0.0.1/",
                                  "https://example.org/#@127.0.0.1",
                                  "https://127.0.0.1./"})
        EXPECT_NE(url_policy(url, {}).refusal, "") << url;
}

TEST(UrlPolicy, WayTo_AllowsConfiguredHosts) {
    std::vector<std::string> const allowed{"127.0.0.1:8080", "hooks.internal"};
    for (char const* const url : {"http://127.0.0.1:8080/x", "https://127.0.0.1:8080",
                                  "http://hooks.internal/", "http://HOOKS.internal:99/a"}) {
        EXPECT_EQ(url_policy(url, allowed).refusal, "") << url;
        EXPECT_FALSE(url_policy(url, allowed).public_only) << url;
    }
    for (char const* const url :
         {"http://127.0.0.1:8081/", "http://127.0.0.1/", "http://localhost:8080/",
          "http://hooks.internal.example.org/", "http://x@127.0.0.1:8080/"})
        EXPECT_NE(url_policy(url, allowed).refusal, "") << url;
}

// Receivers that hold their places for the whole time limit leave places for those that answer.
TEST(Room, Capacity_IsLeftForAnsweringReceivers) {
    using enum ReceiverHealth;
    EXPECT_TRUE(Pump::has_capacity(answering, 0, Pump::at_once - 1, Pump::at_once_failing));
    EXPECT_FALSE(Pump::has_capacity(answering, 0, Pump::at_once, 0));
    EXPECT_TRUE(Pump::has_capacity(answering, 3, 3, 0));
    EXPECT_FALSE(Pump::has_capacity(answering, 4, 4, 0));
    EXPECT_FALSE(Pump::has_capacity(answering, 1, Pump::at_once_more, 0));
    EXPECT_TRUE(Pump::has_capacity(unknown, 0, Pump::at_once_failing, Pump::at_once_failing));
    EXPECT_FALSE(Pump::has_capacity(unknown, 0, Pump::at_once_unknown, 0));
    EXPECT_FALSE(Pump::has_capacity(unknown, 1, 1, 0));
    EXPECT_TRUE(Pump::has_capacity(failing, 0, Pump::at_once_failing, Pump::at_once_failing - 1));
    EXPECT_FALSE(Pump::has_capacity(failing, 0, Pump::at_once_failing, Pump::at_once_failing));
    EXPECT_FALSE(Pump::has_capacity(failing, 0, Pump::at_once_unknown, 0));
}

TEST(Letter, Letter_RoundTrip_IsEqual) {
    PendingId pending;
    pending.session = SessionId::make(7, {1});
    pending.call = 2;
    pending.generation = 1;
    for (Letter const& letter : {Letter{Letter::Kind::call, pending, "deploy", "{\"a\":1}"},
                                 Letter{Letter::Kind::event, std::nullopt, "", "two\nlines"},
                                 Letter{Letter::Kind::notice, std::nullopt, "", ""},
                                 Letter{Letter::Kind::event, std::nullopt, "", "", {}, "0a1b2c3d"},
                                 Letter{Letter::Kind::external_agent, std::nullopt, "", "{}"}}) {
        auto const back = read_letter(write_letter(letter));
        ASSERT_TRUE(back);
        EXPECT_EQ(back->kind, letter.kind);
        EXPECT_EQ(back->pending, letter.pending);
        EXPECT_EQ(back->tool, letter.tool);
        EXPECT_EQ(back->body, letter.body);
        EXPECT_EQ(back->mark, letter.mark);
    }
    for (char const* const bad : {"", "{}", "{}\nx", "{\"kind\":\"newer\"}\nx", "no json\nx"})
        EXPECT_FALSE(read_letter(bad)) << bad;
}

TEST(Outgoing, DeletedSession_ExternalAgentGetsAllItsIds) {
    session::State state;
    state.id = SessionId::make(7, {1});
    state.agent = "coder";
    state.cwd = "/src";
    session::Event event;
    event.seq = 9;
    event.body = session::SessionDeleted{};
    std::vector<wire::RecordPtr> const records{wire::record(state.id, event)};
    Outgoing outgoing;
    outgoing.programs = true;
    EXPECT_TRUE(outbox_of(outgoing, state, records, {}).empty()) << "the agent has no session";
    state.acp_session = "s2";
    state.acp_left = {"s1"};
    auto const rows = outbox_of(outgoing, state, records, {});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].target, "agent:coder");
    auto const letter = read_letter(rows[0].body);
    ASSERT_TRUE(letter);
    EXPECT_EQ(letter->kind, Letter::Kind::external_agent);
    EXPECT_EQ(letter->body, R"({"names":["s2","s1"],"cwd":"/src"})");
    outgoing.programs = false;
    EXPECT_TRUE(outbox_of(outgoing, state, records, {}).empty())
        << "no external agent is configured";
}

TEST(Delivery, DeliveryText_RoundTrip_IsEqual) {
    port::OutboxKey const key{SessionId::make(7, {1}), 12, 1'000};
    for (char const* const mark : {"", "0a1b2c3d"}) {
        DeliveryId const id{key, mark};
        EXPECT_EQ(parse_delivery(delivery_text(id)), id);
        EXPECT_TRUE(delivery_text(id).starts_with("dlv_"));
    }
    std::string const text = delivery_text(DeliveryId{key, {}});
    EXPECT_TRUE(text.ends_with("_12_1000")) << "as earlier releases wrote it";
    for (std::string const& bad :
         {std::string("x"), std::string("dlv_1_2_3"), text + "0000000000", text + "_", text + "_1",
          text + "_0A1B2C3D", text + "_0a1b2c3d_", text + "_0a1b2c3d4"})
        EXPECT_FALSE(parse_delivery(bad)) << bad;
}

}  // namespace
}  // namespace dormouse::webhook
