// Tests what each service gets and what its answers mean, against the contracts that the services
// document.

#include "webhook/kinds/kinds.h"

#include "webhook/testing/request_header.h"

#include <gtest/gtest.h>

namespace dormouse::webhook {
namespace {

Notification gate_question() {
    Notification out{.event = "gate_asked",
                     .reason = "approval",
                     .pending = "pnd_AAAAAAAAAAAAAAAAAAAAAA_2_1_x",
                     .session = "ses_AAAAAAAAAAAAAAAAAAAAAA"};
    out.agent = "ops";
    out.tool = "deploy";
    out.question = "Ship <!here> *now* [a](b)?";
    out.arguments = R"({"ref":"main`"})";
    out.digest = "sha256:87fb";
    out.url = "https://dm.example.org/a/pnd_1";
    out.deadline = from_ms(1'795'303'256'725);
    out.is_whole = true;
    return out;
}

Notice target_of(NotifyKind kind) {
    return {.kind = kind,
            .target = "notify:X",
            .url = "https://hooks.example.org/services/s3cret",
            .token = "t0ken",
            .api_url = "https://api.example.org",
            .channel = "C1",
            .buttons = true};
}

ServiceRequest request(NotifyKind kind, Notification const& it, std::string const& reference = "") {
    Notice const to = target_of(kind);
    return service_of(to)->request(to, it, reference);
}

ServiceReply reply(NotifyKind kind, int status, std::string_view body, bool is_change = false) {
    return read_reply(*service_of(target_of(kind)), status, body, is_change);
}

TEST(Kinds, SlackHook_GetsEscapedText) {
    auto const made = request(NotifyKind::slack, gate_question());
    EXPECT_EQ(made.url, "https://hooks.example.org/services/s3cret");
    EXPECT_EQ(
        made.body,
        R"({"text":"Approval wanted: Ship &lt;!here&gt; *now* [a](b)?\ndeploy {\"ref\":\"main`\"})"
        R"(\nuntil 2026-11-21T23:20:56.725Z\nhttps://dm.example.org/a/pnd_1"})");
}

TEST(Kinds, SlackBot_MessageHasButtonsThatNameCallAndDigest) {
    auto const made = request(NotifyKind::slack_bot, gate_question());
    EXPECT_EQ(made.url, "https://api.example.org/chat.postMessage");
    EXPECT_EQ(header_of(made, "Authorization"), "Bearer t0ken");
    json::View const body(made.body);
    EXPECT_EQ(body["channel"].string_or(""), "C1");
    EXPECT_EQ(body["blocks"].raw(),
              R"([{"type":"section","text":{"type":"plain_text","text":"Approval wanted: Ship )"
              R"(<!here> *now* [a](b)?","emoji":false}},)"
              R"({"type":"rich_text","elements":[{"type":"rich_text_preformatted",)"
              R"("elements":[{"type":"text","text":"deploy {\"ref\":\"main`\"}"}]}]},)"
              R"({"type":"context","elements":[{"type":"plain_text","text":"ops · until )"
              R"(2026-11-21 23:20 UTC · sha256:87fb","emoji":false}]},)"
              R"({"type":"actions","elements":[)"
              R"({"type":"button","text":{"type":"plain_text","text":"Approve","emoji":false},)"
              R"("action_id":"approve","style":"primary",)"
              R"("value":"pnd_AAAAAAAAAAAAAAAAAAAAAA_2_1_x sha256:87fb"},)"
              R"({"type":"button","text":{"type":"plain_text","text":"Deny","emoji":false},)"
              R"("action_id":"deny","style":"danger","value":"pnd_AAAAAAAAAAAAAAAAAAAAAA_2_1_x )"
              R"(sha256:87fb"},)"
              R"({"type":"button","text":{"type":"plain_text","text":"Open","emoji":false},)"
              R"("action_id":"open","url":"https://dm.example.org/a/pnd_1"}]}])");
}

