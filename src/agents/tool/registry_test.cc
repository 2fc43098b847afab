#include <dormouse/registry.h>

#include "base/test_wait.h"
#include "json/json.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>

// B13: the registry, and its checks of every run.
namespace dormouse {
namespace {

using namespace std::chrono_literals;

struct Number {
    std::int64_t n = 0;
    static constexpr Doc doc[] = {{"n", "", {.may_be_left_out = true}}};
};

Call call(std::string tool, std::string input = "{}", std::stop_token stop = {}) {
    Call::Facts facts;
    facts.pending = {SessionId::make(7, {}), 3, 1, {9}};
    facts.tool = std::move(tool);
    facts.input = Json::trusted(std::move(input));
    facts.stop = std::move(stop);
    return Call(std::move(facts));
}

std::string shown(RawOutcome const& outcome) {
    if (auto const* done = std::get_if<Done<Json>>(&outcome))
        return std::string(done->value.text());
    if (auto const* failed = std::get_if<Failed>(&outcome)) return "failed: " + failed->message;
    if (auto const* doubt = std::get_if<InDoubt>(&outcome)) return "in doubt: " + doubt->message;
    return "paused: " + std::string(std::get<Paused>(outcome).placeholder.text());
}

// Returns the outcome that it was made with.
class Raw final : public Tool {
public:
    explicit Raw(RawOutcome outcome, Declaration declaration = {.name = "raw"})
        : outcome_(std::move(outcome)), declaration_(std::move(declaration)) {}
    [[nodiscard]] Declaration const& declaration() const override { return declaration_; }
    [[nodiscard]] RawOutcome execute(Call const&) const override { return outcome_; }

private:
    RawOutcome outcome_;
    Declaration declaration_;
};
std::string run_raw(RawOutcome outcome, Declaration declaration = {.name = "raw"}) {
    Registry registry;
    EXPECT_TRUE(registry.add(std::make_shared<Raw>(std::move(outcome), std::move(declaration))));
    return shown(registry.run(call("raw")));
}

class RegistryTest : public ::testing::Test {
protected:
    RegistryTest() {
        add(tool("twice", [](Number const& n) { return Number{2 * n.n}; }));
        add(tool("again", [](Number const& n) { return n; }));
    }
    void add(ToolPtr tool) {
        auto const added = registry.add(std::move(tool));
        EXPECT_TRUE(added) << added.error().detail;
    }
    std::string refused(ToolPtr tool) {
        auto const added = registry.add(std::move(tool));
        return added ? "added"
                     : std::string(info(added.error().code).text) + ": " + added.error().detail;
    }
    Registry registry;
};

TEST_F(RegistryTest, List_IsInTheOrderOfAdding) {
    auto const names = [this] {
        std::string out;
        for (ToolPtr const& one : registry.list()) out += one->declaration().name + " ";
        return out;
    };
    EXPECT_EQ(names(), "twice again ");
    EXPECT_TRUE(registry.remove("twice"));
    EXPECT_FALSE(registry.remove("twice"));
    add(tool("twice", [] {}));
    EXPECT_EQ(names(), "again twice ");
    EXPECT_EQ(registry.find("nobody"), nullptr);
}

TEST_F(RegistryTest, Of_TakesAnyNumberOfTools) {
    auto const twice = tool("twice", [](Number const& n) { return Number{2 * n.n}; });
    auto const made = Registry::of({twice, tool("other", [] {})});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->list().size(), 2U);
    EXPECT_EQ(Registry::of({twice, twice}).error().code, Code::conflict);
}

TEST_F(RegistryTest, Copy_IsIndependent) {
    Registry copy = registry;
    EXPECT_TRUE(copy.remove("twice"));
    EXPECT_EQ(shown(registry.run(call("twice", R"({"n":4})"))), R"({"n":8})");
}

TEST_F(RegistryTest, InvalidTools_AreRefusedWithReason) {
    EXPECT_EQ(refused(nullptr), "bad_value: the tool must not be empty");
    EXPECT_EQ(refused(tool("twice", [] {})), "conflict: there is a tool 'twice' already");
    EXPECT_EQ(refused(tool("", [] {})), "bad_value: a tool needs a name");
    EXPECT_EQ(refused(tool("a b", [] {})),
              "bad_value: a tool's name must consist of letters, digits, _ and -: 'a b'");
    EXPECT_EQ(refused(tool(std::string(65, 'a'), [] {})),
              "bad_value: a tool's name must be at most 64 characters");
    EXPECT_EQ(refused(tool("slow", [] {}, {.time_limit = Duration(0)})),
              "bad_value: tool 'slow': its time limit must be above zero");
    Declaration broken{.name = "raw", .input_schema = Json::trusted(R"({"pattern":5})")};
    EXPECT_TRUE(refused(std::make_shared<Raw>(Failed{}, broken))
                    .starts_with("bad_value: tool 'raw': its input schema: the schema is invalid"));
    EXPECT_EQ(registry.list().size(), 2U);
}

TEST_F(RegistryTest, UnknownTool_ErrorSuggestsNearestName) {
    EXPECT_EQ(shown(registry.run(call("twise"))),
              "failed: unknown tool 'twise'; did you mean 'twice'?");
}

TEST_F(RegistryTest, ToolThrows_IsAnErrorForTheModel) {
    add(tool("throws", []() -> std::string { throw std::runtime_error("out of paper"); }));
    add(tool("throws_oddly", []() -> std::string { throw 5; }));
    EXPECT_EQ(shown(registry.run(call("throws"))), "failed: the tool threw: out of paper");
    EXPECT_EQ(shown(registry.run(call("throws_oddly"))),
              "failed: the tool threw a value that is not an exception");
}

TEST_F(RegistryTest, RawTool_ArgumentsAreChecked) {
    Declaration declared{.name = "raw",
                         .input_schema = Json::trusted(R"({"type":"object","required":["to"]})")};
    add(std::make_shared<Raw>(Done<Json>(Json()), declared));
    EXPECT_EQ(shown(registry.run(call("raw"))),
              "failed: the arguments do not fit: Missing required property 'to'.");
    EXPECT_EQ(shown(registry.run(call("raw", R"({"to":1})"))), "null");
}

TEST(Contract, Result_MustPassSchemaLimitAndValidator) {
    Declaration declared{.name = "raw", .result_schema = Json::trusted(R"({"type":"string"})")};
    EXPECT_EQ(run_raw(Done<Json>(Json::trusted("\"x\"")), declared), "\"x\"");
    EXPECT_TRUE(run_raw(Done<Json>(Json::trusted("5")), declared)
                    .starts_with("failed: the tool's output does not fit its result schema:"));
    declared.validate = [](Json const&) { return std::optional<std::string>("no"); };
    EXPECT_EQ(run_raw(Done<Json>(Json::trusted("\"x\"")), declared),
              "failed: the tool's output is refused: no");
    declared.output_limit = 4;
    EXPECT_EQ(run_raw(Done<Json>(Json::trusted("\"xyz\"")), declared),
              "failed: response_too_large: the output has 5 bytes, and this tool's limit is 4; "
              "nothing was stored. Request a smaller result.");
}

// B25
TEST(Contract, Pause_ReasonMustBeDeclared) {
    EXPECT_EQ(run_raw(Paused{await::Approval{}, {}, {}}),
              "failed: the tool paused for approval without having declared it");
    Declaration const both{.name = "raw",
                           .may_pause = {PauseReason::approval, PauseReason::tool_result}};
    EXPECT_EQ(run_raw(Paused{await::Approval{}, Json::trusted("1"), {}}, both), "paused: 1");
    EXPECT_EQ(run_raw(Paused{await::Result{}, Json::trusted("2"), {}}, both), "paused: 2");
    EXPECT_EQ(run_raw(Paused{await::Handoff{}, {}, {}}, both),
              "failed: the tool paused for handoff without having declared it");
}

// The work outside has started: it is not lost because a placeholder is too long.
TEST(Contract, PlaceholderTooLarge_IsReplacedAndThePauseStays) {
    Declaration const declared{
        .name = "raw", .may_pause = {PauseReason::tool_result}, .output_limit = 10};
    EXPECT_EQ(run_raw(Paused{await::Result{}, Json::trusted("[1,2,3,4,5,6]"), {}}, declared),
              "paused: null");
}

TEST(Contract, Pauses_HaveLimits) {
    Declaration const declared{.name = "raw", .may_pause = {PauseReason::tool_result}};
    EXPECT_EQ(run_raw(Paused{await::Result{}, {}, {.within = Duration(0)}}, declared),
              "failed: the tool paused with a deadline that has passed");
    EXPECT_EQ(run_raw(Paused{await::Result{}, {}, {.need = 0}}, declared),
              "failed: the tool paused for zero answers");
    Json const large = Json::trusted(json::quote(std::string(70'000, 'x')));
    EXPECT_EQ(run_raw(Paused{await::Result{}, {}, {.state = large}}, declared),
              "failed: the tool paused with a state of more than 65536 bytes");
}

TEST(TimeLimit, ToolTooSlow_IsStoppedAndInDoubt) {
    auto const stopped = std::make_shared<std::atomic<bool>>(false);
    Registry registry;
    ASSERT_TRUE(registry.add(tool("slow",
                                  [stopped](Call const& c) {
                                      std::mutex mutex;
                                      std::unique_lock lock(mutex);
                                      std::condition_variable_any().wait(lock, c.stop(),
                                                                         [] { return false; });
                                      *stopped = true;
                                  },
                                  {.time_limit = 20ms})));
    EXPECT_EQ(shown(registry.run(call("slow"))),
              "in doubt: the tool took longer than its time limit of 20 ms");
    wait_while([&] { return !*stopped; });
    EXPECT_TRUE(*stopped);
}

TEST(TimeLimit, TimeLimitOfMaximum_IsAccepted) {
    auto const made = Registry::of({tool("quick", [] {}, {.time_limit = Duration::max()})});
    ASSERT_TRUE(made);
    EXPECT_EQ(shown(made->run(call("quick"))), "{}");
}

// Counts the concurrent callers.
struct Room {
    std::mutex mutex;
    std::condition_variable changed;
    int inside = 0;
    int most = 0;
    bool open = false;

    void visit(int wait_for) {
        std::unique_lock lock(mutex);
        most = std::max(most, ++inside);
        if (inside >= wait_for) open = true;
        changed.notify_all();
        changed.wait_for(lock, 10s, [&] { return open; });
        --inside;
    }
};

TEST(RunAll, Results_AreInTheOrderOfTheCalls) {
    Room room;
    Registry registry;
    ASSERT_TRUE(registry.add(tool("visit", [&room](Number const& n) {
        room.visit(4);
        if (n.n == 2) throw std::runtime_error("two");
        return n;
    })));
    std::vector<Call> calls;
    for (int i = 0; i < 4; ++i) calls.push_back(call("visit", "{\"n\":" + std::to_string(i) + "}"));
    calls.push_back(call("nobody"));
    auto const out = registry.run_all(calls);
    ASSERT_EQ(out.size(), 5U);
    EXPECT_EQ(shown(out[0]), R"({"n":0})");
    EXPECT_EQ(shown(out[1]), R"({"n":1})");
    EXPECT_EQ(shown(out[2]), "failed: the tool threw: two");
    EXPECT_EQ(shown(out[3]), R"({"n":3})");
    EXPECT_EQ(shown(out[4]), "failed: unknown tool 'nobody'");
    EXPECT_EQ(room.most, 4) << "all at once";
}

TEST(RunAll, Concurrency_IsLimited) {
    Room room;
    Registry registry;
    ASSERT_TRUE(registry.add(tool("visit", [&room](Number const& n) {
        room.visit(2);
        return n;
    })));
    std::vector<Call> const calls(20, call("visit"));
    EXPECT_EQ(registry.run_all(calls, 2).size(), 20U);
    EXPECT_EQ(room.most, 2);
    EXPECT_TRUE(registry.run_all({}).empty());
}

TEST(RunAll, CallStoppedBeforeItsTurn_DoesNotRun) {
    int runs = 0;
    std::stop_source stop;
    Registry registry;
    ASSERT_TRUE(registry.add(tool("stops", [&] {
        ++runs;
        stop.request_stop();
    })));
    std::vector<Call> const calls(3, call("stops", "{}", stop.get_token()));
    auto const out = registry.run_all(calls, 1);
    EXPECT_EQ(shown(out[0]), "{}");
    EXPECT_EQ(shown(out[1]), "failed: stopped before it ran");
    EXPECT_EQ(shown(out[2]), "failed: stopped before it ran");
    EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace dormouse
