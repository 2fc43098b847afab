#include "wire/view/view_budget.h"

#include "json/json.h"
#include "wire/testing/story.h"
#include "wire/view/view.h"
#include "wire/view/view_files.h"

#include <gtest/gtest.h>

#include <set>

// Tests what a view drops to fit its budget.
namespace dormouse::wire {
namespace {

using namespace dormouse::session;

Json text_parts(std::string const& text) {
    return Json::trusted("[{\"type\":\"text\",\"text\":\"" + text + "\"}]");
}

// A message of exactly `tokens`.
ViewMessage message_with(ViewMessage::Role role, std::string const& text, std::uint64_t tokens) {
    ViewMessage out{role, InputSource::prompt, text_parts(text), {}};
    std::uint64_t const missing = 4 * tokens - 16 - (out.parts.size() - 2);
    out.parts = text_parts(text + std::string(missing, '.'));
    EXPECT_EQ(tokens_of(out), tokens);
    return out;
}
ViewMessage user(std::string const& text) {
    return message_with(ViewMessage::Role::user, text, 20);
}
ViewMessage model(std::string const& text) {
    return message_with(ViewMessage::Role::assistant, text, 30);
}

// `count` exchanges of 50 tokens: u0 m0 u1 m1 …
ModelView talk(int count) {
    ModelView view;
    for (int i = 0; i < count; ++i) {
        view.messages.push_back(user("u" + std::to_string(i)));
        view.messages.push_back(model("m" + std::to_string(i)));
    }
    return view;
}
ViewCall call(CallNo no, bool open) {
    ViewCall out;
    out.call = no;
    out.open = open;
    return out;
}
std::string shown_text(ModelView const& view) {
    std::string out;
    for (ViewMessage const& message : view.messages) {
        std::string const text = json::View(message.parts).at_pointer("/0/text").string_or("late");
        out += (out.empty() ? "" : " ") + text.substr(0, text.find('.'));
    }
    return out;
}
std::string fitted(ModelView view, std::uint64_t tokens) {
    fit(view, tokens);
    return shown_text(view);
}

TEST(ViewBudget, View_WithinItsBudget_IsUnchanged) {
    EXPECT_EQ(fitted(talk(4), 200), "u0 m0 u1 m1 u2 m2 u3 m3");
    EXPECT_EQ(fitted(talk(0), 0), "");
}

TEST(ViewBudget, OldestExchanges_LeaveWhole_SeveralAtOnce) {
    // 50 over, in steps of 100 of 400: two exchanges.
    EXPECT_EQ(fitted(talk(9), 400), "u2 m2 u3 m3 u4 m4 u5 m5 u6 m6 u7 m7 u8 m8");
    EXPECT_EQ(fitted(talk(10), 400), "u2 m2 u3 m3 u4 m4 u5 m5 u6 m6 u7 m7 u8 m8 u9 m9");
    EXPECT_TRUE(fitted(talk(11), 400).starts_with("u4 m4"));
}

TEST(ViewBudget, Beginning_StaysEqualForAWhile) {
    std::string before;
    int changes = 0;
    for (int count = 1; count <= 60; ++count) {
        std::string const now = fitted(talk(count), 400);
        changes += now.starts_with(before) ? 0 : 1;
        before = now;
    }
    // 52 exchanges over, two at a time.
    EXPECT_EQ(changes, 26);
}

TEST(ViewBudget, NewestExchange_AlwaysStays) {
    EXPECT_EQ(fitted(talk(3), 10), "u2 m2");
    EXPECT_EQ(fitted(talk(1), 0), "u0 m0");
}

TEST(ViewBudget, ExchangeWithAnOpenCall_StaysUntilItSettles) {
    ModelView view = talk(9);
    view.messages[1].calls = {call(1, true)};
    EXPECT_TRUE(fitted(view, 400).starts_with("u0 m0 u3 m3")) << fitted(view, 400);
    ViewMessage late{
        ViewMessage::Role::user, InputSource::result, Json::trusted("[]"), {call(1, false)}};
    view.messages.push_back(late);
    std::string const after = fitted(view, 400);
    EXPECT_TRUE(after.starts_with("u2 m2") || after.starts_with("u3 m3")) << after;
    EXPECT_TRUE(after.ends_with("late"));
}

// A late outcome does not begin an exchange: it leaves with the one that it came in.
TEST(ViewBudget, LateOutcome_IsNeverTheFirstMessage) {
    ModelView view = talk(2);
    ViewMessage late{
        ViewMessage::Role::user, InputSource::result, Json::trusted("[]"), {call(1, false)}};
    view.messages.insert(view.messages.begin() + 2, late);
    EXPECT_EQ(fitted(view, 60), "u1 m1");
}

// Random scenarios: exchanges leave whole and in order, and no open call is dropped.
TEST(ViewBudget, AnyScenario_DropsNoOpenCall) {
    std::size_t cut = 0;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        History const history = testing::history_of(testing::story(seed, 60));
        if (history.steps().empty()) continue;
        ModelView const whole = model_view(history, history.steps().back().view_seq);
        ModelView view = whole;
        fit(view, 100);
        cut += view.messages.size() < whole.messages.size() ? 1 : 0;
        ASSERT_EQ(view.messages.empty(), whole.messages.empty());
        std::set<CallNo> open, kept, late;
        for (ViewMessage const& message : whole.messages) {
            for (ViewCall const& one : message.calls)
                (message.source == InputSource::result ? late : open)
                    .insert(one.open || message.source == InputSource::result ? one.call : 0);
        }
        for (ViewMessage const& message : view.messages) {
            for (ViewCall const& one : message.calls) kept.insert(one.call);
        }
        for (CallNo const no : open) {
            EXPECT_TRUE(no == 0 || late.contains(no) || kept.contains(no)) << seed;
        }
        if (!view.messages.empty() && view.messages.size() < whole.messages.size()) {
            EXPECT_EQ(view.messages.front().role, ViewMessage::Role::user);
            EXPECT_NE(view.messages.front().source, InputSource::result);
        }
    }
    EXPECT_GT(cut, 10U);
}

TEST(ViewBudget, ImagesAndFiles_HaveTheirOwnCost) {
    auto const price = [](std::string const& part) {
        return tokens_of(
            {ViewMessage::Role::user, InputSource::prompt, Json::trusted("[" + part + "]"), {}});
    };
    EXPECT_EQ(price(R"({"type":"image","mime":"image/png","bytes":9000000})"), 1'504U);
    EXPECT_EQ(price(R"({"type":"file","mime":"text/csv","bytes":4000})"), 1'004U);
    EXPECT_EQ(price(R"({"type":"file","mime":"application/pdf","bytes":20000})"), 1'004U);
}

ModelView with_files(SessionId const& session, int count, std::uint64_t bytes) {
    ModelView view;
    for (int i = 1; i <= count; ++i) {
        Json const parts = Json::trusted(
            "[{\"type\":\"image\",\"bytes\":" + std::to_string(bytes) + ",\"artifactID\":\"" +
            numbered_id("art_", session, static_cast<Seq>(i)) + "\"}]");
        view.messages.push_back({ViewMessage::Role::user, InputSource::prompt, parts, {}});
    }
    return view;
}

TEST(ViewFiles, FilesOf_ListsFilesOfUsersInThisSession) {
    SessionId const session = SessionId::make(7, {});
    ModelView view = with_files(session, 2, 10);
    view.messages[0].role = ViewMessage::Role::assistant;
    EXPECT_EQ(files_of(view, session), (std::vector<Seq>{2}));
    EXPECT_TRUE(files_of(view, SessionId::make(8, {})).empty());
}

TEST(ViewFiles, FilesOf_OverTheLimit_OldestLeaveSeveralAtOnce) {
    SessionId const session = SessionId::make(7, {});
    std::uint64_t const mib = 1 << 20;
    EXPECT_EQ(files_of(with_files(session, 20, mib), session).size(), 20U);
    EXPECT_EQ(files_of(with_files(session, 21, mib), session).front(), 6U);
    EXPECT_EQ(files_of(with_files(session, 25, mib), session).front(), 6U);
    EXPECT_EQ(files_of(with_files(session, 26, mib), session).front(), 11U);
}

}  // namespace
}  // namespace dormouse::wire