TEST(Kinds, SlackBot_DecidedCallOrNoSecret_HasNoButtons) {
    auto it = gate_question();
    it.outcome = "Approved by bob at 2026-11-22 07:00 UTC";
    auto const made = request(NotifyKind::slack_bot, it, "C1/1503435956.000247");
    EXPECT_EQ(made.url, "https://api.example.org/chat.update");
    EXPECT_EQ(json::View(made.body)["ts"].string_or(""), "1503435956.000247");
    EXPECT_EQ(made.body.find("\"approve\""), std::string::npos);
    EXPECT_NE(made.body.find("Approved by bob"), std::string::npos);
    EXPECT_EQ(made.body.find("until"), std::string::npos);
    Notice to = target_of(NotifyKind::slack_bot);
    to.buttons = false;
    EXPECT_EQ(slack_bot_service.request(to, gate_question(), "").body.find("\"approve\""),
              std::string::npos);
    auto input = gate_question();
    input.reason = "user_input";
    EXPECT_EQ(request(NotifyKind::slack_bot, input).body.find("\"approve\""), std::string::npos);
}

TEST(Kinds, SlackBot_MessageShowsNotAll_OnlyOpensThePage) {
    auto it = gate_question();
    it.is_whole = false;
    std::string const body = request(NotifyKind::slack_bot, it).body;
    EXPECT_EQ(body.find("\"approve\""), std::string::npos);
    auto always = gate_question();
    always.always_ask = true;
    EXPECT_EQ(request(NotifyKind::slack_bot, always).body.find("\"approve\""), std::string::npos);
    EXPECT_NE(body.find("\"open\""), std::string::npos);
}

TEST(Kinds, SlackBot_Answers) {
    auto const taken =
        reply(NotifyKind::slack_bot, 200, R"({"ok":true,"channel":"C1","ts":"15.02"})");
    EXPECT_TRUE(taken.taken);
    EXPECT_EQ(taken.reference, "C1/15.02");
    auto const gone = R"({"ok":false,"error":"message_not_found"})";
    EXPECT_TRUE(reply(NotifyKind::slack_bot, 200, gone, true).taken);
    EXPECT_FALSE(reply(NotifyKind::slack_bot, 200, gone).taken);
    auto const limited = reply(NotifyKind::slack_bot, 200, R"({"ok":false,"error":"ratelimited"})");
    EXPECT_FALSE(limited.taken);
    EXPECT_FALSE(limited.permanent);
    EXPECT_EQ(limited.why, "Slack refused the message: ratelimited");
    auto const blocks =
        reply(NotifyKind::slack_bot, 200, R"({"ok":false,"error":"invalid_blocks"})");
    EXPECT_TRUE(blocks.permanent);
    for (std::string_view const body : {"", "<html>sign in</html>", "[]", "{}", R"({"ok":"yes"})"})
        EXPECT_EQ(reply(NotifyKind::slack_bot, 200, body).why,
                  "unexpected response, not from Slack")
            << body;
    EXPECT_EQ(reply(NotifyKind::slack_bot, 302, "").why, "the service answered 302");
}

TEST(Kinds, Discord_NewMessageAndChange) {
    auto const made = request(NotifyKind::discord, gate_question());
    EXPECT_EQ(made.url, "https://hooks.example.org/services/s3cret?wait=true");
    EXPECT_EQ(
        made.body,
        R"({"allowed_mentions":{"parse":[]},"embeds":[{"title":"Approval wanted","color":14263361,)"
        R"("description":"Ship \\<!here\\> \\*now\\* \\[a\\]\\(b\\)?",)"
        R"("url":"https://dm.example.org/a/pnd_1","fields":[)"
        R"({"name":"Tool","value":"deploy"},{"name":"Arguments",)"
        R"("value":"```json\n{\"ref\":\"main'\"}\n```"},)"
        R"({"name":"Until","value":"2026-11-21 23:20 UTC"}],"footer":{"text":"sha256:87fb"}}]})");
    Notice thread = target_of(NotifyKind::discord);
    thread.url += "?thread_id=7";
    EXPECT_EQ(discord_service.request(thread, gate_question(), "").url, thread.url + "&wait=true");
    auto const change = discord_service.request(thread, gate_question(), "99");
    EXPECT_EQ(change.method, "PATCH");
    EXPECT_EQ(change.url, "https://hooks.example.org/services/s3cret/messages/99?thread_id=7");
}

