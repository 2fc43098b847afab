#include <dormouse/tool.h>

#include "json/json.h"

#include <gtest/gtest.h>

#include <stdexcept>

// Typed tools: what they declare and what they do, without a runtime. Comments name the
// requirements (docs/requirements.md) that a test proves.
namespace dormouse {
namespace {

using namespace std::chrono_literals;

struct Deploy {
    std::string service;
    std::optional<std::string> version;

    static constexpr Doc doc[] = {
        {"service", "What to deploy, for example \"api\""},
        {"version", "A git tag; the newest one if left out"},
    };
};
struct Deployment {
    std::string status;
    std::string url;

    static constexpr Doc doc[] = {{"url", "", {.pattern = "^https:"}}};
};
struct Sum {
    std::int64_t a = 0;
    std::int64_t b = 0;
};

Outcome<Deployment, Pending> start(Deploy const& deploy, Call const& call) {
    if (deploy.service == "down") return Failed{"the cluster refused"};
    return Pending{Deployment{.status = "queued", .url = ""},
                   {.ref = "job-" + call.pending_id().text(), .within = 2h}};
}

Call call(char const* input, std::optional<Resumed> resumed = {}) {
    Call::Facts facts;
    facts.pending = {SessionId::make(7, {}), 3, 1, {9}};
    facts.tool = "deploy";
    facts.input = Json::trusted(input);
    facts.turn = 2;
    facts.agent = "ops";
    facts.resumed = std::move(resumed);
    return Call(std::move(facts));
}
Json output(RawOutcome const& outcome) {
    auto const* done = std::get_if<Done<Json>>(&outcome);
    return done ? done->value : Json::trusted("\"not done\"");
}
std::string failure(RawOutcome const& outcome) {
    auto const* failed = std::get_if<Failed>(&outcome);
    return failed ? failed->message : "no failure";
}

// B1
TEST(TypedTool, Schemas_ComeFromTheTypes) {
    auto const deploy = tool("deploy", start, {.description = "Deploys a service."});
    Declaration const& declared = deploy->declaration();
    EXPECT_EQ(declared.name, "deploy");
    EXPECT_EQ(declared.input_schema, schema_of<Deploy>());
    EXPECT_EQ(declared.result_schema, schema_of<Deployment>());
    EXPECT_EQ(declared.mistake, "");
    EXPECT_EQ(declared.crash, CrashPolicy::never);
    EXPECT_EQ(declared.may_pause, PauseSet{PauseReason::tool_result});
}

// B1
TEST(TypedTool, Tool_TakesAnyCallableAndAnyResult) {
    auto const add = tool("add", [](Sum const& s) { return Sum{s.a + s.b, 0}; });
    EXPECT_EQ(output(add->execute(call(R"({"a":9007199254740992,"b":1})"))).text(),
              R"({"a":9007199254740993,"b":0})");
    auto const number = tool("number", [](Sum s) -> Result<double> {
        if (s.b == 0) return fail(Code::bad_value, "nothing is divided by 0");
        return static_cast<double>(s.a) / static_cast<double>(s.b);
    });
    EXPECT_EQ(output(number->execute(call(R"({"a":1,"b":2})"))).text(), "0.5");
    EXPECT_EQ(failure(number->execute(call(R"({"a":1,"b":0})"))),
              "bad_value: nothing is divided by 0");
    int runs = 0;
    auto const nothing = tool("nothing", [&runs] { ++runs; });
    EXPECT_EQ(output(nothing->execute(call("{}"))).text(), "{}");
    EXPECT_EQ(runs, 1);
    std::function<std::string(Call const&)> const name = [](Call const& c) { return c.tool(); };
    auto const names = tool("names", name);
    EXPECT_EQ(output(names->execute(call("{}"))).text(), "\"deploy\"");
    EXPECT_TRUE(names->declaration().may_pause.empty());
}

TEST(TypedTool, InvalidArguments_ErrorForModelNothingRuns) {
    bool ran = false;
    auto const add = tool("add", [&ran](Sum const& s) {
        ran = true;
        return s;
    });
    EXPECT_EQ(failure(add->execute(call(R"({"a":"1","b":2,"c":3})"))),
              "the arguments do not fit: /a must be an integer, not a string; /c is not known");
    EXPECT_FALSE(ran);
}

// B2, B3
TEST(TypedTool, Pause_HasPlaceholderAndOptions) {
    auto const deploy = tool("deploy", start);
    auto const outcome = deploy->execute(call(R"({"service":"api"})"));
    auto const* paused = std::get_if<Paused>(&outcome);
    ASSERT_TRUE(paused);
    EXPECT_EQ(reason(paused->await), PauseReason::tool_result);
    EXPECT_FALSE(reenters(paused->await));
    EXPECT_EQ(paused->placeholder.text(), R"({"status":"queued","url":""})")
        << "a placeholder need not follow the rules of results";
    EXPECT_EQ(paused->options.ref, "job-" + call("{}").pending_id().text());
    EXPECT_EQ(paused->options.within, Duration(2h));
    EXPECT_EQ(failure(deploy->execute(call(R"({"service":"down"})"))), "the cluster refused");
}

// B3
TEST(TypedTool, NeedInputAndNeedApproval_HaveTextForPeople) {
    auto const ask = tool("ask", [](Sum const&) -> Outcome<std::string, NeedInput> {
        return NeedInput{std::string("asked"), "Which region?", {.metadata = Json::trusted("[1]")}};
    });
    auto outcome = ask->execute(call(R"({"a":0,"b":0})"));
    auto const& input = std::get<Paused>(outcome);
    EXPECT_EQ(reason(input.await), PauseReason::user_input);
    EXPECT_EQ(input.options.message, "Which region?");
    EXPECT_EQ(input.options.metadata.text(), "[1]");
    auto const may = tool("may", [](Sum const&) -> Outcome<std::string, NeedApproval> {
        return NeedApproval{std::string("asked"), "May I?", {.need = 2}};
    });
    outcome = may->execute(call(R"({"a":0,"b":0})"));
    auto const& approval = std::get<Paused>(outcome);
    EXPECT_EQ(reason(approval.await), PauseReason::approval);
    EXPECT_TRUE(reenters(approval.await));
    EXPECT_EQ(approval.options.need, 2U);
}

// B3
TEST(TypedTool, Done_MayHaveTitleAndMetadata) {
    auto const titled = tool("titled", [](Sum const&) -> Outcome<Sum> {
        return Done{Sum{1, 2}, "Three", Json::trusted(R"({"took":5})")};
    });
    auto const outcome = titled->execute(call(R"({"a":0,"b":0})"));
    auto const& done = std::get<Done<Json>>(outcome);
    EXPECT_EQ(done.title, "Three");
    EXPECT_EQ(done.metadata.text(), R"({"took":5})");
}

TEST(TypedTool, ConvertibleValues_MayBeReturned) {
    auto const words = tool("words", [](Sum const& s) -> Outcome<std::string, Pending> {
        if (s.a == 1) return "one";
        if (s.a == 2) return Done{"two", "Two"};
        return Pending{"later", {.ref = "r"}};
    });
    EXPECT_EQ(output(words->execute(call(R"({"a":1,"b":0})"))).text(), "\"one\"");
    EXPECT_EQ(output(words->execute(call(R"({"a":2,"b":0})"))).text(), "\"two\"");
    auto const outcome = words->execute(call(R"({"a":3,"b":0})"));
    EXPECT_EQ(std::get<Paused>(outcome).placeholder.text(), "\"later\"");
}

// B4: only these seven pairs of reason and continuation can be expressed.
TEST(Await, Pairs_Illegal_CannotBeExpressed) {
    auto const pair = [](Await const& await) {
        return std::string(text(reason(await))) + (reenters(await) ? " reenters" : "");
    };
    EXPECT_EQ(pair(await::Result{}), "tool_result");
    EXPECT_EQ(pair(await::Result{.reenter = true}), "tool_result reenters");
    EXPECT_EQ(pair(await::Input{}), "user_input");
    EXPECT_EQ(pair(await::Approval{}), "approval reenters");
    EXPECT_EQ(pair(await::Elicitation{}), "elicitation reenters");
    EXPECT_EQ(pair(await::Handoff{}), "handoff reenters");
    EXPECT_EQ(pair(Await{}), "tool_result") << "the default";
    static_assert(std::variant_size_v<Await> == 5);
}

TEST(TypedTool, Pauses_AreThoseOfTheOutcomeTypes) {
    auto const pauses = [](auto const& made) { return made->declaration().may_pause; };
    auto const plain = [](Sum const&) -> Outcome<std::string> { return Failed{"no"}; };
    EXPECT_TRUE(pauses(tool("sync", plain)).empty());
    auto const asks = [](Sum const&) { return NeedInput{std::string("asked"), "Which?"}; };
    EXPECT_EQ(pauses(tool("asks", asks)), PauseSet{PauseReason::user_input});
    auto const may = [](Sum const&) -> Outcome<std::string, NeedApproval> {
        return NeedApproval{std::string("asked"), "May I?"};
    };
    auto const then = [](Sum const&) -> Result<Outcome<std::string, Pending>> {
        return Pending{std::string("later")};
    };
    PauseSet const both{PauseReason::tool_result, PauseReason::approval};
    EXPECT_EQ(pauses(tool("may", may, then)), both);
    EXPECT_EQ(pauses(tool("told", may, then, {.may_pause = PauseSet{PauseReason::approval}})),
              PauseSet{PauseReason::approval});
    EXPECT_TRUE(tool("alone", may)->declaration().mistake.contains("no second function"));
    auto const outcome = tool("asks", asks)->execute(call(R"({"a":0,"b":0})"));
    EXPECT_EQ(reason(std::get<Paused>(outcome).await), PauseReason::user_input);
}

// B2
TEST(Hint, Description_TellsTheModelNotToCallAgain) {
    Declaration plain{.name = "a", .description = "Adds."};
    EXPECT_EQ(described(plain), "Adds.");
    plain.may_pause = {PauseReason::approval, PauseReason::tool_result};
    std::string const text = described(plain);
    EXPECT_TRUE(text.starts_with("Adds.\n\nThis tool may take long"));
    EXPECT_NE(text.find("Do not call the tool again"), std::string::npos);
    EXPECT_NE(text.find("A person may have to approve"), std::string::npos);
    EXPECT_EQ(described(plain), text);
    plain.description = text;
    EXPECT_EQ(described(plain), text) << "an existing hint is not repeated";
    plain.description = "Adds.";
    plain.hint = "Wait.";
    EXPECT_EQ(described(plain), "Adds.\n\nWait.");
    plain.description = "";
    EXPECT_EQ(described(plain), "Wait.");
}

// B24
TEST(TypedResume, Result_IsCheckedByCompilerAndRules) {
    auto const deploy =
        tool("deploy", start, {.validate = [](Deployment const& d) -> std::optional<std::string> {
                 if (d.status == "live") return std::nullopt;
                 return "a deployment that is over is live, not " + d.status;
             }});
    auto const fine = deploy.result({.status = "live", .url = "https://a"});
    ASSERT_TRUE(fine);
    EXPECT_EQ(fine->text(), R"({"status":"live","url":"https://a"})");
    auto const broken = deploy.result({.status = "live", .url = "a"});
    EXPECT_EQ(broken.error().code, Code::invalid_result);
    EXPECT_EQ(broken.error().detail, "/url does not match the pattern ^https:");
    EXPECT_EQ(deploy.result({.status = "dead", .url = "https://a"}).error().detail,
              "the result is refused: a deployment that is over is live, not dead");
    EXPECT_EQ(
        check_result(deploy->declaration(), Json::trusted(R"({"status":"live"})")).error().detail,
        "the result does not fit: Missing required property 'url'.");
}

Outcome<Deployment, Pending> go_on(Deploy const& deploy, Call const& call) {
    Resumed const& answer = *call.resumed();
    if (!answer.approved) return Failed{"not allowed: " + answer.reason};
    return Pending{Deployment{deploy.service, answer.state_as<Sum>()->a == 5 ? "kept" : "lost"}};
}

// B11
TEST(Reentry, SecondFunction_ContinuesAndFirstIsNotRunAgain) {
    int first = 0;
    auto const deploy = tool(
        "deploy",
        [&first](Deploy const&) -> Outcome<Deployment, NeedApproval> {
            ++first;
            return NeedApproval{
                Deployment{"asked", ""}, "May I?", {.state = to_json(Sum{5, 6}).value_or(Json())}};
        },
        go_on);
    EXPECT_TRUE(deploy->declaration().may_pause.has(PauseReason::approval));
    EXPECT_EQ(deploy->declaration().mistake, "");
    auto const outcome = deploy->execute(call(R"({"service":"api"})"));
    Resumed yes{.kind = SubmissionKind::decision, .approved = true};
    yes.state = std::get<Paused>(outcome).options.state;
    auto const again = deploy->execute(call(R"({"service":"api"})", yes));
    EXPECT_EQ(std::get<Paused>(again).placeholder.text(), R"({"status":"api","url":"kept"})");
    EXPECT_EQ(first, 1);
    Resumed const no{.kind = SubmissionKind::decision, .reason = "friday"};
    EXPECT_EQ(failure(deploy->execute(call(R"({"service":"api"})", no))), "not allowed: friday");
}

// B11
TEST(Reentry, WithoutSecondFunction_AnswerIsTheResult) {
    int runs = 0;
    auto const add = tool("add", [&runs](Sum const& s) {
        ++runs;
        return s;
    });
    Resumed result;
    result.output = Json::trusted(R"({"a":9,"b":9})");
    EXPECT_EQ(output(add->execute(call("{}", result))).text(), R"({"a":9,"b":9})");
    Resumed error{.kind = SubmissionKind::error, .error = "the job failed"};
    EXPECT_EQ(failure(add->execute(call("{}", error))), "the job failed");
    Resumed const denied{.kind = SubmissionKind::decision};
    EXPECT_EQ(failure(add->execute(call("{}", denied))), "denied: no reason given");
    EXPECT_EQ(runs, 0);
}

// B26
TEST(Reentry, Call_HasTurnAgentAndIds) {
    Call const one = call(R"({"service":"api"})", Resumed{});
    EXPECT_EQ(one.turn_id(), numbered_id("trn_", one.session(), 2));
    EXPECT_EQ(one.agent(), "ops");
    EXPECT_EQ(one.call_id(), "call_3");
    EXPECT_EQ(one.idempotency_key(), one.pending_id().text());
    EXPECT_EQ(one.input<Deploy>()->service, "api");
    EXPECT_FALSE(one.input<Sum>());
}

struct Strange {
    std::string text;
    static constexpr Doc doc[] = {{"text", "", {.pattern = "["}}};
};

// B26: errors that no compiler sees are reported when the tool is registered, and do not end the
// program.
TEST(Mistakes, Mistakes_AreInTheDeclaration) {
    auto const strange = tool("strange", [](Strange const&) {});
    EXPECT_TRUE(strange->declaration().mistake.starts_with("the pattern of text is broken"));
    auto const stuck = tool("stuck", [](Sum const& s) { return s; },
                            {.may_pause = PauseSet{PauseReason::approval}});
    EXPECT_NE(stuck->declaration().mistake, "");
}

// Counts calls and changes the description.
class Counting final : public Decorator {
public:
    using Decorator::Decorator;
    RawOutcome execute(Call const& call) const override {
        ++*runs;
        return Decorator::execute(call);
    }
    std::shared_ptr<int> runs = std::make_shared<int>(0);
};
class Renamed final : public Decorator {
public:
    explicit Renamed(ToolPtr of) : Decorator(std::move(of)), declaration_(inner().declaration()) {
        declaration_.name = "renamed";
    }
    [[nodiscard]] Declaration const& declaration() const override { return declaration_; }

private:
    Declaration declaration_;
};

// B14
TEST(Decorators, Decorators_KeepTheInnerDeclaration) {
    auto const deploy = tool("deploy", start, {.description = "Deploys.", .within = 5min});
    auto const counting = std::make_shared<Counting>(deploy);
    ToolPtr outer = std::make_shared<Renamed>(counting);
    for (int i = 0; i < 100; ++i) outer = std::make_shared<Decorator>(outer);
    EXPECT_EQ(outer->declaration().name, "renamed");
    EXPECT_TRUE(outer->declaration().may_pause.has(PauseReason::tool_result));
    EXPECT_EQ(outer->declaration().within, Duration(5min));
    EXPECT_EQ(outer->declaration().result_schema, schema_of<Deployment>());
    EXPECT_NE(described(outer->declaration()).find("Do not call the tool again"),
              std::string::npos);
    EXPECT_TRUE(std::holds_alternative<Paused>(outer->execute(call(R"({"service":"api"})"))));
    EXPECT_EQ(*counting->runs, 1);
}

}  // namespace
}  // namespace dormouse