TEST(Kinds, Discord_Answers) {
    EXPECT_EQ(reply(NotifyKind::discord, 200, R"({"id":"1234567890"})").reference, "1234567890");
    EXPECT_EQ(reply(NotifyKind::discord, 200, R"({"id":"../../evil"})").reference, "");
    EXPECT_FALSE(reply(NotifyKind::discord, 200, "<html>").taken);
    auto const limited =
        reply(NotifyKind::discord, 429,
              R"({"message":"You are being rate limited.","retry_after":0.3504,"global":false})");
    EXPECT_EQ(limited.retry_after, Duration(351));
    EXPECT_EQ(limited.why, "the service answered 429: You are being rate limited.");
    auto const gone = R"({"message":"Unknown Message","code":10008})";
    EXPECT_TRUE(reply(NotifyKind::discord, 404, gone, true).taken);
    EXPECT_FALSE(reply(NotifyKind::discord, 404, gone).taken);
    EXPECT_TRUE(reply(NotifyKind::discord, 400, "{}").permanent);
}

TEST(Kinds, Telegram_NewMessageAndChange) {
    auto const made = request(NotifyKind::telegram, gate_question());
    EXPECT_EQ(made.url, "https://api.example.org/bott0ken/sendMessage");
    EXPECT_EQ(
        made.body,
        R"({"chat_id":"C1","text":"Approval wanted\nShip <!here> *now* )"
        R"([a](b)?\n\ndeploy\n{\"ref\":\"main`\"}\n\n)"
        R"(until 2026-11-21 23:20 UTC\nsha256:87fb","link_preview_options":{"is_disabled":true},)"
        R"("reply_markup":{"inline_keyboard":[[{"text":"Open",)"
        R"("url":"https://dm.example.org/a/pnd_1"}]]}})");
    auto const change = request(NotifyKind::telegram, gate_question(), "-100/5");
    EXPECT_EQ(change.url, "https://api.example.org/bott0ken/editMessageText");
    EXPECT_TRUE(change.body.starts_with(R"({"chat_id":"-100","message_id":5,)")) << change.body;
    auto plain = gate_question();
    plain.url = "http://127.0.0.1:3676/a/pnd_1";
    EXPECT_EQ(request(NotifyKind::telegram, plain).body.find("reply_markup"), std::string::npos);
    EXPECT_NE(request(NotifyKind::telegram, plain).body.find("\\nhttp://127"), std::string::npos);
}

TEST(Kinds, Telegram_Answers) {
    auto const taken = reply(NotifyKind::telegram, 200,
                             R"({"ok":true,"result":{"message_id":5,"chat":{"id":-100}}})");
    EXPECT_EQ(taken.reference, "-100/5");
    auto const limited =
        reply(NotifyKind::telegram, 429,
              R"({"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7",)"
              R"("parameters":{"retry_after":7}})");
    EXPECT_EQ(limited.retry_after, Duration(7'000));
    auto const same =
        R"({"ok":false,"description":"Bad Request: message is not modified: specified new"})";
    EXPECT_TRUE(reply(NotifyKind::telegram, 400, same, true).taken);
    EXPECT_TRUE(reply(NotifyKind::telegram, 400, R"({"ok":false,"description":"chat not found"})")
                    .permanent);
    EXPECT_FALSE(reply(NotifyKind::telegram, 200, "hello").taken);
    std::string const long_words(500, 'x');
    EXPECT_EQ(
        reply(NotifyKind::telegram, 502, R"({"ok":false,"description":")" + long_words + "\"}").why,
        "the service answered 502");
}

TEST(Kinds, Teams_GetsACardWithoutMarkup) {
    auto const made = request(NotifyKind::teams, gate_question());
    EXPECT_EQ(made.url, "https://hooks.example.org/services/s3cret");
    json::View const card = json::View(made.body).at_pointer("/attachments/0/content");
    EXPECT_EQ(card["type"].string_or(""), "AdaptiveCard");
    EXPECT_EQ(card.at_pointer("/body/0/inlines/0/text").string_or(""), "Approval wanted");
    EXPECT_EQ(card.at_pointer("/body/1/inlines/0/text").string_or(""),
              "Ship <!here> *now* [a](b)?");
    EXPECT_EQ(card.at_pointer("/actions/0/url").string_or(""), "https://dm.example.org/a/pnd_1");
    EXPECT_TRUE(reply(NotifyKind::teams, 200, "1").taken);
    EXPECT_TRUE(reply(NotifyKind::teams, 202, "").taken);
    EXPECT_FALSE(reply(NotifyKind::teams, 200,
                       "Webhook message delivery failed with error: Microsoft "
                       "Teams endpoint returned HTTP error 429")
                     .taken);
    EXPECT_FALSE(reply(NotifyKind::teams, 200, "<html>").taken);
    EXPECT_FALSE(can_change(target_of(NotifyKind::teams)));
}

TEST(Kinds, Ntfy_PublishesToTheTopic) {
    auto const made = request(NotifyKind::ntfy, gate_question());
    EXPECT_EQ(made.url, "https://hooks.example.org/services/");
    EXPECT_EQ(header_of(made, "Authorization"), "Bearer t0ken");
    EXPECT_EQ(
        made.body,
        R"({"topic":"s3cret","title":"Approval wanted","message":"Ship <!here> *now* [a](b)?\n)"
        R"(deploy {\"ref\":\"main`\"}\nuntil 2026-11-21 23:20 UTC\nsha256:87fb","priority":4,)"
        R"("click":"https://dm.example.org/a/pnd_1","actions":[{"action":"view",)"
        R"("label":"Open","url":"https://dm.example.org/a/pnd_1"}]})");
    EXPECT_TRUE(reply(NotifyKind::ntfy, 200, R"({"id":"sPs71M8A2T","event":"message"})").taken);
    EXPECT_FALSE(reply(NotifyKind::ntfy, 200, "<html>").taken);
    EXPECT_EQ(
        reply(NotifyKind::ntfy, 429, R"({"code":42901,"http":429,"error":"limit reached"})").why,
        "the service answered 429: limit reached");
}

TEST(Kinds, Ntfy_Outcome_ReplacesTheQuestionWithoutASound) {
    EXPECT_EQ(reply(NotifyKind::ntfy, 200, R"({"id":"sPs71M8A2T"})").reference, "sPs71M8A2T");
    auto const odd = reply(NotifyKind::ntfy, 200, R"({"id":"../x"})");
    EXPECT_TRUE(odd.taken);
    EXPECT_EQ(odd.reference, "");
    EXPECT_TRUE(can_change(target_of(NotifyKind::ntfy)));
    auto it = gate_question();
    it.outcome = "Approved by alice";
    auto const made = request(NotifyKind::ntfy, it, "sPs71M8A2T");
    EXPECT_EQ(made.method, "POST");
    json::View const body(made.body);
    EXPECT_EQ(body["sequence_id"].string_or(""), "sPs71M8A2T");
    EXPECT_EQ(body["title"].string_or(""), "Approved by alice");
    EXPECT_EQ(body["priority"].integer().value_or(0), 2);
    EXPECT_FALSE(body["message"].string_or("").contains("until"));
}

TEST(Kinds, LongTexts_FitEveryService) {
    auto it = gate_question();
    it.question = std::string(4'000, 'q');
    it.arguments = std::string(4'000, '\\');
    it.tool = std::string(300, 't');
    auto const made = request(NotifyKind::discord, it);
    json::View const embed = json::View(made.body)["embeds"].at_pointer("/0");
    EXPECT_LE(embed["title"].string_or("").size(), 256U);
    EXPECT_LE(embed.at_pointer("/fields/1/value").string_or("").size(), 1'024U);
    EXPECT_LE(json::View(request(NotifyKind::telegram, it).body)["text"].string_or("").size(),
              4'096U);
    EXPECT_LE(json::View(request(NotifyKind::ntfy, it).body)["message"].string_or("").size(),
              4'096U);
}

TEST(Notification, WrittenAndRead_IsTheSame) {
    auto const it = gate_question();
    auto const read = read_notification(write_notification(it));
    ASSERT_TRUE(read);
    EXPECT_EQ(write_notification(*read), write_notification(it));
    EXPECT_FALSE(read_notification(R"({"text":"stored by release 0.1"})"));
    EXPECT_FALSE(read_notification("no JSON"));
}

}  // namespace
}  // namespace dormouse::webhook
